//! Simulated server that starts like a live one. It copies requested objects before it answers, and
//! keeps all writes. The live server only receives get and list requests. Independent of the
//! client's identity, like the server itself.

mod copy;
mod journal;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{Method, Request, Response};
use kube::Client;
use tokio::sync::Mutex as Turn;
use tower::Service;

pub use copy::Unread;
pub use journal::Write;
use serde_json::Value;

use crate::server::object::{name, namespace};
use crate::server::request::{self, Target};
use crate::server::{Content, Reply, Server, User};
use copy::Copied;

/// Lazy copy of a live cluster. Clones share the copy.
///
/// # Guarantees
/// Nothing is written to the live server. Objects are as they were at the first request. Later,
/// only writes to the copy change them.
#[derive(Clone)]
pub struct Mirror(Arc<Inside>);

struct Inside {
    server: Server,
    live: Client,
    copied: Turn<Copied>,
    unread: Mutex<Vec<Unread>>,
    /// Kinds that were requested, and that neither server nor copy has.
    unserved: Mutex<Vec<Unserved>>,
    journal: Mutex<Vec<Write>>,
    /// Requests that came and that were answered.
    counts: (AtomicU64, AtomicU64),
}

/// Requested kind that is not served. No definition of it was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unserved {
    /// Its group.
    pub group: String,
    /// Requested version.
    pub version: String,
    /// As paths name it.
    pub plural: String,
}

impl std::fmt::Debug for Mirror {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mirror").finish_non_exhaustive()
    }
}

impl Mirror {
    /// Returns a copy of the cluster behind `live`. Its clock shows the current time. Definitions
    /// and namespaces are read at once.
    ///
    /// # Errors
    /// The CustomResourceDefinitions cannot be listed: without them no kind of theirs is known.
    pub async fn from_client(live: Client) -> Result<Self, Unread> {
        let server = Server::new(0);
        server.set_clock(jiff::Timestamp::now());
        let copied = Copied::begin(&server, &live).await?;
        Ok(Self(Arc::new(Inside {
            server,
            live,
            copied: Turn::new(copied),
            unread: Mutex::default(),
            unserved: Mutex::default(),
            journal: Mutex::default(),
            counts: (AtomicU64::new(0), AtomicU64::new(0)),
        })))
    }

    /// A client of the copy, which may do everything.
    pub fn client(&self) -> Client {
        lifecycle_client::kube::client_of(MirrorService(self.clone()))
    }

    /// Returns all writes so far, in order, except those of events and leases.
    pub fn writes(&self) -> Vec<Write> {
        guarded(&self.0.journal).clone()
    }

    /// Returns the requests that could not be read from the live server.
    pub fn unread(&self) -> Vec<Unread> {
        guarded(&self.0.unread).clone()
    }

    /// The kinds that were looked for and are still not served.
    pub fn unserved(&self) -> Vec<Unserved> {
        let mut all = guarded(&self.0.unserved).clone();
        all.retain(|one| self.0.server.kind_of((&one.group, &one.plural)).is_none());
        all
    }

    /// Returns true if a copied or created object exists. The namespace of a cluster-scoped object
    /// is empty. The query copies nothing, but definitions are present from the beginning.
    pub fn has(&self, kind: (&str, &str), place: (&str, &str)) -> bool {
        self.0.server.stored(kind, place).is_some()
    }

    /// Adds an object as if the live server had it. An existing object stays unchanged.
    pub fn assume(&self, kind: (&str, &str), object: Value) {
        let place = (namespace(&object).to_owned(), name(&object).to_owned());
        if !self.has(kind, (&place.0, &place.1)) {
            let restored = self.0.server.restore(kind, object);
            debug_assert!(restored.is_ok(), "{restored:?}");
        }
    }

    /// How many requests came, and how many of them wait for an answer. Those for kinds that are not served do not count: they come again for ever.
    pub fn requests(&self) -> (u64, u64) {
        let answered = self.0.counts.1.load(Ordering::SeqCst);
        let came = self.0.counts.0.load(Ordering::SeqCst);
        (came, came.saturating_sub(answered))
    }

    /// Returns true if the requested kind is not served, and notes the kind in that case.
    fn lacks(&self, wanted: &Target) -> bool {
        let kind = (wanted.group.as_str(), wanted.plural.as_str());
        if self.0.server.kind_of(kind).is_some() {
            return false;
        }
        let unserved = Unserved {
            group: wanted.group.clone(),
            version: wanted.version.clone(),
            plural: wanted.plural.clone(),
        };
        let mut noted = guarded(&self.0.unserved);
        if !noted.contains(&unserved) {
            noted.push(unserved);
        }
        true
    }

    /// Copies the objects that a request needs. Unreadable objects are recorded and treated as
    /// absent.
    async fn prepare(&self, wanted: &Target, body: &[u8], is_read: bool) {
        let mut copied = self.0.copied.lock().await;
        let (server, live) = (&self.0.server, &self.0.live);
        let named = match wanted.name.as_str() {
            "" if is_read || journal::is_aside(wanted) => None,
            "" => copy::name_in(body),
            name => Some(name.to_owned()),
        };
        let done = match named {
            Some(name) => copied.copy_object((server, live), wanted, &name).await,
            None if is_read => copied.all((server, live), wanted).await,
            None => copied.namespace((server, live), &wanted.namespace).await,
        };
        if let Err(unread) = done {
            let mut noted = guarded(&self.0.unread);
            if !noted.contains(&unread) {
                noted.push(unread);
            }
        }
    }

    /// Answers a request that may write, and records its effect. Requests run one at a time, so
    /// that the recorded difference belongs to this request.
    fn written(&self, request: &Request<Vec<u8>>) -> Reply {
        let server = &self.0.server;
        let mut journal = guarded(&self.0.journal);
        let write = Write::begin(server, request);
        let reply = server.serve(&User::admin(), request);
        if let (Some(mut write), Content::Whole(body)) = (write, &reply.content) {
            write.end(server, reply.status, body);
            journal.push(write);
        }
        reply
    }
}

fn guarded<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Service behind a client of the copy.
#[derive(Clone)]
struct MirrorService(Mirror);

impl Service<Request<kube::client::Body>> for MirrorService {
    type Response = Response<Content>;
    type Error = kube::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let Self(mirror) = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let request = Request::from_parts(head, body.collect_bytes().await?.to_vec());
            let (came, answered) = &mirror.0.counts;
            let is_read = request.method() == Method::GET;
            let target = request::target(request.uri().path());
            if is_read
                && let Some(target) = &target
                && mirror.lacks(target)
            {
                return Ok(mirror.0.server.serve(&User::admin(), &request).into());
            }
            came.fetch_add(1, Ordering::SeqCst);
            if let Some(target) = target {
                mirror.prepare(&target, request.body(), is_read).await;
            }
            let reply = match is_read {
                true => mirror.0.server.serve(&User::admin(), &request),
                false => mirror.written(&request),
            };
            answered.fetch_add(1, Ordering::SeqCst);
            Ok(reply.into())
        })
    }
}
