//! Which calls are under way: the same call for the same volume is told so, the opposite one ends a wait and takes its turn.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::code::Refused;
use crate::machine::ir::{Code, Rpc};

/// How long a call waits for an effect of its opposite to end.
const LONGEST_TURN: Duration = Duration::from_secs(30);

/// What calls exclude each other by: both calls of a pair under one name, and the fields of their key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pair: Rpc,
    fields: Vec<String>,
}

impl Key {
    pub(crate) fn new(rpc: Rpc, opposite: Option<Rpc>, fields: Vec<String>) -> Self {
        let pair = opposite.map_or(rpc, |opposite| opposite.min(rpc));
        Self { pair, fields }
    }
}

/// A call that has its turn.
struct Holder {
    rpc: Rpc,
    /// Set by the opposite call.
    displaced: watch::Sender<bool>,
    /// An opposite call waits already.
    awaited: bool,
}

/// All calls under way.
#[derive(Clone, Default)]
pub(crate) struct Inflight(Arc<Mutex<BTreeMap<Key, Holder>>>);

/// The turn of one call; ends when dropped.
pub(crate) struct Turn {
    table: Inflight,
    key: Key,
    displaced: watch::Receiver<bool>,
}

impl Inflight {
    /// Takes a turn.
    ///
    /// # Errors
    /// The same call is under way, or its opposite cannot be interrupted.
    pub(crate) async fn enter(&self, rpc: Rpc, key: Key) -> Result<Turn, Refused> {
        let mut ended = match self.take(rpc, &key)? {
            Ok(turn) => return Ok(turn),
            Err(ended) => ended,
        };
        // It ends when its turn is dropped, and the sender with it.
        let over = timeout(LONGEST_TURN, ended.wait_for(|_| false)).await;
        if over.is_err() {
            self.leave(&key);
            return Err(under_way(rpc));
        }
        self.take(rpc, &key)?.map_err(|_| under_way(rpc))
    }

    /// A turn, or what ends when the opposite call does.
    fn take(&self, rpc: Rpc, key: &Key) -> Result<Result<Turn, watch::Receiver<bool>>, Refused> {
        let mut table = self.table();
        let Some(holder) = table.get_mut(key) else {
            let (displaced, receiver) = watch::channel(false);
            let holder = Holder {
                rpc,
                displaced,
                awaited: false,
            };
            table.insert(key.clone(), holder);
            return Ok(Ok(Turn {
                table: self.clone(),
                key: key.clone(),
                displaced: receiver,
            }));
        };
        if holder.rpc == rpc || holder.awaited {
            return Err(under_way(rpc));
        }
        holder.awaited = true;
        holder.displaced.send_replace(true);
        Ok(Err(holder.displaced.subscribe()))
    }

    /// Gives up waiting for a turn.
    fn leave(&self, key: &Key) {
        if let Some(holder) = self.table().get_mut(key) {
            holder.awaited = false;
        }
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<Key, Holder>> {
        // Nothing panics while it is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until the opposite call wants its turn.
    pub(crate) async fn displaced(&self) {
        let mut displaced = self.displaced.clone();
        // The sender lives as long as this turn.
        let _ = displaced.wait_for(|displaced| *displaced).await.is_ok();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.table.table().remove(&self.key);
    }
}

fn under_way(rpc: Rpc) -> Refused {
    let said = format!("a call that excludes this {rpc:?} is under way; try again");
    Refused::new(Code::Aborted, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLISH: Rpc = Rpc::NodePublishVolume;
    const UNPUBLISH: Rpc = Rpc::NodeUnpublishVolume;

    fn key(volume: &str) -> Key {
        Key::new(PUBLISH, Some(UNPUBLISH), vec![volume.to_owned()])
    }

    fn code<T>(entered: Result<T, Refused>) -> Option<Code> {
        entered.err().map(|refused| refused.code)
    }

    #[test]
    fn both_calls_of_a_pair_have_one_key() {
        let other = Key::new(UNPUBLISH, Some(PUBLISH), vec!["v".to_owned()]);
        assert_eq!(key("v"), other);
        assert_ne!(key("v"), key("w"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_call_is_told_that_it_is_under_way() {
        let table = Inflight::default();
        let turn = table.enter(PUBLISH, key("v")).await.expect("free");
        let again = table.enter(PUBLISH, key("v")).await;
        assert_eq!(code(again), Some(Code::Aborted));
        let other = table.enter(PUBLISH, key("w")).await;
        assert_eq!(code(other), None);
        drop(turn);
        assert_eq!(code(table.enter(PUBLISH, key("v")).await), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_opposite_call_has_its_turn_when_this_one_is_over() {
        let table = Inflight::default();
        let turn = table.enter(PUBLISH, key("v")).await.expect("free");
        let opposite = tokio::spawn({
            let table = table.clone();
            async move { table.enter(UNPUBLISH, key("v")).await }
        });
        turn.displaced().await;
        let third = table.enter(UNPUBLISH, key("v")).await;
        assert_eq!(code(third), Some(Code::Aborted), "one waits already");
        drop(turn);
        let turn = opposite.await.expect("no panic").expect("its turn");
        drop(turn);
        assert!(table.table().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_opposite_call_that_does_not_end_is_not_waited_for_for_ever() {
        let table = Inflight::default();
        let _turn = table.enter(PUBLISH, key("v")).await.expect("free");
        let never = table.enter(UNPUBLISH, key("v")).await;
        assert_eq!(code(never), Some(Code::Aborted));
        let again = table.enter(UNPUBLISH, key("v")).await;
        assert_eq!(code(again), Some(Code::Aborted), "it may wait again");
    }
}
