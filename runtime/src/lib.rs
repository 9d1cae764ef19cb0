//! Runs lifecycles against a Kubernetes API server: what generated code implements, and what drives it.

#![deny(missing_docs)]

// What the macro emits names this crate from outside.
#[cfg(test)]
extern crate self as lifecycle_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[doc(hidden)]
pub mod cluster;
pub mod controller;
pub mod crds;
pub mod cron;
mod error;
pub mod health;
pub mod lease;
pub mod lifecycle;
pub mod machine;
mod naming;
pub mod operator;
pub mod retry;
pub mod service;
pub mod shutdown;

pub use lifecycle::{Because, Desired, KeptBy, Machine, ObjectRef, Readable, This};
pub use lifecycle_client::{cause, clock, kube, names, selector};
pub use lifecycle_macros::{fragment, lifecycle};
pub use operator::Operator;
