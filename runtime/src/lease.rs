//! Leadership by a Lease: of several replicas one writes. Times are measured on our own clock, so clocks that disagree do no harm.
//! Our own, because the crates for it read the machine's clock and take jitter from nowhere, so that no run of them can be replayed.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::{Client, core::Status};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::health::Health;
use lifecycle_client::clock::Clock;
use lifecycle_client::kube::one_line;

/// How long others wait after our last sign of life.
const DURATION: Duration = Duration::from_secs(15);
/// Time for which we continue without a renewal. The last request may arrive until `DURATION`. Two
/// processes thus never write at once, even with clocks of different speed.
const DEADLINE: Duration = DURATION.checked_sub(MARGIN).expect("the margin is a part");
/// That time.
const MARGIN: Duration = Duration::from_secs(4);
/// How often we renew; a call that is begun between two renewals ends before the deadline.
const RENEW: Duration = Duration::from_secs(2);
/// How often we look or try again.
const RETRY: Duration = Duration::from_secs(2);
/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(4);
/// How long releasing may take in all.
const RELEASE: Duration = Duration::from_secs(2);

/// Time without the Lease after which a process warns once.
const IDLE: Duration = Duration::from_secs(60);
/// Part of a process that leads, as named in readiness queries.
const PART: &str = "lease";

/// Lease that decides which process writes, and the identity of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leadership {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The unique identity of this process.
    pub identity: String,
}

/// Until when we may write; `None` while another may.
pub(crate) type Until = Option<Instant>;

/// Acquires, renews and releases one Lease.
pub(crate) struct Elector {
    leases: Api<Lease>,
    who: Leadership,
    clock: Arc<dyn Clock>,
    until: watch::Sender<Until>,
    /// The Lease as we saw it last, and since when it has looked like that.
    seen: Option<(Lease, Instant)>,
    health: Health,
    /// The last line about its Lease, so that each is logged once.
    said: String,
    /// Since when it does not lead; `None` once it has warned.
    idle_since: Option<Instant>,
}

/// Why a try to take or renew did not work.
enum Missed {
    /// Another process holds it, or was faster.
    Taken(String),
    /// The API server could not be queried.
    Failed(String),
}

impl Elector {
    pub(crate) fn new(
        client: Client,
        who: Leadership,
        clock: Arc<dyn Clock>,
        health: Health,
    ) -> (Self, watch::Receiver<Until>) {
        let (until, receiver) = watch::channel(None);
        let elector = Self {
            leases: Api::namespaced(client, &who.namespace),
            who,
            clock,
            until,
            seen: None,
            health,
            said: String::new(),
            idle_since: Some(Instant::now()),
        };
        (elector, receiver)
    }

    /// Takes the Lease when it is free and keeps it, for ever. It may be dropped, and go on later.
    pub(crate) async fn keep(&mut self) {
        loop {
            let asked = Instant::now();
            // Also where the time to write has run out meanwhile, as in a process that was suspended.
            let was_leading = self.until.borrow().is_some();
            let pause = match self.attempt().await {
                Ok(()) => {
                    if !was_leading {
                        tracing::info!(
                            lease = self.who.name,
                            identity = self.who.identity,
                            "leading"
                        );
                    }
                    self.said.clear();
                    self.idle_since = Some(asked);
                    self.health.works(PART);
                    self.health.clear_note(PART);
                    self.until.send_replace(Some(asked + DEADLINE));
                    RENEW
                }
                Err(Missed::Taken(by)) => {
                    self.lose(was_leading);
                    // Another replica leads, so nothing is wrong with this one.
                    self.health.works(PART);
                    let waits = format!("waiting for the Lease `{}`: {by}", self.who.name);
                    self.health.set_note(PART, &*waits);
                    if is_new(&mut self.said, &waits) {
                        tracing::info!("{waits}");
                    }
                    let idle = self.idle_since.map(|since| since.elapsed());
                    if idle.is_some_and(|idle| idle >= IDLE) {
                        self.idle_since = None;
                        self.warn_of_idleness(&by);
                    }
                    RETRY
                }
                Err(Missed::Failed(why)) => {
                    let failure =
                        format!("cannot take or renew the Lease `{}`: {why}", self.who.name);
                    if !self.is_leading() {
                        self.lose(was_leading);
                        self.health.clear_note(PART);
                        self.health.waits(PART, &*failure);
                    }
                    if is_new(&mut self.said, &failure) {
                        tracing::warn!("{failure}; nothing is written without it");
                    }
                    RETRY
                }
            };
            sleep(pause).await;
        }
    }

    /// Warns once about a standby. If no other replica should run, someone must investigate.
    fn warn_of_idleness(&self, by: &str) {
        let Leadership {
            namespace, name, ..
        } = &self.who;
        tracing::warn!(
            "this process has written nothing for {} s, for the Lease `{name}` in namespace `{namespace}` is {by}; \
             if no other replica should run, stop the holder",
            IDLE.as_secs()
        );
    }

    /// Releases our Lease, so that another replica need not wait for its expiry.
    pub(crate) async fn release(mut self) {
        if !self.is_leading() {
            return;
        }
        self.until.send_replace(None);
        match timeout(RELEASE, self.give_back()).await {
            Ok(Ok(())) => tracing::info!(lease = self.who.name, "gave the Lease back"),
            Ok(Err(error)) => {
                tracing::warn!(
                    lease = self.who.name,
                    "kept the Lease: {}",
                    one_line(&error)
                );
            }
            Err(_) => tracing::warn!(lease = self.who.name, "kept the Lease: no answer"),
        }
    }

    async fn give_back(&mut self) -> kube::Result<()> {
        loop {
            let ours = self.seen.take().filter(|(lease, _)| self.holds(lease));
            let Some((mut lease, _)) = ours else {
                return Ok(());
            };
            let spec = lease.spec.get_or_insert_default();
            spec.holder_identity = None;
            spec.lease_duration_seconds = Some(1);
            let params = PostParams::default();
            match self.leases.replace(&self.who.name, &params, &lease).await {
                // A renewal was pending when shutdown was requested.
                Err(kube::Error::Api(status)) if is_conflict(&status) => {
                    let found = self.leases.get_opt(&self.who.name).await?;
                    self.seen = found.map(|lease| (lease, Instant::now()));
                }
                given => return given.map(drop),
            }
        }
    }

    fn holds(&self, lease: &Lease) -> bool {
        let spec = lease.spec.as_ref();
        spec.and_then(|s| s.holder_identity.as_deref()) == Some(&self.who.identity)
    }

    fn is_leading(&self) -> bool {
        self.until
            .borrow()
            .is_some_and(|until| until > Instant::now())
    }

    fn lose(&self, was_leading: bool) {
        if was_leading {
            tracing::warn!(lease = self.who.name, "no longer leading");
        }
        self.until.send_replace(None);
    }

    /// One try to take or to renew.
    async fn attempt(&mut self) -> Result<(), Missed> {
        if self.is_ours() {
            match self.write().await {
                // The reply to our last renewal may have been lost: look before giving up.
                Err(Missed::Taken(_)) => {}
                written => return written,
            }
        }
        let found = send_request(self.leases.get_opt(&self.who.name)).await?;
        self.observe(found);
        match self.holder() {
            Some(holder) if !self.is_ours() => Err(Missed::Taken(format!("held by {holder}"))),
            Some(_) | None => self.write().await,
        }
    }

    fn is_ours(&self) -> bool {
        self.seen
            .as_ref()
            .is_some_and(|(lease, _)| self.holds(lease))
    }

    /// Notes how the Lease looks; a change of it is a sign of life of its holder.
    fn observe(&mut self, found: Option<Lease>) {
        let before = self.seen.take();
        self.seen = found.map(|lease| match before {
            Some((old, since)) if old.spec == lease.spec => (lease, since),
            Some(_) | None => (lease, Instant::now()),
        });
    }

    /// Returns the holder, unless it gave no sign of life for the whole lease duration.
    fn holder(&self) -> Option<String> {
        let (lease, since) = self.seen.as_ref()?;
        let spec = lease.spec.as_ref()?;
        let holder = spec.holder_identity.clone().filter(|h| !h.is_empty())?;
        let seconds = spec.lease_duration_seconds.unwrap_or_default();
        let duration = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
        (*since + duration > Instant::now()).then_some(holder)
    }

    async fn write(&mut self) -> Result<(), Missed> {
        let wanted = self.desired_lease();
        let params = PostParams::default();
        let written = if wanted.metadata.resource_version.is_some() {
            send_request(self.leases.replace(&self.who.name, &params, &wanted)).await
        } else {
            send_request(self.leases.create(&params, &wanted)).await
        };
        if let Err(Missed::Taken(_)) = written {
            self.seen = None;
        }
        self.seen = Some((written?, Instant::now()));
        Ok(())
    }

    /// The Lease with our sign of life; guarded by the version that was seen.
    fn desired_lease(&self) -> Lease {
        let now = MicroTime(self.clock.now());
        let mut lease = match &self.seen {
            Some((lease, _)) => lease.clone(),
            None => Lease {
                metadata: ObjectMeta {
                    name: Some(self.who.name.clone()),
                    namespace: Some(self.who.namespace.clone()),
                    ..ObjectMeta::default()
                },
                ..Lease::default()
            },
        };
        let is_ours = self.is_ours();
        let spec: &mut LeaseSpec = lease.spec.get_or_insert_default();
        if !is_ours {
            spec.acquire_time = Some(now.clone());
            spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |n| n + 1));
        }
        spec.holder_identity = Some(self.who.identity.clone());
        spec.lease_duration_seconds = i32::try_from(DURATION.as_secs()).ok();
        spec.renew_time = Some(now);
        lease
    }
}

async fn send_request<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, Missed> {
    match timeout(REQUEST, request).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(kube::Error::Api(status))) if is_conflict(&status) => {
            Err(Missed::Taken("another process wrote it".to_owned()))
        }
        Ok(Err(error)) => Err(Missed::Failed(one_line(&error))),
        Err(_) => {
            let limit = REQUEST.as_secs();
            Err(Missed::Failed(format!("no answer within {limit} s")))
        }
    }
}

fn is_conflict(status: &Status) -> bool {
    // A deleted Lease is created again after the next check.
    matches!(status.code, 409) || (status.code == 404 && status.message.contains("leases"))
}

/// Returns true if a line differs from the last one. It is logged once per text, not once per
/// attempt.
fn is_new(said: &mut String, line: &str) -> bool {
    let is_new = said != line;
    if is_new {
        line.clone_into(said);
    }
    is_new
}

#[cfg(test)]
mod tests;
