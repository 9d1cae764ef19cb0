//! Simulated Kubernetes API server. `kube::Client` cannot distinguish it from a real one, and tests
//! can replay it. All state is behind one lock. It opens no socket, spawns no task, and does not
//! read the machine's clock.

mod allocations;
mod answer;
pub(crate) mod builtin;
mod call;
mod client;
mod containers;
mod crds;
mod create;
mod defaults;
mod delete;
mod discovery;
mod dispatch;
mod duplicates;
mod events;
mod failure;
mod fields;
mod founding;
mod front;
mod golang;
mod immutable;
mod kinds;
mod list;
mod metadata;
pub(crate) mod names;
mod nulls;
pub(crate) mod object;
mod openapi;
mod openapi2;
mod patch;
mod pods;
mod protobuf;
mod rbac;
mod recorded;
mod render;
pub(crate) mod request;
mod restore;
mod reviews;
mod selectors;
mod services;
mod shape;
mod state;
mod store;
mod strategy;
mod subresource;
mod table;
mod update;
mod volumes;
mod watch;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use http::Request;
use jiff::Timestamp;

use lifecycle_client::clock::Clock;
use request::ApiRequest;
use state::State;

pub use client::ServerService;
pub use recorded::{Recorded, RecordedBody};
pub use restore::Unrestorable;

/// User that sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// As RBAC names it.
    pub name: String,
    /// As RBAC names them.
    pub groups: Vec<String>,
}

impl User {
    /// A user with its groups.
    pub fn new(name: &str, groups: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        }
    }

    /// Returns a user who may do everything.
    pub fn admin() -> Self {
        Self::new("admin", &["system:masters"])
    }
}

/// The chunks of a watch; it ends when the server ends it.
pub type Chunks = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// Content of an answer after the head.
pub enum Content {
    /// All of it.
    Whole(Bytes),
    /// Events, one JSON object a line, as they happen.
    Watch(Chunks),
}

/// An answer.
pub struct Reply {
    /// The HTTP code.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// Content after the head.
    pub content: Content,
}

/// A handle of a simulated API server; clones are the same server.
///
/// # Guarantees
/// The same seed and the same requests in the same order give the same answers, byte for byte.
#[derive(Clone)]
pub struct Server {
    state: Arc<Mutex<State>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let revision = self.lock().store.revision();
        formatter
            .debug_struct("Server")
            .field("revision", &revision)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// Returns a server with the built-in kinds and the namespaces `default`, `kube-system`,
    /// `kube-public` and `kube-node-lease`. Its clock starts at a fixed moment of 2026 for every
    /// seed. It follows tokio's clock, which tests can pause.
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(Mutex::new(founding::state(seed))),
        }
    }

    /// Another server with the same kinds and objects; from here on each goes its own way, and history begins anew.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self {
            state: Arc::new(Mutex::new(self.lock().copy())),
        }
    }

    /// Returns a client that sends requests as `user`. The client never retries a request by
    /// itself.
    pub fn client(&self, user: &User) -> kube::Client {
        lifecycle_client::kube::client_of(self.service(user))
    }

    /// Returns the service behind a client, for layers between the two.
    pub fn service(&self, user: &User) -> ServerService {
        ServerService::new(self.clone(), user.clone())
    }

    /// Answers one request. Watches start at once, so that writes before the first read of their
    /// chunks are not lost.
    pub fn serve(&self, user: &User, request: &Request<Vec<u8>>) -> Reply {
        let asked = ApiRequest::new(user, request);
        front::serve(self, &asked, |asked| {
            let answer = dispatch::dispatch(&mut self.lock(), asked);
            answer.reply(self)
        })
    }

    /// Sets the clock of this server.
    pub fn set_clock(&self, now: Timestamp) {
        self.lock().clock.set(now);
    }

    /// Moves the clock of this server forwards, apart from tokio's.
    pub fn advance(&self, by: Duration) {
        self.lock().clock.advance(by);
    }

    /// The version of the newest write.
    pub fn revision(&self) -> u64 {
        self.lock().store.revision()
    }

    /// Forgets the history: watches and pages from earlier versions are answered 410 from now on.
    pub fn compact(&self) {
        self.lock().store.compact();
    }

    /// How many changes of each kind are remembered for watches and pages.
    pub fn keep_history(&self, changes: usize) {
        self.lock().store.set_history(changes);
    }

    /// Enables or disables RBAC. It is disabled at first.
    pub fn enforce_rbac(&self, enforced: bool) {
        self.lock().enforces_rbac = enforced;
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a test that holds the lock must not hide behind those of others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for Server {
    fn now(&self) -> Timestamp {
        self.lock().clock.now()
    }
}

#[cfg(test)]
mod tests;
