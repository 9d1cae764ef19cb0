//! Entire state of a simulated server: kinds, objects, allocations, permissions, its clock and its
//! seed.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use tokio::time::Instant;

use super::User;
use super::allocations::Allocations;
use super::builtin;
use super::failure::Failure;
use super::kinds::{Kind, Kinds};
use super::rbac::{Attempt, Grants, Rule};
use super::store::{Store, StoreKey};

/// When a server begins to be: 2026-01-01T00:00:00Z.
const ORIGIN: i64 = 1_767_225_600;

/// Objects of a real cluster have no smaller versions, and no object may have the version "1".
const FIRST_REVISION: u64 = 100;

/// How many changes of each kind are remembered.
const HISTORY: usize = 10_000;

/// The clock of a server: tokio's, from an origin of its own.
#[derive(Debug)]
pub(crate) struct ServerClock {
    origin: Timestamp,
    started: Instant,
}

impl ServerClock {
    pub(crate) fn now(&self) -> Timestamp {
        let gone = SignedDuration::try_from(self.started.elapsed()).unwrap_or(SignedDuration::MAX);
        self.origin.checked_add(gone).unwrap_or(Timestamp::MAX)
    }

    pub(crate) fn set(&mut self, now: Timestamp) {
        self.origin = now;
        self.started = Instant::now();
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
        self.origin = self.origin.checked_add(by).unwrap_or(Timestamp::MAX);
    }
}

/// All that the server knows.
pub(crate) struct State {
    pub(crate) kinds: Kinds,
    pub(crate) store: Store,
    pub(crate) clock: ServerClock,
    pub(crate) allocations: Allocations,
    pub(crate) enforces_rbac: bool,
    pub(crate) grants: Grants,
    seed: u64,
    /// How often something was drawn for the same words.
    drawn: BTreeMap<u64, u64>,
}

impl State {
    /// Nothing but the built-in kinds.
    pub(crate) fn empty(seed: u64) -> Self {
        let clock = ServerClock {
            origin: Timestamp::from_second(ORIGIN).expect("a moment of 2026"),
            started: Instant::now(),
        };
        Self {
            kinds: builtin::kinds(),
            store: Store::new(FIRST_REVISION, HISTORY),
            clock,
            allocations: Allocations::default(),
            enforces_rbac: false,
            grants: Grants::default(),
            seed,
            drawn: BTreeMap::new(),
        }
    }

    /// The same again; its clock goes on from the moment where this one began.
    pub(crate) fn copy(&self) -> Self {
        Self {
            kinds: self.kinds.clone(),
            store: self.store.copy(),
            clock: ServerClock {
                origin: self.clock.origin,
                started: Instant::now(),
            },
            allocations: self.allocations.clone(),
            enforces_rbac: self.enforces_rbac,
            grants: self.grants.clone(),
            seed: self.seed,
            drawn: self.drawn.clone(),
        }
    }

    /// Returns true if a user may do something.
    pub(crate) fn allows(&mut self, user: &User, attempt: &Attempt) -> bool {
        self.grants.allow(&self.store, user, attempt)
    }

    /// Returns the rules of a user in a namespace.
    pub(crate) fn rules(&mut self, user: &User, namespace: &str) -> Vec<Rule> {
        self.grants.rules(&self.store, user, namespace)
    }

    /// Refuses an attempt that the user has no right to.
    pub(crate) fn authorize(&mut self, user: &User, attempt: &Attempt) -> Result<(), Failure> {
        if !self.enforces_rbac || self.allows(user, attempt) {
            Ok(())
        } else {
            Err(attempt.refusal(user))
        }
    }

    /// A built-in kind.
    pub(crate) fn kind(&self, group: &str, plural: &str) -> Kind {
        let kind = self.kinds.get(group, plural);
        Kind::clone(kind.expect("the kind is in the table"))
    }

    /// Returns the current time in the format of objects.
    pub(crate) fn now(&self) -> String {
        self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Returns a unique uid. It depends on the seed and on the object, not on other created
    /// objects.
    pub(crate) fn uid(&mut self, kind: &Kind, key: &StoreKey) -> String {
        let words = ["uid", &kind.store, &key.namespace, &key.name];
        let mut random = self.draw(&words);
        let (high, low) = (random.next_u64(), random.next_u64());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            (low >> 48) & 0x3fff | 0x8000,
            low & 0xffff_ffff_ffff
        )
    }

    /// Returns a random generator that depends on the seed, the words, and the number of earlier
    /// calls with them.
    pub(crate) fn draw(&mut self, words: &[&str]) -> Pcg64Mcg {
        let hash = hash(self.seed, words);
        let times = self.drawn.entry(hash).or_default();
        *times += 1;
        Pcg64Mcg::seed_from_u64(hash.wrapping_add((*times - 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// FNV-1a over the words, with a mark after each.
fn hash(seed: u64, words: &[&str]) -> u64 {
    let bytes = words
        .iter()
        .flat_map(|word| word.bytes().chain(std::iter::once(0xff)));
    let seeded = seed.to_le_bytes().into_iter().chain(bytes);
    seeded.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
