//! Phrases that explanations, plans and replays share.

/// `1 object`, `2 objects`.
#[cfg(any(feature = "plan", feature = "replay"))]
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    }
}

/// `Service ns/name`; of a cluster-scoped object `Namespace name`.
#[cfg(any(feature = "plan", feature = "replay"))]
pub(crate) fn object_name(kind: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}

/// Formats a time as Kubernetes writes it.
#[cfg(any(feature = "explain", feature = "replay"))]
pub(crate) fn timestamp(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
