//! Wire between an operator and the faults below it. It holds the operator's writes while something
//! else happens, and checks each of them. It judges a write by the object that existed before. Of a
//! lifecycle it knows only the kinds that it writes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::select_all;
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::sync::{Notify, oneshot, watch};

use super::fixture::{WrittenKind, is_of, text};
use super::invariant::{Finding, Invariant};
use super::keeper::takes_over;
use super::leaves::{keyed, leaves};
use super::moves::{Fault, Move, Planned};
use super::observer::Observer;
use super::once::Creations;
use crate::granted::{Granted, is_watch};
use lifecycle_runtime::lifecycle::Kind;
use lifecycle_runtime::machine::ir::Mode;

/// Number of writes between two settled points above which the run counts as a hot loop.
const MOST_WRITES: usize = 240;

/// A write that waits until something has happened.
pub(crate) struct AwaitedWrite {
    pub(crate) what: Operation,
    /// Body that the write would store.
    pub(crate) body: Value,
    pub(crate) done: oneshot::Sender<()>,
}

/// Operation that happens while a write waits.
pub(crate) enum Operation {
    Move(Move),
    LoseLease,
}

#[derive(Default)]
struct State {
    /// Numbers of writes count from here.
    base: usize,
    writes: usize,
    planned: Vec<Planned>,
    /// Last value that we wrote, by path of objects other than the subject.
    wrote: BTreeMap<String, Value>,
    /// By path and field manager.
    shares: BTreeMap<(String, String), Value>,
    left: Left,
    made: Creations,
    wanted: VecDeque<AwaitedWrite>,
    findings: Vec<Finding>,
    since_rest: usize,
    is_hot: bool,
    lease_cut: bool,
}

/// Record of all writes so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteHistory {
    wrote: BTreeMap<String, Value>,
    shares: BTreeMap<(String, String), Value>,
    left: Left,
    made: Creations,
}

/// Objects as our last write left them, by path and field manager. An object with an unknown result
/// is not listed.
type Left = BTreeMap<(String, String), Value>;

/// State that all clients of one run's operators share.
pub(crate) struct Wire {
    state: Mutex<State>,
    held: watch::Sender<bool>,
    woken: Notify,
    admin: Client,
    kinds: Vec<WrittenKind>,
    subject: Kind,
    observer: Arc<Observer>,
    granted: Granted,
}

/// Waits for a write of any of them that waits.
pub(crate) async fn wanted_of(wires: &[Arc<Wire>]) -> AwaitedWrite {
    let waiting = wires.iter().map(|wire| {
        let waiting: Pin<Box<dyn Future<Output = AwaitedWrite> + Send + '_>> =
            Box::pin(wire.next_awaited());
        waiting
    });
    select_all(waiting).await.0
}

/// A request, taken apart.
struct ParsedRequest {
    method: Method,
    path: String,
    manager: String,
    watches: bool,
    body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Read,
    Work,
    Event,
    Lease,
}

impl Wire {
    pub(crate) fn new(
        admin: Client,
        (kinds, subject): (Vec<WrittenKind>, Kind),
        observer: Arc<Observer>,
        granted: Granted,
    ) -> Self {
        Self {
            state: Mutex::new(State::default()),
            held: watch::channel(false).0,
            woken: Notify::new(),
            admin,
            kinds,
            subject,
            observer,
            granted,
        }
    }

    /// Returns the names of the rights that were used so far.
    pub(crate) fn used_rights(&self) -> BTreeSet<String> {
        self.granted.used()
    }

    /// Returns the record of all writes so far, for runs that continue from here.
    pub(crate) fn past(&self) -> WriteHistory {
        let state = self.state();
        WriteHistory {
            wrote: state.wrote.clone(),
            shares: state.shares.clone(),
            left: state.left.clone(),
            made: state.made.clone(),
        }
    }

    /// This was written before the run began.
    pub(crate) fn go_on_from(&self, past: WriteHistory) {
        let mut state = self.state();
        state.wrote = past.wrote;
        state.shares = past.shares;
        state.left = past.left;
        state.made = past.made;
    }

    /// Returns a client for a process. `below` is its connection to the server. `identity` is its
    /// name in the Lease, if a Lease determines the process that writes.
    pub(crate) fn client(self: &Arc<Self>, below: &Client, identity: Option<String>) -> Client {
        let (wire, below) = (Arc::clone(self), below.clone());
        let namespace = below.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (wire, below) = (Arc::clone(&wire), below.clone());
            let identity = identity.clone();
            async move { wire.serve(below, request, identity.as_deref()).await }
        });
        Client::new(service, namespace)
    }

    /// Counts writes from 1 again, and plans these faults. Returns true if an earlier operation was
    /// still pending.
    pub(crate) fn arm(&self, planned: Vec<Planned>) -> bool {
        let mut state = self.state();
        state.base = state.writes;
        let is_operation = |p: &Planned| p.fault.operation().is_some();
        let left = state.planned.iter().any(is_operation);
        state.planned = planned;
        left
    }

    /// How many writes there were since `arm`.
    pub(crate) fn writes(&self) -> usize {
        let state = self.state();
        state.writes - state.base
    }

    /// How many writes there were in all.
    pub(crate) fn all_writes(&self) -> usize {
        self.state().writes
    }

    /// Work begins to count anew.
    pub(crate) fn mark_rested(&self) {
        let mut state = self.state();
        state.since_rest = 0;
        state.is_hot = false;
    }

    /// Changes the record of the objects that were created once so far.
    pub(crate) fn update_creations(&self, change: impl FnOnce(&mut Creations)) {
        change(&mut self.state().made);
    }

    /// Returns true if there was too much work for an idle cluster.
    pub(crate) fn is_hot(&self) -> bool {
        self.state().is_hot
    }

    /// Lets no write through until `release`.
    pub(crate) fn hold(&self) {
        self.held.send_replace(true);
    }

    pub(crate) fn release(&self) {
        self.held.send_replace(false);
    }

    /// Cuts our own way to the Lease, or mends it.
    pub(crate) fn cut_lease(&self, cut: bool) {
        self.state().lease_cut = cut;
    }

    /// Returns the objects that we wrote, with their desired content.
    pub(crate) fn wrote(&self) -> BTreeMap<String, Value> {
        self.state().wrote.clone()
    }

    /// The objects that we wrote, as our last write left them, by path and field manager.
    pub(crate) fn left(&self) -> BTreeMap<(String, String), Value> {
        self.state().left.clone()
    }

    /// Waits for a write that waits.
    pub(crate) async fn next_awaited(&self) -> AwaitedWrite {
        loop {
            let next = self.state().wanted.pop_front();
            match next {
                Some(wanted) => return wanted,
                None => self.woken.notified().await,
            }
        }
    }

    pub(crate) fn take_findings(&self) -> Vec<Finding> {
        std::mem::take(&mut self.state().findings)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permitted(&self, ungranted: Option<String>) {
        if let Some(text) = ungranted {
            self.find(Invariant::Granted, text);
        }
    }

    fn find(&self, invariant: Invariant, text: String) {
        self.state().findings.push(Finding::new(invariant, text));
    }

    async fn serve(
        &self,
        below: Client,
        request: Request<Body>,
        identity: Option<&str>,
    ) -> Result<Response<Body>, kube::Error> {
        let (head, body) = request.into_parts();
        let body = body.collect_bytes().await?;
        let asked = ParsedRequest::new(&head, &body);
        let request = Request::from_parts(head, Body::from(body));
        let class = asked.class();
        self.permitted(
            self.granted
                .check_request(&asked.method, &asked.path, asked.watches),
        );
        match class {
            Class::Read => return below.send(request).await,
            Class::Lease if self.state().lease_cut => return Ok(unavailable()),
            Class::Lease => return below.send(request).await,
            Class::Work | Class::Event => {}
        }
        let mut held = self.held.subscribe();
        // The sender lives as long as we do.
        let _ = held.wait_for(|held| !held).await.is_ok();
        if class == Class::Event {
            self.one_write(&asked);
            return below.send(request).await;
        }
        let Some(number) = self.count() else {
            return std::future::pending().await;
        };
        self.one_write(&asked);
        self.only_the_leader(&asked, identity).await;
        self.happens(number, true, &asked.body).await;
        let before = self.before(&asked).await;
        // The result is known only after the answer arrives.
        let left = self.state().left.remove(&asked.path_and_manager());
        let response = below.send(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect_bytes().await?;
        if asked.method == Method::PATCH && head.status == StatusCode::CREATED {
            self.permitted(self.granted.makes(&asked.path));
        }
        if head.status.is_success() {
            self.wrote_it(&asked, before);
            self.leaves(&asked, &body);
        } else if let Some(left) = left.filter(|_| head.status.is_client_error()) {
            self.state().left.insert(asked.path_and_manager(), left);
        }
        self.happens(number, false, &asked.body).await;
        Ok(Response::from_parts(head, Body::from(body)))
    }

    /// Counts a write; one too many never arrives.
    fn count(&self) -> Option<usize> {
        let mut state = self.state();
        state.writes += 1;
        state.since_rest += 1;
        if state.since_rest > MOST_WRITES && !state.is_hot {
            state.is_hot = true;
        }
        (!state.is_hot).then(|| state.writes - state.base)
    }

    fn one_write(&self, asked: &ParsedRequest) {
        if !self.observer.arrives() {
            let (method, path) = (&asked.method, &asked.path);
            let text = format!("a reconciliation wrote more than once: {method} {path}");
            self.find(Invariant::OneWrite, text);
        }
    }

    async fn only_the_leader(&self, asked: &ParsedRequest, identity: Option<&str>) {
        let Some(identity) = identity else {
            return;
        };
        let lease = self.get(LEASE).await;
        let holder = lease.and_then(|l| text(&l, "/spec/holderIdentity"));
        if holder.as_deref() != Some(identity) {
            let holder = holder.unwrap_or_else(|| "nobody".to_owned());
            let text = format!("{asked} while {holder} held the Lease");
            self.find(Invariant::OnlyTheLeader, text);
        }
    }

    /// Performs the operations that were planned around this write.
    async fn happens(&self, number: usize, before: bool, body: &Value) {
        loop {
            let due = {
                let mut state = self.state();
                let is_due = |p: &Planned| {
                    p.at == number
                        && match &p.fault {
                            Fault::Before(_) | Fault::LoseLease => before,
                            Fault::After(_) => !before,
                            Fault::Line(_) => false,
                        }
                };
                let at = state.planned.iter().position(is_due);
                at.map(|at| state.planned.remove(at))
            };
            let what = match due.map(|p| p.fault) {
                Some(Fault::Before(m) | Fault::After(m)) => Operation::Move(m),
                Some(Fault::LoseLease) => Operation::LoseLease,
                Some(Fault::Line(_)) | None => return,
            };
            let (done, is_done) = oneshot::channel();
            let body = body.clone();
            self.state()
                .wanted
                .push_back(AwaitedWrite { what, body, done });
            self.woken.notify_one();
            // An error means that the run ended.
            let _ = is_done.await.is_ok();
        }
    }

    /// Returns the object before a write, if its owner matters.
    async fn before(&self, asked: &ParsedRequest) -> Option<Value> {
        let written = self.kinds.iter().any(|k| k.has(&asked.path));
        if written {
            self.get(&asked.path).await
        } else {
            None
        }
    }

    async fn get(&self, path: &str) -> Option<Value> {
        let request = Request::get(path).body(Vec::new()).ok()?;
        self.admin.request(request).await.ok()
    }

    /// Judges a write that took effect.
    fn wrote_it(&self, asked: &ParsedRequest, before: Option<Value>) {
        if is_of(&self.subject, &asked.path) {
            if asked.method == Method::DELETE {
                let text = format!("{asked}: it deletes an object that a user created");
                self.find(Invariant::HandsOff, text);
            }
            return;
        }
        let Some(kind) = self.kinds.iter().find(|k| k.has(&asked.path)) else {
            let member = format!("{}/any", asked.path);
            let is_of_all = |kind: &WrittenKind| kind.has(&member);
            let text = match asked.method == Method::DELETE && self.kinds.iter().any(is_of_all) {
                true => format!(
                    "{asked}: it deletes every object with a label, regardless of its owner"
                ),
                false => format!("{asked}: no effect declares this write"),
            };
            self.find(Invariant::HandsOff, text);
            return;
        };
        let is_foreign = match kind.mode {
            Mode::Owned => before.as_ref().is_some_and(|before| {
                let is_there = |uid: &str| self.observer.is_there(uid);
                let adopts = || kind.adopts && takes_over(&asked.body, before, is_there);
                !self.observer.owns(before) && !adopts()
            }),
            Mode::Shared if asked.method == Method::DELETE => {
                let is_ours = |before: &Value| {
                    let owners = before.pointer("/metadata/ownerReferences");
                    let owners = owners.and_then(Value::as_array);
                    owners.is_some_and(|o| o.len() == 1) && self.observer.owns(before)
                };
                before.as_ref().is_some_and(|before| !is_ours(before))
            }
            Mode::Shared => false,
            Mode::Part => before.is_none(),
            Mode::Watched
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock
            | Mode::Group => true,
        };
        if is_foreign {
            let text = format!("{asked}: the object belongs to another controller or user");
            self.find(Invariant::HandsOff, text);
        }
        let mut state = self.state();
        if asked.method == Method::DELETE {
            return;
        }
        let creates = asked.body["metadata"]["resourceVersion"] == "1";
        let mut kinds = self.kinds.iter().filter(|k| k.has(&asked.path));
        if creates
            && kinds.all(|k| k.once)
            && let Some(text) = state.made.creates(&asked.path, &asked.body)
        {
            let found = Finding::new(Invariant::MadeOnce, text);
            state.findings.push(found);
        }
        // A patch of the ownership alone does not describe the desired content.
        if asked.body.get("kind").is_some() {
            state.wrote.insert(asked.path.clone(), asked.body.clone());
        }
        if kind.mode == Mode::Shared {
            self.share(&mut state, asked);
        }
    }

    /// Records the object as a write has left it.
    fn leaves(&self, asked: &ParsedRequest, answer: &[u8]) {
        let is_written = self.kinds.iter().any(|kind| kind.has(&asked.path));
        if asked.method == Method::DELETE || !is_written {
            return;
        }
        let Ok(object) = serde_json::from_slice::<Value>(answer) else {
            return;
        };
        let name = text(&object, "/metadata/name");
        if name.is_some_and(|name| asked.path.ends_with(&format!("/{name}"))) {
            self.state().left.insert(asked.path_and_manager(), object);
        }
    }

    /// Two contributions to one object must not contradict each other.
    fn share(&self, state: &mut State, asked: &ParsedRequest) {
        let mut ours = BTreeMap::new();
        leaves(&keyed(&asked.body), String::new(), &mut ours);
        let others = state.shares.iter();
        let others =
            others.filter(|((path, manager), _)| *path == asked.path && *manager != asked.manager);
        let clash = others.flat_map(|((_, manager), body)| {
            let mut theirs = BTreeMap::new();
            leaves(&keyed(body), String::new(), &mut theirs);
            let differ = |(path, value): (&String, &Value)| {
                theirs.get(path).is_some_and(|other| other != value)
            };
            let differing: BTreeSet<String> = ours
                .iter()
                .filter(|pair| differ(*pair))
                .map(|(path, _)| path.clone())
                .collect();
            differing
                .into_iter()
                .map(|path| (manager.clone(), path))
                .collect::<Vec<_>>()
        });
        let clash = clash.into_iter().next();
        if let Some((manager, path)) = clash {
            let text = format!("{asked}: `{path}` is not what {manager} wants there");
            state.findings.push(Finding::new(Invariant::CoOwners, text));
        }
        let key = (asked.path.clone(), asked.manager.clone());
        state.shares.insert(key, asked.body.clone());
    }
}

/// The Lease of all runs that have one.
pub(crate) const LEASE: &str =
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/generated-suite";

impl ParsedRequest {
    fn new(head: &http::request::Parts, body: &[u8]) -> Self {
        let query = head.uri.query().unwrap_or_default();
        let manager = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("fieldManager="));
        Self {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            // As managed fields name it.
            manager: manager.unwrap_or_default().replace("%2F", "/"),
            watches: is_watch(query),
            body: serde_json::from_slice(body).unwrap_or_default(),
        }
    }

    fn path_and_manager(&self) -> (String, String) {
        (self.path.clone(), self.manager.clone())
    }

    fn class(&self) -> Class {
        if self.path.contains("/coordination.k8s.io/") {
            Class::Lease
        } else if self.method == Method::GET {
            Class::Read
        } else if self.path.contains("/events.k8s.io/") {
            Class::Event
        } else {
            Class::Work
        }
    }
}

impl std::fmt::Display for ParsedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

fn unavailable() -> Response<Body> {
    let mut response = Response::new(Body::from(
        br#"{"kind":"Status","apiVersion":"v1","status":"Failure","code":503,"reason":"ServiceUnavailable","message":"cut off"}"#.to_vec(),
    ));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
