//! The command line over all products, the checker as a command, and the sandbox.

#![deny(missing_docs)]

pub mod args;
pub mod check;
mod main_of;
pub mod sandbox;
mod wiring;

pub use main_of::main;
