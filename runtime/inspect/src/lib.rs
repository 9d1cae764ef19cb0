//! Inspects an operator by its own code, with read rights alone: why an object is in its state
//! ([`explain`]), what the operator would write into a cluster ([`plan`]), and what another version
//! of it would have decided ([`replay`]). Each is a module with a feature of its name.

#![deny(missing_docs)]

#[cfg(feature = "explain")]
pub mod explain;
#[cfg(feature = "plan")]
pub mod plan;
#[cfg(feature = "replay")]
pub mod replay;

#[cfg(any(feature = "explain", feature = "plan"))]
mod connection;
#[cfg(any(feature = "explain", feature = "plan", feature = "replay"))]
mod output;
mod text;

#[cfg(any(feature = "explain", feature = "plan"))]
pub use connection::Connection;
#[cfg(any(feature = "explain", feature = "plan", feature = "replay"))]
pub use output::Output;
