//! Reasons why an operator cannot start. Later failures are waited for, or reported on the affected
//! object.

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
    /// A lifecycle declares something that this driver does not implement.
    #[error("the lifecycle `{lifecycle}` cannot run: {why}")]
    Unsupported {
        /// Its name.
        lifecycle: &'static str,
        /// Description of the unsupported item, and how to change it.
        why: String,
    },
    /// A lifecycle mints values, and the operating system gives no randomness.
    #[error(
        "the lifecycle `{lifecycle}` mints values, and the operating system gives no random bytes"
    )]
    Randomness {
        /// Its name.
        lifecycle: &'static str,
    },
    /// A limit is set for a provider that nothing names which runs here.
    #[error(
        "a limit is set for the provider `{provider}`, which nothing names that runs here; {named}"
    )]
    UnknownProvider {
        /// Name of the provider in the limit.
        provider: String,
        /// Providers that are named.
        named: String,
    },
    /// A service beside the lifecycles cannot run, or ended without a shutdown request.
    #[error(transparent)]
    Service(Box<dyn std::error::Error + Send + Sync>),
}
