//! Rule checker of Prometheus: it reads rules, and runs their tests. No server is started. This
//! module does not know the subject of the rules.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};

/// As Debian's package `prometheus` has it.
const PROMTOOL: &str = "promtool";

/// Runs promtool in a folder and returns its output.
///
/// # Errors
/// Returns an error if promtool cannot run, or if it fails. In the latter case the error contains
/// its output.
pub fn promtool(folder: &Path, words: &[&str]) -> Result<String> {
    let mut command = Command::new(PROMTOOL);
    command.args(words).current_dir(folder).stdin(Stdio::null());
    let output = command.output().context("cannot run promtool")?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let words = words.join(" ");
    ensure!(output.status.success(), "promtool {words}:\n{printed}");
    Ok(printed)
}

/// Why no rules can be tested here, if so. A process finds out once.
pub(crate) fn absence() -> Option<String> {
    static ABSENCE: OnceLock<Option<String>> = OnceLock::new();
    let absence = ABSENCE.get_or_init(|| {
        let mut command = Command::new(PROMTOOL);
        command.arg("--version").stdin(Stdio::null());
        failure(command.output())
    });
    absence.clone()
}

/// Why it does not run, if so.
fn failure(ran: io::Result<Output>) -> Option<String> {
    let why = match ran {
        Ok(output) if output.status.success() => return None,
        Ok(output) => output.status.to_string(),
        Err(error) => error.to_string(),
    };
    Some(format!(
        "promtool does not run ({why}); install prometheus of Debian"
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    fn exit_output(status: i32) -> io::Result<Output> {
        Ok(Output {
            status: ExitStatus::from_raw(status),
            stdout: Vec::new(),
            stderr: Vec::new(),
        })
    }

    #[test]
    fn a_program_that_is_absent_or_fails_is_named_with_its_package() {
        assert_eq!(failure(exit_output(0)), None);
        let absent = failure(Err(io::ErrorKind::NotFound.into())).unwrap();
        assert_eq!(
            absent,
            "promtool does not run (entity not found); install prometheus of Debian"
        );
        let killed = failure(exit_output(9)).unwrap();
        assert!(killed.contains("signal: 9"), "{killed}");
    }
}
