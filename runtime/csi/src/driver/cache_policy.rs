//! Which kinds calls read from a watch or from the call before, and not by one request each.

use lifecycle_runtime::lifecycle::Kind;

/// A kind that the process always watches.
#[derive(Clone)]
pub(crate) struct WatchedKind {
    pub(crate) kind: Kind,
    /// Chooses its objects; empty: all.
    pub(crate) field_selector: String,
}

/// How calls read each kind; by one request an object unless listed here.
#[derive(Clone, Default)]
pub(crate) struct CachePolicy {
    pub(crate) watched: Vec<WatchedKind>,
    pub(crate) watched_on_read: Vec<Kind>,
    pub(crate) reused_after_stage: Vec<Kind>,
}

impl CachePolicy {
    /// Whether the first read of an object of the kind also begins to watch it.
    pub(crate) fn watches_on_read(&self, kind: &Kind) -> bool {
        self.watched_on_read
            .iter()
            .any(|known| known.shares_cache(kind))
    }

    /// Whether publishing takes over what staging has just read of the kind.
    pub(crate) fn reuses_after_stage(&self, kind: &Kind) -> bool {
        let mut reused = self.watched_on_read.iter().chain(&self.reused_after_stage);
        reused.any(|known| known.shares_cache(kind))
    }
}
