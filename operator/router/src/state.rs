//! State that the router reports about itself: the true status of each entry, with a revision that
//! changes whenever any part of it does. Counters are metrics and not part of it, so that traffic
//! wakes no client that waits for a change.

pub mod client;
mod network;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::timeout;

pub use network::{LinkReport, ServiceReport, SiteReport};
pub(crate) use network::{OwnService, Surroundings};

/// Status of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", content = "message")]
pub enum Status {
    /// Nothing, and rightly: a listener or one of its keys without a connector, a link that is being made for the first time.
    #[default]
    Idle,
    /// The entry works as intended.
    Up,
    /// Failed, for this reason.
    Failed(String),
}

/// One entry in the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryReport {
    /// `tcpListener`, `listenerAddress`, `tcpConnector`, `sslProfile`, or of links `connector` and `listener`.
    pub entity: Cow<'static, str>,
    /// Its name.
    pub name: String,
    /// The routing key of a listener or connector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The listener that a `listenerAddress` is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener: Option<String>,
    /// The host that a connector leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Hash of the applied entry; see [`crate::config::hash`].
    pub hash: String,
    /// Status of the entry.
    #[serde(flatten)]
    pub status: Status,
    /// Further information while the entry works as intended: the last failure of a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Digest of the files that handshakes use, for a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub material: Option<String>,
    /// Of a link of the adaptor: the container id of the router that it leads to, while it is connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Of a link: the site that it leads to, once that is known.
    #[serde(
        default,
        rename = "remoteSiteId",
        skip_serializing_if = "Option::is_none"
    )]
    pub remote_site_id: Option<String>,
    /// Name of that site, for a link.
    #[serde(
        default,
        rename = "remoteSiteName",
        skip_serializing_if = "Option::is_none"
    )]
    pub remote_site_name: Option<String>,
}

/// How many entries a routing key has on each side, in the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCounts {
    /// Connectors that can be used.
    pub connectors: usize,
    /// Listeners that name it and can be used: they listen, or would if there were a connector.
    pub listeners: usize,
}

/// Everything that is reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// This run of the router.
    pub instance: String,
    /// Changes whenever anything else here does; opaque.
    pub revision: String,
    /// The identity from the document.
    pub router: Option<String>,
    /// The document that is applied, by its hash; absent before there was one.
    pub configuration: Option<String>,
    /// Why the newest document is not applied.
    pub error: Option<String>,
    /// Errors in elements of the document that are not entries.
    pub faults: Vec<String>,
    /// The entries.
    pub entries: Vec<EntryReport>,
    /// Routing keys.
    pub keys: BTreeMap<String, KeyCounts>,
    /// The sites that can be reached, the own one included, by id.
    #[serde(default)]
    pub sites: Vec<SiteReport>,
}

impl State {
    /// An entry.
    pub fn entry(&self, entity: &str, name: &str) -> Option<&EntryReport> {
        self.entries
            .iter()
            .find(|entry| entry.entity == entity && entry.name == name)
    }
}

/// The state, and its inputs.
#[derive(Debug, Default)]
struct StoreInner {
    state: State,
    surroundings: Surroundings,
}

/// Store for writing and reading the state.
#[derive(Debug)]
pub struct StateStore {
    kept: Mutex<StoreInner>,
    revision: watch::Sender<u64>,
}

impl StateStore {
    /// Of a new run.
    pub fn new() -> Self {
        let mut random = [0; 8];
        SystemRandom::new()
            .fill(&mut random)
            .expect("the system has random numbers");
        let instance: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let state = State {
            revision: format!("{instance}-0"),
            instance,
            ..State::default()
        };
        let kept = StoreInner {
            state,
            ..StoreInner::default()
        };
        Self {
            kept: Mutex::new(kept),
            revision: watch::Sender::new(0),
        }
    }

    fn lock_inner(&self) -> MutexGuard<'_, StoreInner> {
        self.kept.lock().expect("no writer of the state panics")
    }

    /// The state now.
    pub fn now(&self) -> State {
        self.lock_inner().state.clone()
    }

    /// How many listeners of a key there are, in all sites.
    pub(crate) fn listeners(&self, key: &str) -> usize {
        let kept = self.lock_inner();
        let counts = kept.state.keys.get(key);
        counts.map_or(0, |counts| counts.listeners)
    }

    /// Changes the state; no waiting client is woken if it is the same afterwards.
    pub fn update(&self, change: impl FnOnce(&mut State)) {
        self.update_all(|state, _| change(state));
    }

    /// Changes the state and its inputs.
    pub(crate) fn update_all(&self, change: impl FnOnce(&mut State, &mut Surroundings)) {
        let mut kept = self.lock_inner();
        let StoreInner {
            state,
            surroundings,
        } = &mut *kept;
        let before = state.clone();
        change(state, surroundings);
        surroundings.settle(state);
        if *state != before {
            self.changed(state);
        }
    }

    /// Returns the services of the own site, by routing key.
    pub(crate) fn services(&self) -> BTreeMap<String, OwnService> {
        self.lock_inner().surroundings.services.clone()
    }

    /// Another number whenever the state has changed.
    pub(crate) fn revisions(&self) -> watch::Receiver<u64> {
        self.revision.subscribe()
    }

    fn changed(&self, state: &mut State) {
        self.revision.send_modify(|revision| {
            *revision += 1;
            state.revision = format!("{}-{revision}", state.instance);
        });
    }

    /// Sets the status of an entry.
    pub(crate) fn set(&self, entity: &str, name: &str, status: Status) {
        self.change(entity, name, |entry| {
            let differs = entry.status != status;
            entry.status = status;
            differs
        });
    }

    /// Sets the status of an entry, if it had the status `before`.
    pub(crate) fn replace(&self, entity: &str, name: &str, before: &Status, now: Status) {
        self.change(entity, name, |entry| {
            let fits = entry.status == *before;
            if fits {
                entry.status = now;
            }
            fits
        });
    }

    /// Sets the note of an entry.
    pub(crate) fn set_note(&self, entity: &str, name: &str, note: Option<String>) {
        self.change(entity, name, |entry| {
            let differs = entry.note != note;
            entry.note = note;
            differs
        });
    }

    /// Changes one entry, if it exists; `change` returns true if it changed the entry.
    fn change(&self, entity: &str, name: &str, change: impl FnOnce(&mut EntryReport) -> bool) {
        let mut kept = self.lock_inner();
        let StoreInner {
            state,
            surroundings,
        } = &mut *kept;
        let mut entries = state.entries.iter_mut();
        let entry = entries.find(|entry| entry.entity == entity && entry.name == name);
        let Some(entry) = entry else {
            return;
        };
        let failed = |entry: &EntryReport| matches!(entry.status, Status::Failed(_));
        let before = failed(entry);
        if !change(entry) {
            return;
        }
        if failed(entry) != before {
            surroundings.settle(state);
        }
        self.changed(state);
    }

    /// The state as soon as its revision is another one, or as it is after this time.
    pub async fn after(&self, revision: &str, wait: Duration) -> State {
        let mut changes = self.revision.subscribe();
        let differs = |state: &State| state.revision != revision;
        let changed = async {
            while !differs(&self.lock_inner().state) {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        };
        // Late or not, the state is the answer.
        let _in_time = timeout(wait, changed).await;
        self.now()
    }
}

impl Default for StateStore {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_answered_at_a_change_and_at_nothing_else() {
        let store = StateStore::new();
        let first = store.now().revision;
        let wait = Duration::from_secs(10);
        let began = Instant::now();
        store.update(|_| {});
        assert_eq!(store.after(&first, wait).await.revision, first);
        assert_eq!(began.elapsed(), wait);
        let (seen, ()) = tokio::join!(store.after(&first, wait), async {
            tokio::time::sleep(wait / 2).await;
            store.update(|state| state.router = Some("r".to_owned()));
        });
        assert_eq!(seen.router.as_deref(), Some("r"));
        assert_eq!(began.elapsed(), wait + wait / 2);
        let other = store.after("another-run-7", wait).await;
        assert_eq!(other, seen);
        assert_eq!(began.elapsed(), wait + wait / 2);
    }
}
