//! Runs lifecycles against a Kubernetes API server: the traits that generated code implements, and
//! the runtime that calls them.

#![deny(missing_docs)]

// The macro's output names this crate as an external crate.
#[cfg(test)]
extern crate self as lifecycle_runtime;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
#[doc(hidden)]
pub mod cluster;
pub mod controller;
pub mod conversion;
pub mod counters;
pub mod crds;
pub mod cron;
mod error;
pub mod health;
pub mod lease;
pub mod lifecycle;
pub mod machine;
mod naming;
pub mod operator;
pub mod provider;
pub mod retry;
pub mod service;
pub mod shutdown;
pub mod spans;

pub use lifecycle::{Because, Desired, KeptBy, Machine, ObjectRef, Readable, This};
pub use lifecycle_client::{cause, clock, kube, names, requests, selector, yaml};
pub use lifecycle_macros::{fragment, lifecycle};
pub use operator::Operator;

/// Declares the lifecycles that an operator runs together, by the types of their objects:
/// `together!(Site, Listener, Connector);`.
///
/// # Guarantees
/// Compiles only if the keeper of each promise is among them. No cycle of their states may wait for
/// itself (`docs/together.md`).
#[macro_export]
macro_rules! together {
    ($($kind:ty),+ $(,)?) => {
        const _: () = $crate::__private::together(&[
            $(<$kind as $crate::__private::Declared<_>>::IR),+
        ]);
    };
}
