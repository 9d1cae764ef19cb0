//! What staging has just read, for the publishing of the same volume that follows: together they are one mount.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::sleep;

use super::cells::Kept;

/// Kubelet publishes as soon as it has staged; who comes later reads anew.
const FRESH: Duration = Duration::from_secs(10);

/// What was read while volumes were staged, each for one publishing.
#[derive(Clone, Default)]
pub(super) struct Staged {
    of_volumes: Arc<Mutex<BTreeMap<String, (u64, Kept)>>>,
}

impl Staged {
    /// Keeps what was read for a volume, for a moment.
    pub(super) fn keep(&self, volume: &str, kept: Kept) {
        let volume = volume.to_owned();
        let mut all = self.all();
        let number = all.get(&volume).map_or(0, |(number, _)| number + 1);
        all.insert(volume.clone(), (number, kept));
        drop(all);
        let staged = self.clone();
        // What is kept may hold a watch open, which is ended too if nobody comes.
        tokio::spawn(async move {
            sleep(FRESH).await;
            let mut all = staged.all();
            if all.get(&volume).is_some_and(|(known, _)| *known == number) {
                all.remove(&volume);
            }
        });
    }

    /// Gives out what was read for a volume a moment ago, once.
    pub(super) fn recall(&self, volume: &str) -> Option<Kept> {
        self.all().remove(volume).map(|(_, kept)| kept)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, (u64, Kept)>> {
        let all = self.of_volumes.lock();
        all.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_given_out_once_and_only_for_a_moment() {
        let staged = Staged::default();
        staged.keep("a", Kept::default());
        assert!(staged.recall("b").is_none());
        assert!(staged.recall("a").is_some());
        assert!(staged.recall("a").is_none());
        staged.keep("a", Kept::default());
        sleep(FRESH / 2).await;
        // A second staging is kept for as long as the first one was.
        staged.keep("a", Kept::default());
        sleep(FRESH * 3 / 4).await;
        assert_eq!(staged.all().len(), 1);
        sleep(FRESH / 2).await;
        assert_eq!(staged.all().len(), 0);
        assert!(staged.recall("a").is_none());
    }
}
