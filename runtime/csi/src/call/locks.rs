//! Locks of the calls that hold a volume. A second identical call for a volume is rejected with a
//! message; the opposite call interrupts a wait and takes the lock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::code::RpcError;
use lifecycle_runtime::machine::ir::{Code, Rpc};

/// How long a call waits for its opposite to end an effect.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Key by which calls exclude each other: one name for both calls of a pair, and their key fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockKey {
    pair: Rpc,
    fields: Vec<String>,
}

impl LockKey {
    pub(crate) fn new(rpc: Rpc, opposite: Option<Rpc>, fields: Vec<String>) -> Self {
        let pair = opposite.map_or(rpc, |opposite| opposite.min(rpc));
        Self { pair, fields }
    }
}

/// A call that holds a lock.
struct Holder {
    rpc: Rpc,
    /// Set by the opposite call.
    preempted: watch::Sender<bool>,
    /// An opposite call waits already.
    has_waiter: bool,
}

/// The locks of all calls under way.
#[derive(Clone, Default)]
pub(crate) struct VolumeLocks(Arc<Mutex<BTreeMap<LockKey, Holder>>>);

/// The lock that one call holds; released when dropped.
pub(crate) struct VolumeLock {
    locks: VolumeLocks,
    key: LockKey,
    preempted: watch::Receiver<bool>,
}

impl VolumeLocks {
    /// Acquires a lock.
    ///
    /// # Errors
    /// The same call is under way, or its opposite cannot be interrupted.
    pub(crate) async fn acquire(&self, rpc: Rpc, key: LockKey) -> Result<VolumeLock, RpcError> {
        let mut released = match self.try_acquire(rpc, &key)? {
            Ok(lock) => return Ok(lock),
            Err(released) => released,
        };
        // It ends when the lock is dropped, and the sender with it.
        let over = timeout(LOCK_TIMEOUT, released.wait_for(|_| false)).await;
        if over.is_err() {
            self.stop_waiting(&key);
            return Err(under_way(rpc));
        }
        self.try_acquire(rpc, &key)?.map_err(|_| under_way(rpc))
    }

    /// Returns a lock, or a future that ends when the opposite call releases it.
    fn try_acquire(
        &self,
        rpc: Rpc,
        key: &LockKey,
    ) -> Result<Result<VolumeLock, watch::Receiver<bool>>, RpcError> {
        let mut holders = self.holders();
        let Some(holder) = holders.get_mut(key) else {
            let (preempted, receiver) = watch::channel(false);
            let holder = Holder {
                rpc,
                preempted,
                has_waiter: false,
            };
            holders.insert(key.clone(), holder);
            return Ok(Ok(VolumeLock {
                locks: self.clone(),
                key: key.clone(),
                preempted: receiver,
            }));
        };
        if holder.rpc == rpc || holder.has_waiter {
            return Err(under_way(rpc));
        }
        holder.has_waiter = true;
        holder.preempted.send_replace(true);
        Ok(Err(holder.preempted.subscribe()))
    }

    /// Gives up waiting for a lock.
    fn stop_waiting(&self, key: &LockKey) {
        if let Some(holder) = self.holders().get_mut(key) {
            holder.has_waiter = false;
        }
    }

    fn holders(&self) -> MutexGuard<'_, BTreeMap<LockKey, Holder>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VolumeLock {
    /// Waits until the opposite call wants the lock.
    pub(crate) async fn preempted(&self) {
        let mut preempted = self.preempted.clone();
        // The sender lives as long as this lock.
        let _ = preempted.wait_for(|preempted| *preempted).await.is_ok();
    }
}

impl Drop for VolumeLock {
    fn drop(&mut self) {
        self.locks.holders().remove(&self.key);
    }
}

fn under_way(rpc: Rpc) -> RpcError {
    let message = format!("a call that excludes this {rpc:?} is under way; try again");
    RpcError::new(Code::Aborted, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISH: Rpc = Rpc::NodePublishVolume;
    const UNPUBLISH: Rpc = Rpc::NodeUnpublishVolume;

    fn key(volume: &str) -> LockKey {
        LockKey::new(PUBLISH, Some(UNPUBLISH), vec![volume.to_owned()])
    }

    fn code<T>(acquired: Result<T, RpcError>) -> Option<Code> {
        acquired.err().map(|error| error.code)
    }

    #[test]
    fn both_calls_of_a_pair_have_one_key() {
        let other = LockKey::new(UNPUBLISH, Some(PUBLISH), vec!["v".to_owned()]);
        assert_eq!(key("v"), other);
        assert_ne!(key("v"), key("w"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_call_is_told_that_it_is_under_way() {
        let locks = VolumeLocks::default();
        let lock = locks.acquire(PUBLISH, key("v")).await.expect("free");
        let again = locks.acquire(PUBLISH, key("v")).await;
        assert_eq!(code(again), Some(Code::Aborted));
        let other = locks.acquire(PUBLISH, key("w")).await;
        assert_eq!(code(other), None);
        drop(lock);
        assert_eq!(code(locks.acquire(PUBLISH, key("v")).await), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_opposite_call_has_its_turn_when_this_one_is_over() {
        let locks = VolumeLocks::default();
        let lock = locks.acquire(PUBLISH, key("v")).await.expect("free");
        let opposite = tokio::spawn({
            let locks = locks.clone();
            async move { locks.acquire(UNPUBLISH, key("v")).await }
        });
        lock.preempted().await;
        let third = locks.acquire(UNPUBLISH, key("v")).await;
        assert_eq!(code(third), Some(Code::Aborted), "one waits already");
        drop(lock);
        let lock = opposite.await.expect("no panic").expect("its turn");
        drop(lock);
        assert!(locks.holders().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_opposite_call_that_does_not_end_is_not_waited_for_for_ever() {
        let locks = VolumeLocks::default();
        let _lock = locks.acquire(PUBLISH, key("v")).await.expect("free");
        let never = locks.acquire(UNPUBLISH, key("v")).await;
        assert_eq!(code(never), Some(Code::Aborted));
        let again = locks.acquire(UNPUBLISH, key("v")).await;
        assert_eq!(code(again), Some(Code::Aborted), "it may wait again");
    }
}
