//! Program of an operator around its lifecycles. It has `run` with lease, health and metrics,
//! `crds`, `explain`, and the output that follows from its lifecycles (pictures, pages, rights).
//! With the feature `sandbox`, it also has a simulated cluster with the operator in it, and `plan`.
//! Without the feature `program`, it is `process` alone: what any program is around its work.
//! Knows no lifecycle of any product.

#![deny(missing_docs)]

#[cfg(feature = "program")]
mod account;
#[cfg(feature = "program")]
mod args;
#[cfg(feature = "sandbox")]
pub mod cluster;
#[cfg(feature = "program")]
mod command_line;
#[cfg(feature = "program")]
mod definitions;
#[cfg(feature = "program")]
mod explain;
#[cfg(feature = "sandbox")]
pub mod follow;
#[cfg(feature = "program")]
mod generate;
#[cfg(feature = "sandbox")]
pub mod passes;
#[cfg(feature = "sandbox")]
mod plan;
pub mod process;
#[cfg(feature = "program")]
mod program;
#[cfg(feature = "program")]
mod replay;
#[cfg(feature = "program")]
mod run;
#[cfg(feature = "sandbox")]
mod sandbox;
#[cfg(feature = "sandbox")]
mod simulated;
#[cfg(all(feature = "program", not(feature = "sandbox")))]
#[path = "without_sandbox.rs"]
mod simulated;
#[cfg(feature = "sandbox")]
pub mod updates;

#[cfg(feature = "program")]
pub use lifecycle_generate::rights::{Object, Verb};
#[cfg(feature = "program")]
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
