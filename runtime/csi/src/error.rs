//! Why volumes cannot be served; everything later is an answer of a call.

use crate::socket::SocketError;

/// Why volumes cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing to serve.
    #[error("the operator `{operator}` has no volumes: add some with `serve`")]
    Idle {
        /// Its name.
        operator: String,
    },
    /// A lifecycle declares something that calls do not support.
    #[error("the lifecycle `{lifecycle}` cannot run: {why}")]
    Unsupported {
        /// Its name.
        lifecycle: &'static str,
        /// Unsupported declaration, and its alternative.
        why: String,
    },
    /// A limit is set for a provider that no volume names.
    #[error(transparent)]
    Provider(lifecycle_runtime::operator::Error),
    /// A driver of volumes has an invalid name or version, or wants the socket of another driver.
    #[error("the driver `{driver}` cannot be served: {why}")]
    Driver {
        /// Its name.
        driver: String,
        /// Error in the name, the version or the socket.
        why: String,
    },
    /// The process cannot listen at a socket.
    #[error("a driver of volumes cannot be served")]
    Socket {
        /// Why.
        #[source]
        source: SocketError,
    },
    /// A server ended before the shutdown.
    #[error("the services of a driver of volumes ended")]
    Serve {
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Kubelet does not register a driver; a restart tries again.
    #[error("kubelet does not register the driver `{driver}`: {why}")]
    Unregistered {
        /// Its name.
        driver: String,
        /// Kubelet's sentence.
        why: String,
    },
}

impl From<Error> for lifecycle_runtime::operator::Error {
    fn from(error: Error) -> Self {
        Self::Service(Box::new(error))
    }
}

impl From<SocketError> for Error {
    fn from(source: SocketError) -> Self {
        Self::Socket { source }
    }
}
