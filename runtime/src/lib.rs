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

/// Says which lifecycles an operator runs together, by the types of their objects: `together!(Site, Listener, Connector);`.
///
/// # Guarantees
/// It compiles only where whoever claims a promise of one of them is among them, and where no circle of their states waits for itself (`docs/together.md`).
#[macro_export]
macro_rules! together {
    ($($kind:ty),+ $(,)?) => {
        const _: () = $crate::__private::together(&[
            $(<$kind as $crate::__private::Declared<_>>::IR),+
        ]);
    };
}
