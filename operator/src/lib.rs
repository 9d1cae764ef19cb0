//! The command line over all products, the checker and `explain` as commands, and the sandbox.

#![deny(missing_docs)]

pub mod args;
pub mod check;
mod explain;
mod main_of;
pub mod sandbox;
mod wiring;

pub use main_of::{main, plugin};
