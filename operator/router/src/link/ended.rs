//! Reasons for the end of a link: as reported for the link, and as sent to the other router.
//! Independent of sessions.

use std::io;

use thiserror::Error;

use super::announcement::SiteId;
use super::frame;
use super::hello::Refused;
use super::mux;
use super::network::Violation;
use super::stream::Fault;

/// Why a link ended.
#[derive(Debug, Error)]
pub enum Ended {
    /// The other router closed the connection.
    #[error("it closed the link")]
    Closed,
    /// The connection failed.
    #[error("the connection failed")]
    Io(#[source] io::Error),
    /// Nothing was heard for too long.
    #[error("it is silent")]
    Silent,
    /// The other router sent the reason why it ends the link.
    #[error("it ended the link: {0}")]
    Goodbye(String),
    /// The two do not fit.
    #[error(transparent)]
    Refused(Refused),
    /// The other router broke a rule.
    #[error("it was cut off: {0}")]
    CutOff(Wrong),
    /// A newer link to that site exists.
    #[error("another link to the same site took its place")]
    Replaced,
    /// This router ended it.
    #[error("the link was withdrawn")]
    Stopped,
}

/// Protocol error of the other router.
#[derive(Debug, Error)]
pub enum Wrong {
    /// It sent an announcement that no correct router sends.
    #[error(transparent)]
    Network(Violation),
    /// It sent a frame without a meaning.
    #[error(transparent)]
    Frame(frame::Error),
    /// It broke the rules of a stream.
    #[error(transparent)]
    Stream(Fault),
    /// It opens too many streams.
    #[error("it opens too many streams")]
    Streams,
    /// It broke the rules of the multiplexer.
    #[error("it breaks the rules of the multiplexer")]
    Multiplexer,
    /// It greeted twice.
    #[error("it greets twice")]
    Greeting,
    /// It sent an invalid cost.
    #[error("it declares the invalid link cost {0}")]
    Cost(u32),
    /// It does not read the messages that it is sent.
    #[error("it does not read")]
    Deaf,
}

impl From<mux::Error> for Ended {
    fn from(error: mux::Error) -> Self {
        match error {
            mux::Error::Closed => Ended::Closed,
            mux::Error::Io(error) => error.into(),
            mux::Error::TooManyStreams => Ended::CutOff(Wrong::Streams),
            mux::Error::Multiplexer(_) => Ended::CutOff(Wrong::Multiplexer),
            mux::Error::Fault(fault) => Ended::CutOff(Wrong::Stream(fault)),
        }
    }
}

impl From<io::Error> for Ended {
    /// Of the stream on which the routers talk; why the connection failed is known below it.
    fn from(error: io::Error) -> Self {
        let closed = [io::ErrorKind::UnexpectedEof, io::ErrorKind::WriteZero];
        if closed.contains(&error.kind()) {
            Ended::Closed
        } else {
            Ended::Io(error)
        }
    }
}

impl From<frame::Error> for Ended {
    fn from(error: frame::Error) -> Self {
        Ended::CutOff(Wrong::Frame(error))
    }
}

impl Ended {
    /// Returns true if the link ended because another link connects the same two sites. Either this
    /// router or the other one, about `own`, reports that.
    pub(super) fn is_needless(&self, own: &SiteId) -> bool {
        let words = || {
            let linked = Ended::Refused(Refused::Linked(own.clone()));
            [linked, Ended::Replaced].map(|ended| ended.to_string())
        };
        match self {
            Ended::Refused(refused) => matches!(refused, Refused::Linked(_)),
            Ended::Replaced => true,
            Ended::Goodbye(said) => words().contains(said),
            Ended::Closed | Ended::Io(_) | Ended::Silent | Ended::CutOff(_) | Ended::Stopped => {
                false
            }
        }
    }

    /// Returns the message for the other router, if any.
    pub(super) fn farewell(&self) -> Option<String> {
        match self {
            Ended::Closed | Ended::Io(_) | Ended::Silent | Ended::Goodbye(_) => None,
            Ended::CutOff(wrong) => Some(wrong.to_string()),
            Ended::Refused(_) | Ended::Replaced | Ended::Stopped => Some(self.to_string()),
        }
    }
}
