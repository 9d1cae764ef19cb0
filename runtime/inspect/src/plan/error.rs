//! Reasons why no plan is possible.

use lifecycle_simulator::mirror::Unread;

/// Reason why no plan is possible.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input is unreadable, so the operator's behavior is unknown.
    #[error("the operator's inputs cannot be read, so its writes cannot be predicted: {}", listed(.0))]
    Unreadable(Vec<Unread>),
    /// It cannot run.
    #[error("the operator ended before it settled: {0}")]
    Ended(String),
    /// It does not get as far as looking at objects.
    #[error("the operator did not get ready in time: {}; give it more with --limit", .0.iter().map(|(part, why)| format!("{part}: {why}")).collect::<Vec<_>>().join("; "))]
    NotReady(Vec<(String, String)>),
    /// The output cannot be printed, because its reader is gone.
    #[error("the plan cannot be printed")]
    Print(#[source] std::io::Error),
}

fn listed(unread: &[Unread]) -> String {
    let lines: Vec<String> = unread.iter().map(ToString::to_string).collect();
    lines.join("; ")
}
