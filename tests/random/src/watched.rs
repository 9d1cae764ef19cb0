//! What the driver did, as it says itself and as it went over the wire.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response};
use lifecycle_oracle::meaning::{Named, Place, Step};
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
/// So many writes without rest are no work any more.
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

/// A pass as the driver tells of it.
#[derive(Clone, Debug)]
pub struct Pass {
    /// By name, as the oracle calls facts.
    pub world: Named,
    /// Where it is, by the driver; `None`: in a world that cannot be.
    pub place: Option<Place>,
    /// What is done, by the driver.
    pub step: Step,
    /// What the pass does.
    pub does: Move,
    /// Why there is no world.
    pub failure: Option<String>,
    /// What the checker ruled out, by the driver.
    pub ruled_out: Option<String>,
    /// When.
    pub at: Instant,
}

/// Everything that one driver did, and what is done to its writes.
#[derive(Debug, Default)]
pub struct Watched {
    log: Mutex<Vec<Entry>>,
    wire: Mutex<Wire>,
}

/// What is on the wire.
#[derive(Debug, Default)]
pub struct Wire {
    /// Writes since the last rest, events aside.
    pub writes: Vec<String>,
    /// All of them.
    pub all: usize,
    /// Kinds whose applies are refused.
    pub refused: BTreeSet<usize>,
}

impl Wire {
    /// Whether it writes on and on.
    pub fn is_hot(&self) -> bool {
        self.writes.len() > HOT
    }
}

impl Watched {
    /// What is on the wire.
    pub fn wire(&self) -> MutexGuard<'_, Wire> {
        self.wire.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was done since this was asked last.
    pub fn take(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The last pass, as long as it was not taken.
    pub fn passes(&self) -> usize {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    fn note(&self, entry: Entry) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(entry);
    }
}

/// What the oracle calls a question.
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
                    Class::Deleting => Some(Place::Deleting),
                    Class::Refused { .. } => Some(Place::Refused),
                    Class::State(state) => Some(Place::State(ir.states[state].name.to_owned())),
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
        self.note(entry);
    }
}

/// The way of a driver to its server.
#[derive(Clone, Debug)]
pub struct Line {
    /// Who looks on.
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
                let refused = kind_of(&path).is_some_and(|kind| wire.refused.contains(&kind));
                (
                    wire.is_hot(),
                    refused && method == Method::PATCH && !path.ends_with("/status"),
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
                watched.note(Entry::Told(told));
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
