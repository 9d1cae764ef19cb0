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

use crate::changes::by_object;
use crate::dry_run::{self, DryRun};
use crate::error::Error;
use crate::missing::{Own, of_others};
use crate::observer::Observer;
use crate::planned::Planned;
use crate::restarts::restart;

const LOOK: Duration = Duration::from_millis(50);
/// After so many looks that saw nothing happen it counts as at rest: 2.5 s, for a report waits a second for what may change it, with jitter. Looks are
/// counted, and not time, so that a process that got no core does not count as one that had nothing to do.
const QUIET: usize = 50;

/// What an operator gets to run with.
#[derive(Clone)]
pub struct Operator {
    /// A client of the copy.
    pub client: Client,
    /// Who is to be told of each pass and write.
    pub trace: Arc<dyn Trace>,
    /// Where its parts say whether they are ready: until then it does not count as at rest.
    pub health: Health,
    /// When it is to end.
    pub shutdown: Shutdown,
    mirror: Mirror,
    own: Arc<Own>,
}

impl Operator {
    /// Says which kinds are the operator's own, before it begins: of those that the cluster does not have, the plan names the definition and `install`, the
    /// command that installs it. Where the operator does not install them itself (`maintained`), it goes on as if somebody had.
    pub fn own_kinds(&self, kinds: &[Kinds], (install, maintained): (&str, bool)) {
        self.own.look(&self.mirror, kinds, (install, maintained));
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator").finish_non_exhaustive()
    }
}

/// Runs an operator in a copy of the cluster that `live` is connected to, and says what it wrote until it came to rest, or `limit` was over.
///
/// # Guarantees
/// The live cluster is read by get and list; with [`DryRun::Server`] it is asked besides for its opinion of each first write, which it does not keep.
///
/// # Errors
/// Something that the operator looks at cannot be read, or the operator ends.
pub async fn plan<F, E>(
    live: &Client,
    (dry_run, limit): (DryRun, Duration),
    start: impl FnOnce(Operator) -> F,
) -> Result<Planned, Error>
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let mirror = Mirror::of(live.clone())
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
    let mut planned = told(&mirror, &observer);
    planned.unfinished = !rests;
    planned.missing = own.missing();
    planned.missing.extend(of_others(live, unserved).await);
    if dry_run == DryRun::Server {
        dry_run::ask(live, &mirror.writes(), &mut planned.changes).await;
    }
    Ok(planned)
}

/// Waits until the operator is ready and nothing happens any more, or something cannot be read; whether it came to that. What waits for its definitions is
/// quiet, too, and has not looked at anything. What waits for a kind that the cluster does not have never gets ready, and the rest goes on.
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

fn told(mirror: &Mirror, observer: &Observer) -> Planned {
    let writes = mirror.writes();
    let (objects, waiting) = observer.stands();
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
