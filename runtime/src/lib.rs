//! Runs lifecycles against a Kubernetes API server: what generated code implements, and what drives it.

#![deny(missing_docs)]

// What the macro emits names this crate from outside.
#[cfg(test)]
extern crate self as lifecycle_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod clock;
mod cluster;
pub mod controller;
pub mod csi;
mod error;
pub mod health;
pub mod kube;
pub mod lease;
pub mod lifecycle;
pub mod machine;
mod naming;
pub mod operator;
#[cfg(test)]
mod scripted;
pub mod selector;
pub mod shutdown;
pub mod testing;

pub use lifecycle::{Because, Desired, Machine, ObjectRef, This};
pub use lifecycle_macros::lifecycle;
pub use operator::Operator;
