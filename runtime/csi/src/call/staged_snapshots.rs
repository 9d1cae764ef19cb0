//! Objects that staging has just read, kept for the publish call of the same volume that follows.
//! Together they are one mount.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use super::snapshot::CallSnapshot;

/// Kubelet publishes as soon as it has staged; who comes later reads anew.
const TIME_TO_LIVE: Duration = Duration::from_secs(10);

/// Objects that were read while volumes were staged, each set for one publish call.
#[derive(Clone, Default)]
pub(super) struct StagedSnapshots {
    by_volume: Arc<Mutex<BTreeMap<String, (u64, CallSnapshot)>>>,
}

impl StagedSnapshots {
    /// Keeps the objects read for a volume for a short time.
    pub(super) fn insert(&self, volume: &str, snapshot: CallSnapshot) {
        let volume = volume.to_owned();
        let mut all = self.all();
        let number = all.get(&volume).map_or(0, |(number, _)| number + 1);
        all.insert(volume.clone(), (number, snapshot));
        drop(all);
        let staged = self.clone();
        // A snapshot may hold a watch open, which ends too if no publishing follows.
        tokio::spawn(async move {
            sleep(TIME_TO_LIVE).await;
            let mut all = staged.all();
            if all.get(&volume).is_some_and(|(known, _)| *known == number) {
                all.remove(&volume);
            }
        });
    }

    /// Takes the objects that were recently read for a volume. Each snapshot can be taken once.
    pub(super) fn take(&self, volume: &str) -> Option<CallSnapshot> {
        self.all().remove(volume).map(|(_, snapshot)| snapshot)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, (u64, CallSnapshot)>> {
        let all = self.by_volume.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_given_out_once_and_only_for_a_moment() {
        let staged = StagedSnapshots::default();
        staged.insert("a", CallSnapshot::default());
        assert!(staged.take("b").is_none());
        assert!(staged.take("a").is_some());
        assert!(staged.take("a").is_none());
        staged.insert("a", CallSnapshot::default());
        sleep(TIME_TO_LIVE / 2).await;
        // A second staging is kept for as long as the first one was.
        staged.insert("a", CallSnapshot::default());
        sleep(TIME_TO_LIVE * 3 / 4).await;
        assert_eq!(staged.all().len(), 1);
        sleep(TIME_TO_LIVE / 2).await;
        assert_eq!(staged.all().len(), 0);
        assert!(staged.take("a").is_none());
    }
}
