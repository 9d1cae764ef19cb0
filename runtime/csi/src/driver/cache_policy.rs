//! Cache policy: kinds that calls read from a watch or from the previous call, instead of by one
//! request each.

use kube::ResourceExt;
use lifecycle_runtime::cluster::store::Raw;
use lifecycle_runtime::lifecycle::Kind;

/// A kind that the process always watches.
#[derive(Clone)]
pub(crate) struct WatchedKind {
    pub(crate) kind: Kind,
    pub(crate) selection: Selection,
    /// Calls that read from it.
    pub(crate) readers: Readers,
}

/// Objects of a kind that are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// By a field selector.
    Fields(String),
    /// Those that carry this label with this value.
    Label(String, String),
}

/// Calls that read from a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    AllCalls,
    /// Those that repeat a publishing.
    Repeats,
}

/// How calls read each kind; by one request an object unless listed here.
#[derive(Clone, Default)]
pub(crate) struct CachePolicy {
    pub(crate) watched: Vec<WatchedKind>,
    pub(crate) watched_on_read: Vec<Kind>,
    pub(crate) reused_after_stage: Vec<Kind>,
    pub(crate) remembered_for_repeats: Vec<Kind>,
}

impl Selection {
    /// The selectors of a watch, of fields and of labels.
    pub(crate) fn selectors(&self) -> (String, String) {
        match self {
            Self::All => Default::default(),
            Self::Fields(fields) => (fields.clone(), String::new()),
            Self::Label(key, value) => (String::new(), format!("{key}={value}")),
        }
    }

    /// Returns true if an object is certain to be selected.
    pub(crate) fn takes(&self, object: &Raw) -> bool {
        match self {
            Self::All => true,
            // Only the API server can evaluate a field selector.
            Self::Fields(_) => false,
            Self::Label(key, value) => object.labels().get(key) == Some(value),
        }
    }
}

impl CachePolicy {
    /// Returns true if the first read of an object of the kind also begins to watch it.
    pub(crate) fn watches_on_read(&self, kind: &Kind) -> bool {
        is_in(&self.watched_on_read, kind)
    }

    /// Returns true if publishing reuses the objects of the kind that staging has just read.
    pub(crate) fn reuses_after_stage(&self, kind: &Kind) -> bool {
        is_in(&self.watched_on_read, kind) || is_in(&self.reused_after_stage, kind)
    }

    /// Returns true if a repeated publish call reuses the objects of the kind that were read
    /// before.
    pub(crate) fn remembers_for_repeats(&self, kind: &Kind) -> bool {
        is_in(&self.remembered_for_repeats, kind)
    }
}

fn is_in(kinds: &[Kind], kind: &Kind) -> bool {
    kinds.iter().any(|known| known.shares_cache(kind))
}
