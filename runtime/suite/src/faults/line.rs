//! Handles: one for the test that plans and watches a run, and one for each process that runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Request;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;
use tokio::time::Instant;

use super::signal::Signal;
use super::state::{Sent, State};
use super::{FaultPoint, Plan};
use lifecycle_client::clock::Clock;

/// Faults of one run, and their log. Clones share everything.
#[derive(Clone)]
pub struct Faults(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    began: Instant,
    /// Duration of the earlier run that this run continues.
    before: Duration,
    origin: Timestamp,
}

/// The line of one process to its server: faults count on it, and it is dead once the process has crashed.
#[derive(Clone)]
pub struct Line {
    pub(super) faults: Faults,
    /// Numbers all processes of a run: 1, 2, ..
    pub(super) process: u32,
    /// A second process is logged and never disturbed.
    pub(super) disturbed: bool,
}

impl Faults {
    /// Begins a run now; the wall clock of its processes begins at `origin`.
    pub fn new(plan: Plan, origin: Timestamp) -> Self {
        Self::after(Duration::ZERO, plan, origin)
    }

    /// Goes on from a run that began at `origin` and lasted for a time.
    pub fn after(before: Duration, plan: Plan, origin: Timestamp) -> Self {
        let state = State::new(plan.0);
        Self(Arc::new(Shared {
            state: Mutex::new(state),
            began: Instant::now(),
            before,
            origin,
        }))
    }

    /// The line of a process that starts now.
    pub fn line(&self, disturbed: bool) -> Line {
        let process = {
            let mut state = self.state();
            state.starts += 1;
            state.starts
        };
        Line {
            faults: self.clone(),
            process,
            disturbed,
        }
    }

    /// Adds faults to those that are still to come.
    pub fn add(&self, plan: Plan) {
        self.state().plan.extend(plan.0);
    }

    /// Returns the faults that have not occurred, because the run never came so far.
    pub fn left(&self) -> Plan {
        Plan(self.state().plan.clone())
    }

    /// Returns the requests that the process sent so far, as plans count them.
    pub fn sent(&self) -> Vec<Sent> {
        self.state().sent.clone()
    }

    /// How many mutations the process sent so far, as plans count them.
    pub fn writes(&self) -> usize {
        let state = self.state();
        let is_write = |sent: &&Sent| matches!(sent.at, FaultPoint::Write(_));
        state.sent.iter().filter(is_write).count()
    }

    /// Nothing more goes wrong.
    pub fn clear(&self) {
        self.state().plan.clear();
    }

    /// Requests, answers and events of all processes, a line each, with the virtual time since the beginning.
    pub fn journal(&self) -> String {
        self.state().journal.text()
    }

    /// Keeps no log from now on.
    pub fn without_journal(&self) {
        self.state().journal.stop();
    }

    /// Returns true if the newest process is running.
    pub fn is_running(&self) -> bool {
        let state = self.state();
        state.starts > 0 && !state.dead.contains(&state.starts)
    }

    /// How often a process was started.
    pub fn starts(&self) -> u32 {
        self.state().starts
    }

    /// The wall clock, jumps included.
    pub fn now(&self) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.elapsed()).unwrap_or_default();
        let jumped = SignedDuration::from_secs(self.state().clock);
        let now = self.0.origin.checked_add(elapsed).ok();
        let now = now.and_then(|now| now.checked_add(jumped).ok());
        now.unwrap_or(self.0.origin)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the run has gone, and the one that it goes on from.
    pub fn elapsed(&self) -> Duration {
        self.0.before + self.0.began.elapsed()
    }
}

impl Clock for Faults {
    fn now(&self) -> Timestamp {
        Faults::now(self)
    }
}

impl Line {
    /// A client of this process; its requests reach the server through the line.
    pub fn client(&self, server: &Client) -> Client {
        let (line, server) = (self.clone(), server.clone());
        let namespace = server.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (line, server) = (line.clone(), server.clone());
            async move { line.serve(request, server).await }
        });
        Client::new(service, namespace)
    }

    /// Ends the process: nothing of it reaches the server any more.
    pub fn end(&self) {
        let mut state = self.faults.state();
        if !state.dead.contains(&self.process) {
            state.dead.push(self.process);
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.faults.state().dead.contains(&self.process)
    }

    /// Ends the process, and has it started anew.
    pub(super) fn crash(&self) {
        self.end();
        self.record(0, "crashes");
        self.faults.state().signal(Signal::Crash);
    }

    pub(super) fn record(&self, request: u64, what: &str) {
        let at = self.faults.elapsed();
        let mut state = self.faults.state();
        state.journal.record(at, self.process, request, what);
    }
}
