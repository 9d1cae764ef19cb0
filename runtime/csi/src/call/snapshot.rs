//! What one call knew at its end, for the call that follows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::stream::SelectAll;
use lifecycle_runtime::lifecycle::Stored;

use super::reading::{ObjectKey, ObjectWatch};

/// What one call knew at its end, and what it watched.
#[derive(Default)]
pub(super) struct CallSnapshot {
    pub(super) objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
    pub(super) watched: BTreeSet<ObjectKey>,
    pub(super) watches: SelectAll<ObjectWatch>,
}
