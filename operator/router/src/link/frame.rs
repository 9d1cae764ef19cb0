//! Messages on a link, as bytes. `control` holds the messages between two routers, and `record` the
//! messages on one stream. Each message is a length and a body. A message that is too long is
//! refused before the reader waits for it, and no input makes a reader panic.

pub mod control;
mod reader;
pub mod record;

use thiserror::Error;

/// Why bytes are no frame.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// It is longer than a frame can be.
    #[error("a frame of {0} bytes")]
    Oversize(usize),
    /// Its body ends too early or too late, or does not match its type.
    #[error("a frame that means nothing")]
    Malformed,
}

#[cfg(test)]
pub(crate) mod tests;
