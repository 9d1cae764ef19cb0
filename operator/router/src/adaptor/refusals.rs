//! Requests that the router refused: an entry is tried again when the document or its Secret changes, and else after a pause that doubles.
//! Knows no clock: each call is given the time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::time::Instant;

use super::document::Key;

/// The pause after the first refusal, and the longest.
const PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// One refusal.
#[derive(Clone, Debug)]
struct Refusal {
    message: String,
    /// Digest of the documents and files that the refusal is about.
    cause: String,
    pause: Duration,
    due: Instant,
    /// True if the router may have kept the refused value, so that no difference is left.
    is_kept: bool,
}

/// All refusals that still count.
#[derive(Debug, Default)]
pub(super) struct Refusals(BTreeMap<Key, Refusal>);

impl Refusals {
    /// Adds a refusal.
    pub(super) fn add(&mut self, key: Key, message: String, cause: String, now: Instant) {
        let before = self.0.get(&key).filter(|before| before.cause == cause);
        let pause = before.map_or(PAUSE.0, |before| (before.pause * 2).min(PAUSE.1));
        let due = now + pause;
        self.0.insert(
            key,
            Refusal {
                message,
                cause,
                pause,
                due,
                is_kept: false,
            },
        );
    }

    /// The refused values of this entry are in the router nevertheless: its refusal counts until another document or file, or until the
    /// router accepts a request for it.
    pub(super) fn mark_kept(&mut self, key: &Key) {
        if let Some(refusal) = self.0.get_mut(key) {
            refusal.is_kept = true;
        }
    }

    /// Takes note that the router accepted a request for this entry.
    pub(super) fn accepted(&mut self, key: &Key) {
        if let Some(refusal) = self.0.get_mut(key) {
            refusal.is_kept = false;
        }
    }

    /// Forgets refusals of entries that need no request any more.
    pub(super) fn keep(&mut self, open: &BTreeSet<Key>, cause: impl Fn(&Key) -> String) {
        self.0.retain(|key, refusal| {
            open.contains(key) || (refusal.is_kept && refusal.cause == cause(key))
        });
    }

    /// The entries that are not tried now, with the router's words.
    pub(super) fn blocked(
        &self,
        now: Instant,
        cause: impl Fn(&Key) -> String,
    ) -> BTreeMap<Key, String> {
        let blocks =
            |(key, refusal): &(&Key, &Refusal)| now < refusal.due && refusal.cause == cause(key);
        let blocked = self.0.iter().filter(blocks);
        blocked
            .map(|(key, refusal)| (key.clone(), refusal.message.clone()))
            .collect()
    }

    /// The words of all refusals.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&Key, &str)> {
        self.0
            .iter()
            .map(|(key, refusal)| (key, refusal.message.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Entity;
    use super::*;

    #[test]
    fn the_pause_doubles_to_a_minute_and_another_document_ends_it() {
        let key = (Entity::TcpListener, "l".to_owned());
        let mut refusals = Refusals::default();
        let mut now = Instant::now();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            refusals.add(key.clone(), "no".to_owned(), "a".to_owned(), now);
            let blocked = |at| !refusals.blocked(at, |_| "a".to_owned()).is_empty();
            let mut pause = Duration::from_secs(1);
            while blocked(now + pause) {
                pause += Duration::from_secs(1);
            }
            pauses.push(pause.as_secs());
            now += pause;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(refusals.blocked(now, |_| "b".to_owned()), BTreeMap::new());
        refusals.add(key.clone(), "no".to_owned(), "b".to_owned(), now);
        let soon = now + Duration::from_millis(1500);
        assert_eq!(refusals.blocked(soon, |_| "b".to_owned()), BTreeMap::new());
        let same = |_: &Key| "b".to_owned();
        refusals.keep(&BTreeSet::from([key]), same);
        assert_eq!(refusals.messages().count(), 1);
        refusals.keep(&BTreeSet::new(), same);
        assert_eq!(refusals.messages().count(), 0);
    }

    #[test]
    fn a_refusal_of_values_that_the_router_has_counts_until_something_changes() {
        let key = (Entity::SslProfile, "web".to_owned());
        let now = Instant::now();
        let refused = || {
            let mut refusals = Refusals::default();
            refusals.add(key.clone(), "no".to_owned(), "a".to_owned(), now);
            refusals.mark_kept(&key);
            refusals.keep(&BTreeSet::new(), |_| "a".to_owned());
            assert_eq!(refusals.messages().count(), 1);
            refusals
        };
        let mut refusals = refused();
        refusals.keep(&BTreeSet::new(), |_| "b".to_owned());
        assert_eq!(refusals.messages().count(), 0);
        let mut refusals = refused();
        refusals.accepted(&key);
        refusals.keep(&BTreeSet::new(), |_| "a".to_owned());
        assert_eq!(refusals.messages().count(), 0);
    }
}
