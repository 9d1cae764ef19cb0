//! Which kinds calls read from a watch or from the call before, and not by one request each.

use kube::ResourceExt;
use lifecycle_runtime::cluster::store::Raw;
use lifecycle_runtime::lifecycle::Kind;

/// A kind that the process always watches.
#[derive(Clone)]
pub(crate) struct WatchedKind {
    pub(crate) kind: Kind,
    pub(crate) selection: Selection,
    /// Which calls read from it.
    pub(crate) readers: Readers,
}

/// Which objects of a kind are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    All,
    /// By a field selector.
    Fields(String),
    /// Those that carry this label with this value.
    Label(String, String),
}

/// Which calls read from a watch.
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

    /// Whether an object is surely selected.
    pub(crate) fn takes(&self, object: &Raw) -> bool {
        match self {
            Self::All => true,
            // What a field says is only known to the API server.
            Self::Fields(_) => false,
            Self::Label(key, value) => object.labels().get(key) == Some(value),
        }
    }
}

impl CachePolicy {
    /// Whether the first read of an object of the kind also begins to watch it.
    pub(crate) fn watches_on_read(&self, kind: &Kind) -> bool {
        is_in(&self.watched_on_read, kind)
    }

    /// Whether publishing takes over what staging has just read of the kind.
    pub(crate) fn reuses_after_stage(&self, kind: &Kind) -> bool {
        is_in(&self.watched_on_read, kind) || is_in(&self.reused_after_stage, kind)
    }

    /// Whether a publishing that is repeated takes over what was read of the kind before.
    pub(crate) fn remembers_for_repeats(&self, kind: &Kind) -> bool {
        is_in(&self.remembered_for_repeats, kind)
    }
}

fn is_in(kinds: &[Kind], kind: &Kind) -> bool {
    kinds.iter().any(|known| known.shares_cache(kind))
}
