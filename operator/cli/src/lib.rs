//! Program of an operator around its lifecycles. It has `run` with lease, health and metrics,
//! `crds`, `explain`, and the output that follows from its lifecycles (pictures, pages, rights).
//! With the feature `sandbox`, it also has a simulated cluster with the operator in it, and `plan`.
//! Knows no lifecycle of any product.

#![deny(missing_docs)]

mod account;
mod args;
#[cfg(feature = "sandbox")]
pub mod cluster;
mod command_line;
mod definitions;
mod explain;
#[cfg(feature = "sandbox")]
pub mod follow;
mod generate;
#[cfg(feature = "sandbox")]
pub mod passes;
#[cfg(feature = "sandbox")]
mod plan;
mod program;
mod replay;
mod run;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(feature = "sandbox")]
mod simulated;
#[cfg(not(feature = "sandbox"))]
#[path = "without_sandbox.rs"]
mod simulated;
#[cfg(feature = "sandbox")]
pub mod updates;

pub use lifecycle_generate::rights::{Object, Verb};
pub use program::{Program, Surroundings};

/// The operator that `lifecycle-operator new` writes, for tests.
#[cfg(test)]
#[cfg(feature = "sandbox")]
#[path = "../../template/src/lifecycle.rs"]
#[allow(unreachable_pub, reason = "in its own package it is public")]
mod lifecycle;
#[cfg(test)]
#[cfg(feature = "sandbox")]
#[path = "../../template/src/logic.rs"]
#[allow(unreachable_pub, reason = "in its own package it is public")]
mod logic;
