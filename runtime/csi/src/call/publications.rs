//! What publishing knew at its end, for when it is repeated: where `requiresRepublish` is set, kubelet publishes what is published every minute or so.

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

/// Which values the API server made of ours, by object and its uid.
pub(super) type SettledWrites = BTreeSet<(Name, String, u64, u64)>;

/// What a publishing knew at its end.
pub(super) struct Publication {
    /// What a repetition need not read.
    pub(super) objects: BTreeMap<ObjectKey, Option<Arc<Stored>>>,
    pub(super) settled: SettledWrites,
    /// The world in which it was done.
    pub(super) world: World,
    read: Instant,
}

/// What was published, by target.
type ByTarget = BTreeMap<String, (Arc<Requested>, Arc<Publication>)>;

/// What was published at each target, by the very request that asked for it: another Pod is another request.
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
    /// What was known when exactly this was published.
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

    /// Whatever is at this target is no more what it was.
    pub(super) fn forget(&self, target_path: &str) {
        self.all().remove(target_path);
    }

    fn all(&self) -> MutexGuard<'_, ByTarget> {
        let all = self.by_target.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }
}
