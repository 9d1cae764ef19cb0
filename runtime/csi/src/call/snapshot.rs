//! State of one call at its end, kept for the call that follows it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::stream::SelectAll;
use lifecycle_runtime::lifecycle::Stored;

use super::reading::{ObjectKey, ObjectWatch};

/// Objects and watches of one call at its end.
#[derive(Default)]
pub(super) struct CallSnapshot {
    pub(super) objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
    pub(super) watched: BTreeSet<ObjectKey>,
    pub(super) watches: SelectAll<ObjectWatch>,
}
