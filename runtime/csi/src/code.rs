//! Error reply of a call: a code of the interface and one message. The only file that names tonic's
//! codes.

use tonic::{Code as Wire, Status};

use lifecycle_runtime::machine::ir::Code;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl RpcError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    /// A request that is wrong by itself.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }
}

/// A message is a header of the reply, and some callers take no more than 8 KiB of those.
const MAX_MESSAGE_CHARS: usize = 1024;

impl From<RpcError> for Status {
    fn from(error: RpcError) -> Self {
        let message: String = match error.message.trim() {
            "" => "it failed without a message".to_owned(),
            message => message.chars().take(MAX_MESSAGE_CHARS).collect(),
        };
        Self::new(wire(error.code), message)
    }
}

fn wire(code: Code) -> Wire {
    match code {
        Code::Cancelled => Wire::Cancelled,
        Code::Unknown => Wire::Unknown,
        Code::InvalidArgument => Wire::InvalidArgument,
        Code::DeadlineExceeded => Wire::DeadlineExceeded,
        Code::NotFound => Wire::NotFound,
        Code::AlreadyExists => Wire::AlreadyExists,
        Code::PermissionDenied => Wire::PermissionDenied,
        Code::ResourceExhausted => Wire::ResourceExhausted,
        Code::FailedPrecondition => Wire::FailedPrecondition,
        Code::Aborted => Wire::Aborted,
        Code::OutOfRange => Wire::OutOfRange,
        Code::Unimplemented => Wire::Unimplemented,
        Code::Internal => Wire::Internal,
        Code::Unavailable => Wire::Unavailable,
        Code::DataLoss => Wire::DataLoss,
        Code::Unauthenticated => Wire::Unauthenticated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_always_says_something_and_carries_no_details() {
        for message in ["", "  \n", "the claim is gone"] {
            let status = Status::from(RpcError::new(Code::NotFound, message));
            assert!(!status.message().trim().is_empty());
            assert!(status.details().is_empty());
            assert_eq!(status.code(), Wire::NotFound);
        }
        let long = Status::from(RpcError::invalid("x".repeat(100_000)));
        assert_eq!(long.message().len(), MAX_MESSAGE_CHARS);
    }
}
