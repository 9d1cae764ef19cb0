//! What is said on a link, as bytes. `control` is what two routers say to each other, `record` what is said on one stream. Each is a
//! length and a body; what is too long is refused before it is waited for, and nothing that arrives makes a reader panic.

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
    /// Its body ends too early or too late, or is not what its type says.
    #[error("a frame that means nothing")]
    Malformed,
}

#[cfg(test)]
pub(crate) mod tests;
