//! The routing keys of one listener, and which of them the next stream goes to: pure.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The routing keys of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keys {
    /// One.
    One(Arc<str>),
    /// The first of these that can be reached.
    Priority(Vec<Arc<str>>),
    /// Each reachable key, in proportion to its weight. A key of weight 0 gets nothing.
    Weighted(BTreeMap<Arc<str>, u32>),
}

impl Keys {
    /// One key.
    pub fn single(key: &str) -> Self {
        Self::One(key.into())
    }

    /// The keys that streams may go to, first things first.
    pub fn all(&self) -> impl Iterator<Item = &Arc<str>> {
        let (listed, weighted) = match self {
            Self::One(key) => (std::slice::from_ref(key), None),
            Self::Priority(keys) => (keys.as_slice(), None),
            Self::Weighted(weights) => (&[][..], Some(weights)),
        };
        let weighted = weighted.into_iter().flatten();
        let weighted = weighted.filter(|(_, weight)| **weight > 0);
        listed.iter().chain(weighted.map(|(key, _)| key))
    }

    /// True for a key that streams may go to.
    pub fn has(&self, key: &str) -> bool {
        self.all().any(|own| **own == *key)
    }
}

/// Chooses one key for each stream. The keys may change while streams are open.
#[derive(Debug)]
pub(crate) struct KeyChoice(Mutex<Turns>);

#[derive(Debug)]
struct Turns {
    keys: Keys,
    /// Deficit of each weighted key against its due share.
    behind: BTreeMap<Arc<str>, i64>,
}

impl KeyChoice {
    pub(crate) fn new(keys: Keys) -> Self {
        let behind = BTreeMap::new();
        Self(Mutex::new(Turns { keys, behind }))
    }

    /// Chooses among these keys from now on.
    pub(crate) fn set(&self, keys: &Keys) {
        let mut turns = self.0.lock().expect("no holder of the turns panics");
        if turns.keys != *keys {
            turns.keys = keys.clone();
            turns.behind.retain(|key, _| keys.has(key));
        }
    }

    /// The key for one more stream that none of the keys `tried` has taken.
    pub(crate) fn next(
        &self,
        tried: &[Arc<str>],
        reachable: impl Fn(&str) -> bool,
    ) -> Option<Arc<str>> {
        let mut turns = self.0.lock().expect("no holder of the turns panics");
        let Turns { keys, behind } = &mut *turns;
        let open = |key: &&Arc<str>| !tried.contains(key) && reachable(key);
        let Keys::Weighted(weights) = keys else {
            return keys.all().find(open).cloned();
        };
        // Each key is credited with its due share, and the key with the largest credit pays for
        // the stream. In any row of streams the shares are as even as whole streams allow.
        let mut due = 0;
        let mut most: Option<(&Arc<str>, i64)> = None;
        let weights = weights
            .iter()
            .filter(|(key, weight)| **weight > 0 && open(key));
        for (key, weight) in weights {
            due += i64::from(*weight);
            let debt = behind.entry(key.clone()).or_default();
            *debt += i64::from(*weight);
            if most.is_none_or(|(_, so_far)| *debt > so_far) {
                most = Some((key, *debt));
            }
        }
        let chosen = most?.0.clone();
        *behind.entry(chosen.clone()).or_default() -= due;
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weighted(weights: &[(&str, u32)]) -> Keys {
        let weights = weights.iter().map(|(key, weight)| ((*key).into(), *weight));
        Keys::Weighted(weights.collect())
    }

    fn next(choice: &KeyChoice, reachable: &[&str]) -> String {
        let next = choice.next(&[], |key| reachable.contains(&key));
        next.map_or_else(String::new, |key| key.to_string())
    }

    #[test]
    fn the_first_key_that_can_be_reached_has_all_streams() {
        let keys = Keys::Priority(["a", "b", "c"].map(Into::into).to_vec());
        let choice = KeyChoice::new(keys);
        assert_eq!(next(&choice, &["c", "b"]), "b");
        assert_eq!(next(&choice, &["c", "b", "a"]), "a");
        assert_eq!(next(&choice, &[]), "");
        let after = choice.next(&["a".into(), "b".into()], |_| true);
        assert_eq!(after.as_deref(), Some("c"), "the others did not take it");
    }

    #[test]
    fn weights_are_parts_of_the_streams_and_0_is_none() {
        let choice = KeyChoice::new(weighted(&[("a", 3), ("b", 1), ("never", 0)]));
        let all = ["a", "b", "never"];
        let row: String = (0..8).map(|_| next(&choice, &all)).collect();
        assert_eq!(row, "aabaaaba");
        assert_eq!(next(&choice, &["b", "never"]), "b");
        assert_eq!(next(&choice, &["never"]), "");
        choice.set(&weighted(&[("b", 1)]));
        assert_eq!(next(&choice, &all), "b");
    }

    proptest! {
        #[test]
        fn no_key_is_more_than_one_stream_per_other_key_from_its_part(
            weights in proptest::collection::vec(1_u32..1000, 1..6),
            streams in 1_usize..300,
        ) {
            let names: Vec<String> = (0..weights.len()).map(|at| format!("k{at}")).collect();
            let named = names.iter().map(String::as_str).zip(weights.iter().copied());
            let choice = KeyChoice::new(weighted(&named.collect::<Vec<_>>()));
            let mut counts = BTreeMap::new();
            for _ in 0..streams {
                let key = choice.next(&[], |_| true);
                *counts.entry(key.expect("all can be reached").to_string()).or_insert(0_u32) += 1;
            }
            let total: u32 = weights.iter().sum();
            for (name, weight) in names.iter().zip(&weights) {
                let due = f64::from(*weight) * streams as f64 / f64::from(total);
                let had = f64::from(counts.get(name).copied().unwrap_or_default());
                prop_assert!((had - due).abs() <= weights.len() as f64, "{name}: {had} of {due}");
            }
        }
    }
}
