//! Why an operator cannot start; everything later is waited for, or told on the object that it concerns.

use crate::csi::SocketError;

/// Why an operator cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to run.
    #[error("the operator `{operator}` has no lifecycles: add one with `run`")]
    Idle {
        /// Its name.
        operator: String,
    },
    /// A lifecycle says something that this driver cannot carry out.
    #[error("the lifecycle `{lifecycle}` cannot run: {why}")]
    Unsupported {
        /// Its name.
        lifecycle: &'static str,
        /// What it is, and what to do.
        why: String,
    },
    /// A driver of volumes says something that the interface does not allow.
    #[error("the driver `{driver}` cannot be served: {why}")]
    Driver {
        /// Its name.
        driver: String,
        /// What it is.
        why: String,
    },
    /// A socket cannot be listened at.
    #[error("a driver of volumes cannot be served")]
    Socket {
        /// Why.
        #[source]
        source: SocketError,
    },
    /// A server ended although nobody told it to.
    #[error("the services of a driver of volumes ended")]
    Serve {
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Kubelet does not take a driver in; started again, it is asked again.
    #[error("kubelet does not register the driver `{driver}`: {why}")]
    Unregistered {
        /// Its name.
        driver: String,
        /// Kubelet's sentence.
        why: String,
    },
}
