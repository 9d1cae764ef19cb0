//! What the program of an operator is around its lifecycles: `run` with lease, health and metrics, `crds`, and, with the feature `sandbox`, a simulated
//! cluster with the operator in it. Knows no lifecycle of any product.

#![deny(missing_docs)]

mod args;
#[cfg(feature = "sandbox")]
pub mod cluster;
mod command_line;
mod definitions;
mod metrics;
#[cfg(feature = "sandbox")]
pub mod passes;
mod program;
mod run;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(not(feature = "sandbox"))]
#[path = "without_sandbox.rs"]
mod sandbox;

pub use program::{Program, Surroundings};
