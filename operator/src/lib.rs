//! The command line over all products, the checker and `explain` as commands, the sandbox, a bare simulated cluster, and how an operator of your own begins.

#![deny(missing_docs)]

pub mod args;
pub mod check;
mod cluster;
mod explain;
mod main_of;
mod network;
pub mod new;
pub mod parts;
mod plan;
#[cfg(doctest)]
#[path = "../tests/program/readmes/run.rs"]
mod readmes;
mod replay;
pub mod sandbox;
mod takeover;
mod wiring;

pub use main_of::{main, plugin};
