//! Why there is no plan.

use lifecycle_simulator::mirror::Unread;

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No API server is configured.
    #[error(transparent)]
    Connect(#[from] lifecycle_client::kube::Error),
    /// Without it, it is not known what the operator would do.
    #[error("what the operator looks at cannot be read, so that it is not known what it would do: {}", listed(.0))]
    Unreadable(Vec<Unread>),
    /// It cannot run.
    #[error("the operator ended before it came to rest: {0}")]
    Ended(String),
    /// It does not get as far as looking at objects.
    #[error("the operator did not get ready in time: {}; give it more with --limit", .0.iter().map(|(part, why)| format!("{part}: {why}")).collect::<Vec<_>>().join("; "))]
    NotReady(Vec<(String, String)>),
    /// Nobody listens.
    #[error("the plan cannot be printed")]
    Print(#[source] std::io::Error),
}

fn listed(unread: &[Unread]) -> String {
    let lines: Vec<String> = unread.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
