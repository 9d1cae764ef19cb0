//! Reasons why one step of a call fails, and the reaction of the call: end, observe again, or wait.
//! Independent of caches and requests.

use std::time::Duration;

use crate::code::RpcError;

/// Why a call cannot go on now.
#[derive(Debug)]
pub(crate) enum StepError {
    /// The call ends with this error.
    Final(RpcError),
    /// The object changed since it was read.
    Conflict(String),
    /// Something else has to happen first, which wakes the call.
    Waiting(String),
    /// Others are before it at a provider, or that wants to be left alone.
    InLine(String),
    /// It failed and may succeed later, not before the time that the server names.
    Retry(String, Option<Duration>),
}

impl From<RpcError> for StepError {
    fn from(error: RpcError) -> Self {
        Self::Final(error)
    }
}
