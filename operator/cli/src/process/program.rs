//! Start and end of a program: one runtime, and one line for the error that stopped it.

use std::future::Future;
use std::io::{self, Write, stderr};
use std::process::ExitCode;

use anyhow::Context;
use lifecycle_runtime::cause;

/// Returns the exit code, after an error is printed in one line.
pub fn exit_code(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| {
        let said = cause::in_one_line(error.as_ref());
        let _unheard = writeln!(stderr(), "error: {said}");
        ExitCode::FAILURE
    })
}

/// Exit code that a shell reports for a program that wrote to a reader that has gone: 128 plus the
/// number of SIGPIPE.
const UNREAD: u8 = 141;

/// Ends a command that queries nothing and only writes its results. If its reader has closed the
/// pipe, as `head` does, the command ends silently with exit code 141.
///
/// # Errors
/// Any other.
pub fn printed<E: Into<anyhow::Error>>(done: Result<ExitCode, E>) -> anyhow::Result<ExitCode> {
    done.map_err(Into::into)
        .or_else(|error| match is_unread(&error) {
            true => Ok(ExitCode::from(UNREAD)),
            false => Err(error),
        })
}

/// True if the reader of the output has closed it.
fn is_unread(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Exit code of a command that cannot answer its question.
const UNKNOWN: u8 = 2;

/// Returns the exit code of a command that compares, like that of `diff`: the result, or 2 after it
/// printed an error in one line. If its reader has gone, the code is that of [`printed`].
pub fn compared(found: anyhow::Result<u8>) -> ExitCode {
    let code = found.unwrap_or_else(|error| {
        if is_unread(&error) {
            return UNREAD;
        }
        let said = cause::in_one_line(error.as_ref());
        let _unheard = writeln!(stderr(), "error: {said}");
        UNKNOWN
    });
    ExitCode::from(code)
}

/// Runs to the end on a runtime of its own.
///
/// # Errors
/// The system starts no threads.
pub fn until_done<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start a runtime")?;
    let done = runtime.block_on(work);
    // Waiting for a name that is being resolved would outlast the time that a Pod has to stop.
    runtime.shutdown_background();
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_has_gone_is_no_error() {
        let check = |kind: io::ErrorKind, expected: u8| {
            let error = io::Error::from(kind);
            let ended = compared(Err(error).context("cannot print what was found"));
            let expected = ExitCode::from(expected);
            assert_eq!(format!("{ended:?}"), format!("{expected:?}"));
        };
        check(io::ErrorKind::BrokenPipe, UNREAD);
        check(io::ErrorKind::StorageFull, UNKNOWN);
    }
}
