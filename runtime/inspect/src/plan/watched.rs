//! An operator at work in a copy of a cluster, until it has nothing left to do.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::Mirror;
use tokio::time::{Instant, sleep};

use crate::plan::changes::by_object;
use crate::plan::dry_run::{self, DryRun};
use crate::plan::error::Error;
use crate::plan::missing::{Own, of_others};
use crate::plan::observer::Observer;
use crate::plan::planned::Planned;
use crate::plan::restarts::restart;

const LOOK: Duration = Duration::from_millis(50);
/// Number of looks without an event after which the operator counts as settled: 2.5 s, because a
/// report waits a second for changes, with jitter. Counting looks instead of time ensures that a
/// process without a CPU core does not count as idle.
const QUIET: usize = 50;

/// Environment in which an operator runs.
#[derive(Clone)]
pub struct Operator {
    /// A client of the copy.
    pub client: Client,
    /// Trace that receives each reconcile and each write.
    pub trace: Arc<dyn Trace>,
    /// Health of its parts, which report here that they are ready. Until then the operator does not
    /// count as settled.
    pub health: Health,
    /// When it is to end.
    pub shutdown: Shutdown,
    mirror: Mirror,
    own: Arc<Own>,
}

impl Operator {
    /// Declares the operator's own kinds before it begins. If the cluster does not have one, the
    /// plan names its definition and `install`, the command that installs it. If the operator does
    /// not install the definitions itself (`maintained`), it goes on as if a user had installed
    /// them.
    pub fn own_kinds(&self, kinds: &[Kinds], (install, maintained): (&str, bool)) {
        self.own
            .record_missing(&self.mirror, kinds, (install, maintained));
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").finish_non_exhaustive()
    }
}

/// Runs an operator in a copy of the cluster behind `live`. Returns its writes until it settled or
/// `limit` elapsed.
///
/// # Guarantees
/// Reads the live cluster by get and list. With [`DryRun::Server`], also requests its verdict on
/// each first write, which it does not persist.
///
/// # Errors
/// Returns an error if an object that the operator needs cannot be read, or if the operator ends.
pub async fn plan<F, E>(
    live: &Client,
    (dry_run, limit): (DryRun, Duration),
    start: impl FnOnce(Operator) -> F,
) -> Result<Planned, Error>
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let mirror = Mirror::from_client(live.clone())
        .await
        .map_err(|unread| Error::Unreadable(vec![unread]))?;
    let (trigger, shutdown) = Shutdown::pair();
    let (observer, health) = (Arc::new(Observer::default()), Health::default());
    let own = Arc::new(Own::default());
    let running = start(Operator {
        client: mirror.client(),
        trace: observer.clone(),
        health: health.clone(),
        shutdown,
        mirror: mirror.clone(),
        own: Arc::clone(&own),
    });
    let rests = tokio::select! {
        biased;
        ended = running => return Err(Error::Ended(match ended {
            Ok(()) => "it ended by itself".to_owned(),
            Err(error) => error.to_string(),
        })),
        rests = at_rest(&mirror, (&observer, &health), limit) => rests,
    };
    trigger.stop();
    let unread = mirror.unread();
    if !unread.is_empty() {
        return Err(Error::Unreadable(unread));
    }
    let (waiting, unserved) = (health.missing(), mirror.unserved());
    if !waiting.is_empty() && unserved.is_empty() {
        return Err(Error::NotReady(waiting));
    }
    let mut planned = build_plan(&mirror, &observer);
    planned.unfinished = !rests;
    planned.missing = own.missing();
    planned.missing.extend(of_others(live, unserved).await);
    if dry_run == DryRun::Server {
        dry_run::check_changes(live, &mirror.writes(), &mut planned.changes).await;
    }
    Ok(planned)
}

/// Waits until the operator is ready and idle, or until a read fails. Returns false if neither
/// happens within the limit. An operator that waits for its definitions is also idle, and has not
/// read any object. A part that waits for a kind that the cluster lacks never becomes ready. The
/// other parts continue.
async fn at_rest(
    mirror: &Mirror,
    (observer, health): (&Observer, &Health),
    limit: Duration,
) -> bool {
    let began = Instant::now();
    let mut last = (observer.moments(), mirror.requests().0);
    let mut quiet = 0;
    loop {
        sleep(LOOK).await;
        let (came, waiting) = mirror.requests();
        let now = (observer.moments(), came);
        quiet = if now == last && waiting == 0 {
            quiet + 1
        } else {
            0
        };
        last = now;
        let is_ready = || health.missing().is_empty() || !mirror.unserved().is_empty();
        let is_quiet = quiet >= QUIET && is_ready();
        if is_quiet || !mirror.unread().is_empty() {
            return true;
        }
        if began.elapsed() >= limit {
            return false;
        }
    }
}

fn build_plan(mirror: &Mirror, observer: &Observer) -> Planned {
    let writes = mirror.writes();
    let (objects, waiting) = observer.object_summary();
    let mut planned = Planned {
        objects,
        waiting,
        ..Planned::default()
    };
    for written in by_object(&writes) {
        let Some(change) = written.change() else {
            continue;
        };
        planned.restarts.extend(restart(&change, &written));
        planned.changes.push(change);
    }
    planned
}
