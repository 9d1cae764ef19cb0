//! What whoever runs the process must do, because the line to the server cannot.

use std::time::Duration;

/// To whoever runs the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Drop it, and start it anew.
    Crash,
    /// Do not poll it for a time.
    Freeze(Duration),
    /// Run a second one beside it for a time.
    Second(Duration),
}
