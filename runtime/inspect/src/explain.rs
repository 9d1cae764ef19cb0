//! Explains why one object in a live cluster is in its state, who must act, and what comes next.
//! Reads by get and list with the rights of the caller, uses the operator's own code, and writes
//! nothing.
//!
//! A program that offers it flattens [`Explain`] into its command line and calls [`run`] with its lifecycles.

mod act;
mod args;
mod claim;
mod deletion;
mod explained;
mod explanation;
mod fetch;
mod follow;
mod kinds;
mod look;
mod open;
mod promises;
mod reported;
mod text;
mod times;
mod wakes;
mod way;
mod why;
mod written;

pub use args::{Error, Explain, run};
pub use explained::Explained;
pub use explanation::Explanation;
pub use follow::explain;
pub use text::text;
