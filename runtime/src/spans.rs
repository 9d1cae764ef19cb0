//! Spans of tracing: one for each reconcile here, and one for each call of a volume in `lifecycle-csi`. Their target keeps them apart from log lines:
//! an exporter of traces selects it, and a console that prints spans leaves it out.

use tracing::Span;
use tracing::field::Empty;

use crate::lifecycle::ObjectRef;

/// The target of these spans, for filters.
pub const TARGET: &str = "lifecycle::spans";

/// The span of one reconcile; its `outcome` is recorded at the end.
pub(crate) fn of_reconcile(object: &ObjectRef) -> Span {
    tracing::info_span!(
        target: TARGET,
        "reconcile",
        kind = object.kind,
        namespace = object.namespace,
        name = object.name,
        outcome = Empty,
    )
}

/// Records the outcome of a reconcile, under the name that the counters use.
pub(crate) fn record_outcome(span: &Span, outcome: &'static str) {
    span.record("outcome", outcome);
}
