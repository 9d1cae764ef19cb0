//! State at the end of a publish call, kept for its repetitions. If `requiresRepublish` is set,
//! kubelet repeats every publish call about once a minute.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::reading::ObjectKey;
use lifecycle_runtime::cluster::store::Name;
use lifecycle_runtime::lifecycle::{Requested, Stored};
use lifecycle_runtime::machine::world::World;

/// After this everything is read anew.
const TIME_TO_LIVE: Duration = Duration::from_secs(60 * 60);

/// Writes whose values the API server changed: the object, its uid, and the fingerprints of the
/// desired and the live value.
pub(super) type SettledWrites = BTreeSet<(Name, String, u64, u64)>;

/// State at the end of a publish call.
pub(super) struct Publication {
    /// Objects that a repetition need not read.
    pub(super) objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
    pub(super) settled: SettledWrites,
    /// World in which the publish call ended.
    pub(super) world: World,
    read: Instant,
}

/// Finished publish calls by target path.
type ByTarget = BTreeMap<String, (Arc<Requested>, Arc<Publication>)>;

/// Finished publish calls by target path, each with the exact request that made it. Another Pod is
/// another request.
#[derive(Default)]
pub(super) struct Publications {
    by_target: Mutex<ByTarget>,
}

impl Publication {
    pub(super) fn new(
        objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
        settled: SettledWrites,
        world: World,
    ) -> Self {
        Self {
            objects,
            settled,
            world,
            read: Instant::now(),
        }
    }

    fn is_over(&self) -> bool {
        self.read.elapsed() >= TIME_TO_LIVE
    }
}

impl Publications {
    /// Returns the state kept from a publish call with exactly this request.
    pub(super) fn get(&self, request: &Requested) -> Option<Arc<Publication>> {
        let all = self.all();
        let (known, publication) = all.get(&request.target_path)?;
        let is_it = **known == *request && !publication.is_over();
        is_it.then(|| Arc::clone(publication))
    }

    pub(super) fn insert(&self, request: &Arc<Requested>, publication: Publication) {
        let mut all = self.all();
        all.retain(|_, (_, known)| !known.is_over());
        let known = (Arc::clone(request), Arc::new(publication));
        all.insert(request.target_path.clone(), known);
    }

    /// Forgets the publication at this target path, because it may have changed.
    pub(super) fn forget(&self, target_path: &str) {
        self.all().remove(target_path);
    }

    fn all(&self) -> MutexGuard<'_, ByTarget> {
        let all = self.by_target.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }
}
