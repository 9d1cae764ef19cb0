//! Record of the driver's operations, as it reports them and as they went over the wire.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response};
use lifecycle_oracle::meaning::{Named, Step, WorldClass};
use lifecycle_runtime::controller::{Move, Trace, TraceEvent, Written};
use lifecycle_runtime::lifecycle::Observation;
use lifecycle_runtime::machine::ir::{Lifecycle, Origin, Var};
use lifecycle_runtime::machine::policy::{Class, Decision};
use lifecycle_simulator::server::{Content, Reply, ServerService};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::Service;

/// How long a write takes to arrive: everything that was seen by then is seen before.
const ARRIVES_AFTER: Duration = Duration::from_millis(5);
/// Number of writes without a settled point above which the driver counts as stuck in a hot loop.
const HOT: usize = 250;

/// One thing that the driver did.
#[derive(Clone, Debug)]
pub enum Entry {
    /// It looked and decided.
    Passed(Pass),
    /// A write left.
    Sent(Written),
    /// A write ended, in the words of counters.
    Ended(Written, &'static str),
    /// A status was written: the object as everybody reads it then.
    Told(Value),
}

/// A reconciliation as the driver reports it.
#[derive(Clone, Debug)]
pub struct Pass {
    /// By name, as the oracle calls facts.
    pub world: Named,
    /// Place of the object, as the driver reports it. `None` means a world that cannot exist.
    pub place: Option<WorldClass>,
    /// Step that is run, as the driver reports it.
    pub step: Step,
    /// Move of the reconciliation.
    pub does: Move,
    /// Reason why there is no world.
    pub failure: Option<String>,
    /// Case that the checker ruled out, as the driver reports it.
    pub ruled_out: Option<String>,
    /// When.
    pub at: Instant,
}

/// Everything that one driver did, and the manipulations of its writes.
#[derive(Debug, Default)]
pub struct Watched {
    log: Mutex<Vec<Entry>>,
    wire: Mutex<Wire>,
}

/// Requests on the wire.
#[derive(Debug, Default)]
pub struct Wire {
    /// Writes since the last settled point, without events.
    pub writes: Vec<String>,
    /// All of them.
    pub all: usize,
    /// Kinds whose applies are refused.
    pub refused: BTreeSet<usize>,
    /// Kinds whose deletions are refused wherever their applies are.
    pub optional: BTreeSet<usize>,
}

impl Wire {
    /// Returns true if the driver writes on and on.
    pub fn is_hot(&self) -> bool {
        self.writes.len() > HOT
    }
}

impl Watched {
    /// Locks the record of the requests on the wire.
    pub fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the entries since the last call.
    pub fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the number of entries that have not been taken yet.
    pub fn passes(&self) -> usize {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    fn record(&self, entry: Entry) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(entry);
    }
}

/// Returns the name that the oracle gives to a variable.
pub(crate) fn called(var: &Var) -> String {
    match var.origin {
        Origin::Refused(_) => format!("?{}", var.name),
        Origin::Deleting => "deleting".to_owned(),
        Origin::Claimed => "claimed".to_owned(),
        Origin::Input(_) | Origin::Fact => var.name.to_owned(),
    }
}

/// A world of the driver by name.
pub fn named(ir: &Lifecycle, observation: &Observation) -> Named {
    let vars = ir.vars.iter().enumerate();
    let pair = |(at, var): (usize, &Var)| {
        let value = ir.value(&observation.world, at).to_owned();
        (called(var), value)
    };
    vars.map(pair).collect()
}

impl Trace for Watched {
    fn saw(&self, moment: &TraceEvent<'_>) {
        let entry = match moment {
            TraceEvent::Passed(passed) => {
                let ir = passed.lifecycle;
                let place = match passed.class {
                    Class::Deleting => Some(WorldClass::Deleting),
                    Class::Refused { .. } => Some(WorldClass::Refused),
                    Class::State(state) => {
                        Some(WorldClass::State(ir.states[state].name.to_owned()))
                    }
                    Class::Contradiction => None,
                };
                let step = match passed.next {
                    Decision::Claim => Step::Claim,
                    Decision::Effect(effect) => Step::Run(ir.effects[effect].name.to_owned()),
                    Decision::Release => Step::Release,
                    Decision::Rest => Step::Rest,
                };
                Entry::Passed(Pass {
                    world: named(ir, passed.observation),
                    place,
                    step,
                    does: passed.does,
                    failure: passed.failure.clone(),
                    ruled_out: passed.ruled_out.clone(),
                    at: passed.at,
                })
            }
            TraceEvent::Sent { what, .. } => Entry::Sent(*what),
            TraceEvent::Ended { what, how, .. } => Entry::Ended(*what, how),
        };
        self.record(entry);
    }
}

/// The way of a driver to its server.
#[derive(Clone, Debug)]
pub struct Line {
    /// Observer of this connection.
    pub watched: Arc<Watched>,
    /// The server.
    pub server: ServerService,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response<Content>, kube::Error>> + Send>>;

impl Service<Request<kube::client::Body>> for Line {
    type Response = Response<Content>;
    type Error = kube::Error;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.server.poll_ready(context)
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let (watched, mut server) = (Arc::clone(&self.watched), self.server.clone());
        Box::pin(async move {
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            if method == Method::GET || path.contains("/events") {
                return server.call(request).await;
            }
            let (hot, refused) = {
                let mut wire = watched.wire();
                wire.writes.push(format!("{method} {path}"));
                wire.all += 1;
                let kind = kind_of(&path);
                let refused = kind.is_some_and(|kind| wire.refused.contains(&kind));
                let deletes = kind.is_some_and(|kind| wire.optional.contains(&kind));
                let is_effect = method == Method::PATCH || deletes && method == Method::DELETE;
                (
                    wire.is_hot(),
                    refused && is_effect && !path.ends_with("/status"),
                )
            };
            if hot {
                std::future::pending::<()>().await;
            }
            sleep(ARRIVES_AFTER).await;
            if refused {
                return Ok(refusal().into());
            }
            let answered = server.call(request).await?;
            if let Content::Whole(bytes) = answered.body()
                && path.ends_with("/status")
                && answered.status().is_success()
            {
                let told = serde_json::from_slice(bytes).unwrap_or_default();
                watched.record(Entry::Told(told));
            }
            Ok(answered)
        })
    }
}

/// The number of the kind that a path is about.
fn kind_of(path: &str) -> Option<usize> {
    let (_, rest) = path.split_once("/thing")?;
    rest.split_once('s')?.0.parse().ok()
}

fn refusal() -> Reply {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422,
        "message": "it is refused", "metadata": {},
    });
    Reply {
        status: 422,
        headers: vec![("content-type", "application/json".to_owned())],
        content: Content::Whole(status.to_string().into_bytes().into()),
    }
}
