//! Signals to the runner of the process, for actions that the line to the server cannot take.

use std::time::Duration;

/// Signal to the code that runs the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Drop it, and start it anew.
    Crash,
    /// Do not poll it for a time.
    Freeze(Duration),
    /// Run a second one beside it for a time.
    Second(Duration),
}
