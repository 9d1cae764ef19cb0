//! What a call answers when it fails: a code of the interface and one sentence. The only file that names tonic's codes.

use tonic::{Code as Wire, Status};

use crate::machine::ir::Code;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: Code,
    pub(crate) sentence: String,
}

impl Refused {
    pub(crate) fn new(code: Code, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { code, sentence }
    }

    /// A request that is wrong by itself.
    pub(crate) fn invalid(sentence: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, sentence)
    }
}

/// A message is a header of the reply, and some callers take no more than 8 KiB of those.
const LONGEST: usize = 1024;

impl From<Refused> for Status {
    fn from(refused: Refused) -> Self {
        let sentence = refused.sentence.trim();
        let sentence: String = match sentence {
            "" => "it failed, and nobody said why".to_owned(),
            said => said.chars().take(LONGEST).collect(),
        };
        Self::new(wire(refused.code), sentence)
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
        for sentence in ["", "  \n", "the claim is gone"] {
            let status = Status::from(Refused::new(Code::NotFound, sentence));
            assert!(!status.message().trim().is_empty());
            assert!(status.details().is_empty());
            assert_eq!(status.code(), Wire::NotFound);
        }
        let long = Status::from(Refused::invalid("x".repeat(100_000)));
        assert_eq!(long.message().len(), LONGEST);
    }
}
