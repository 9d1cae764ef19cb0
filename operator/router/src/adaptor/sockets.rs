//! Listeners whose socket the router could not open. The router does not retry by itself, so such
//! an entity is recreated after a pause that doubles. Independent of any clock: the caller passes
//! the time to each call.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use super::Entity;
use super::document::{Document, Key};
use super::observed::Observed;
use super::plan::Current;
use super::refusals::Refusals;
use crate::state::Status;

/// The listeners that wait for another try.
#[derive(Debug, Default)]
pub(super) struct Sockets(Refusals);

impl Sockets {
    /// Updates the listeners without a socket, with the router's messages, and returns those that
    /// must be recreated now.
    pub(super) fn due(
        &mut self,
        closed: BTreeMap<Key, String>,
        now: Instant,
        cause: impl Fn(&Key) -> String,
    ) -> BTreeMap<Key, String> {
        let waiting = self.0.blocked(now, &cause);
        // One that was made anew may not have failed again yet: its pause counts on.
        let kept: BTreeSet<Key> = closed.keys().chain(waiting.keys()).cloned().collect();
        self.0.keep(&kept, &cause);
        let known: BTreeSet<Key> = self.0.messages().map(|(key, _)| key.clone()).collect();
        let mut due = BTreeMap::new();
        for (key, why) in closed {
            if waiting.contains_key(&key) {
                continue;
            }
            self.0.add(key.clone(), why.clone(), cause(&key), now);
            if known.contains(&key) {
                due.insert(key, why);
            }
        }
        due
    }
}

/// The listeners of a document that have no socket, with the router's words.
pub(super) fn closed(document: &Document, current: &Current) -> BTreeMap<Key, String> {
    let observed = Observed::of_listeners(current.rows(Entity::TcpListener));
    let keys = document.items.iter().map(super::document::Item::key);
    let failed = keys.filter_map(|key| match &observed.entry(key.0, &key.1)?.status {
        Status::Failed(why) => Some((key, why.clone())),
        Status::Idle | Status::Up => None,
    });
    failed.collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_listener_is_made_anew_after_pauses_that_double_and_at_once_for_another_document() {
        let key = (Entity::TcpListener, "l".to_owned());
        let closed = BTreeMap::from([(key.clone(), "occupied".to_owned())]);
        let mut sockets = Sockets::default();
        let start = Instant::now();
        let cause = |_: &Key| "a".to_owned();
        let mut tries = Vec::new();
        for second in 0..200 {
            let now = start + Duration::from_secs(second);
            let due = sockets.due(closed.clone(), now, cause);
            if due == closed {
                tries.push(second);
                // The router has not tried yet.
                assert_eq!(
                    sockets.due(BTreeMap::new(), now, cause),
                    BTreeMap::default()
                );
            } else {
                assert_eq!(due, BTreeMap::default());
            }
        }
        assert_eq!(tries, [1, 3, 7, 15, 31, 63, 123, 183]);
        let now = start + Duration::from_secs(200);
        let other = |_: &Key| "b".to_owned();
        assert_eq!(sockets.due(closed.clone(), now, other), closed);
        let now = now + Duration::from_secs(1);
        // It has its socket, so the next failure is a first one.
        sockets.due(BTreeMap::new(), now, other);
        assert_eq!(sockets.due(closed, now, other), BTreeMap::default());
    }
}
