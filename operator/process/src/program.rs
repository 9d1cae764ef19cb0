//! How a program begins and ends: one runtime, and one line for what stopped it.

use std::future::Future;
use std::io::{self, Write, stderr};
use std::process::ExitCode;

use anyhow::Context;
use lifecycle_runtime::cause;

/// The exit code, after an error was told in one line.
pub fn ended(done: anyhow::Result<ExitCode>) -> ExitCode {
    done.unwrap_or_else(|error| {
        let said = cause::in_one_line(error.as_ref());
        let _unheard = writeln!(stderr(), "error: {said}");
        ExitCode::FAILURE
    })
}

/// What a shell says of a program that wrote to a reader who has gone: 128 and the number of SIGPIPE.
const UNREAD: u8 = 141;

/// The end of a command that asks nobody and only writes what it found: where its reader has gone, as `head` does, it ends without a word, with 141.
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

/// True if whoever read what a command writes has gone.
fn is_unread(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// What a command ends with that cannot say what it was asked.
const UNKNOWN: u8 = 2;

/// The exit code of a command that compares, as that of `diff`: what it found, or 2 after an error was told in one line. Where its reader has gone it is
/// that of [`printed`].
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
