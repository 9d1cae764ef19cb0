//! Python in which a management agent for tests runs: the interpreter and its AMQP library. This
//! module does not know the function of an agent.

use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The interpreter of Debian, for it alone has the packages of Debian.
pub const PYTHON: &str = "/usr/bin/python3";

/// Import statement with the imports of an agent.
const IMPORT: &str = "import proton.handlers, proton.reactor";

/// Why no agent can run here, if so. A process finds out once.
pub(crate) fn absence() -> Option<String> {
    static ABSENCE: OnceLock<Option<String>> = OnceLock::new();
    let absence = ABSENCE.get_or_init(|| {
        let mut python = Command::new(PYTHON);
        python.args(["-B", "-c", IMPORT]).stdin(Stdio::null());
        failure(python.output())
    });
    absence.clone()
}

/// Why an import failed, if it did.
fn failure(import: io::Result<Output>) -> Option<String> {
    let why = match import {
        Ok(output) if output.status.success() => return None,
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr);
            // A traceback ends with its reason.
            let reason = errors.lines().next_back().map(str::to_owned);
            reason.unwrap_or_else(|| output.status.to_string())
        }
        Err(error) => error.to_string(),
    };
    Some(format!(
        "{PYTHON} cannot import proton ({why}); install python3-qpid-proton of Debian"
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn exit_output(status: i32, errors: &str) -> io::Result<Output> {
        Ok(Output {
            status: ExitStatus::from_raw(status),
            stdout: Vec::new(),
            stderr: errors.into(),
        })
    }

    #[test]
    fn an_import_that_succeeds_lacks_nothing_whatever_it_warns_of() {
        assert_eq!(failure(exit_output(0, "a warning\n")), None);
    }

    #[test]
    fn an_import_that_fails_is_told_with_its_reason_and_the_package() {
        let trace =
            "Traceback (most recent call last):\nModuleNotFoundError: No module named 'proton'\n";
        assert_eq!(
            failure(exit_output(256, trace)).unwrap(),
            "/usr/bin/python3 cannot import proton (ModuleNotFoundError: No module named 'proton'); install python3-qpid-proton of Debian"
        );
        let killed = failure(exit_output(9, "")).unwrap();
        assert!(killed.contains("signal: 9"), "{killed}");
        let absent = failure(Err(io::ErrorKind::NotFound.into())).unwrap();
        assert!(absent.contains("(entity not found)"), "{absent}");
    }
}
