//! The only reconcile loop. It takes in the results of watches, writes and polls, wakes the
//! dependent objects, and runs reconciliations in order. It is one task without locks or scans. All
//! decisions are in `observe` and `machine`.

mod brake;
mod carry_out;
mod complete;
mod contested;
mod counted;
mod decide;
mod fence;
mod in_flight;
mod journal;
mod learn;
mod lengths;
mod log_dedup;
mod memory;
mod outage;
mod outcomes;
mod pass;
mod polls;
mod queue;
mod report;
mod ruled_out;
mod runner;
mod time;
mod trace;
mod turned;
mod turns;
mod undecodable;
mod waker;
mod why;
mod write_locks;

use std::collections::{BTreeMap, BTreeSet};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use kube::Client;
use kube::runtime::watcher::Event;
use rand::Rng;
use rand::rand_core::SeedableRng;
use rand::rngs::StdRng;
use rand_pcg::Pcg64Mcg;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::cluster::store::{Raw, Store};
use crate::cluster::watching::Feed;
pub use crate::counters::{Counters, Counts, Latency};
use crate::error::Error;
use crate::health::{BEAT, Health};
use crate::lease::Until;
use crate::lifecycle::Machine;
use crate::lifecycle::random::Randomness;
use crate::naming::Naming;
use crate::provider::Providers;
use crate::shutdown::Shutdown;
use fence::Fences;
use in_flight::{Completed, InFlightWrites};
use lifecycle_client::clock::Clock;
use log_dedup::LogDedup;
use memory::ObjectMemory;
use outage::Outage;
use polls::{Answered, Polls};
use queue::{Queue, Subject};
use runner::Runner;
pub use trace::{AlteredWrite, Move, Passed, Trace, TraceEvent, Written};
use turned::{TurnOwner, Turns};
use undecodable::Undecodable;
pub use waker::PollWaker;
pub(crate) use waker::Wakes;
pub use why::WaitReason;
use write_locks::WriteLocks;

/// Longer than any process runs.
const FOR_EVER: Duration = Duration::from_secs(1 << 31);
/// Name of the loop in the health report.
const LOOP: &str = "controller";
/// Number of reconciliations that run before the loop listens again.
const PASSES_IN_A_ROW: usize = 64;

/// Settings that every lifecycle of an operator shares.
pub(crate) struct Settings {
    /// Namespaces whose objects are reconciled. Empty means all.
    pub(crate) namespaces: BTreeSet<String>,
    pub(crate) instance: String,
    pub(crate) concurrency: usize,
    /// The bytes of the largest object that is read.
    pub(crate) largest: usize,
    pub(crate) seed: u64,
    pub(crate) randomness: Randomness,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) counters: Counters,
    /// Wakes by which the environment reports that the subject of a poll has changed.
    pub(crate) wakes: Wakes,
    /// Limits on the requests to each provider.
    pub(crate) providers: Providers,
    pub(crate) health: Health,
    /// The observer.
    pub(crate) trace: Option<Arc<dyn Trace>>,
}

/// Runs lifecycles over shared caches.
pub(crate) struct Controller {
    client: Client,
    settings: Settings,
    random: Pcg64Mcg,
    /// Source of the seeds of minted values; `None` if no lifecycle mints one.
    minting: Option<StdRng>,
    runners: Vec<Runner>,
    stores: Vec<Store>,
    feeds: Vec<Feed>,
    fences: Fences,
    queue: Queue,
    memories: BTreeMap<Subject, ObjectMemory>,
    in_flight_writes: InFlightWrites,
    write_locks: WriteLocks,
    polls: Polls,
    turns: Turns,
    undecodable: Undecodable,
    leading: Leading,
    outage: Outage,
    /// When the loop is to show that it goes round.
    beat: Instant,
    log_dedup: LogDedup,
}

/// Right of this process to write.
struct Leading {
    /// Lease that permits writes. `None` if there is only one replica.
    lease: Option<watch::Receiver<Until>>,
    was: bool,
    /// Since when that is so.
    since: Instant,
}

impl Leading {
    fn new() -> Self {
        Self {
            lease: None,
            was: false,
            since: Instant::now(),
        }
    }

    /// Until when we may write; `None`: not now.
    fn until(&self, now: Instant) -> Until {
        until(self.lease.as_ref(), now)
    }

    /// Returns a check that is true if our time to write has ended and the loop does not know it
    /// yet. The process may have been suspended since.
    fn is_over(&self) -> impl Fn() -> bool + use<> {
        let (lease, was) = (self.lease.clone(), self.was);
        move || was && until(lease.as_ref(), Instant::now()).is_none()
    }

    /// Waits for a change of the result of `until`, but not for a deadline to pass.
    async fn changed(&mut self) {
        let changed = match &mut self.lease {
            Some(lease) => lease.changed().await.is_ok(),
            None => false,
        };
        if !changed {
            pending().await
        }
    }
}

fn until(lease: Option<&watch::Receiver<Until>>, now: Instant) -> Until {
    match lease {
        None => Some(now + FOR_EVER),
        Some(lease) => lease.borrow().filter(|until| *until > now),
    }
}

/// Cause for which the loop woke.
enum LoopEvent {
    Completed(Vec<Completed>),
    /// The time to write has ended, after these.
    Over(Vec<Completed>),
    Answered(Vec<Answered>),
    /// Subjects that have a turn at a provider.
    Turned(Vec<(TurnOwner, Instant)>),
    /// Events of feeds, by their positions.
    Watched(Vec<(usize, Vec<Event<Raw>>)>),
}

impl Controller {
    pub(crate) fn new(
        client: Client,
        lifecycles: Vec<(Arc<dyn Machine>, Naming)>,
        settings: Settings,
    ) -> Result<Self, Error> {
        let mut stores = Vec::new();
        let runners = lifecycles
            .into_iter()
            .map(|(machine, naming)| Runner::new(machine, naming, &mut stores, &settings))
            .collect::<Result<Vec<_>, _>>()?;
        for runner in &runners {
            stores[runner.subject_store].limit(settings.largest);
        }
        let feeds = feeds(&client, &runners, &stores);
        for feed in &feeds {
            let part = stores[feed.store].part_name(feed.part);
            settings.health.waits(part, "not listed yet");
        }
        let minting = minting(&runners, settings.randomness)?;
        Ok(Self {
            polls: Polls::woken_by(settings.wakes.clone()),
            feeds,
            random: Pcg64Mcg::seed_from_u64(settings.seed),
            minting,
            client,
            settings,
            runners,
            stores,
            fences: Fences::default(),
            queue: Queue::default(),
            memories: BTreeMap::new(),
            in_flight_writes: InFlightWrites::default(),
            write_locks: WriteLocks::default(),
            turns: Turns::default(),
            undecodable: Undecodable::default(),
            leading: Leading::new(),
            outage: Outage::default(),
            beat: Instant::now(),
            log_dedup: LogDedup::default(),
        })
    }

    /// Runs until shutdown is requested, then drops pending requests.
    pub(crate) async fn run(
        mut self,
        mut shutdown: Shutdown,
        lease: Option<watch::Receiver<Until>>,
    ) {
        self.leading.lease = lease;
        self.count_leading();
        self.trace_begin();
        while self.step(&mut shutdown).await {}
        self.settings.health.mark_ended(LOOP);
    }

    /// Runs the due work, then waits for one event. Returns true if the loop continues.
    async fn step(&mut self, shutdown: &mut Shutdown) -> bool {
        self.show_health();
        self.lead();
        self.wake_polls();
        let more = self.work();
        let next = self.next_due(more);
        let is_over = self.leading.is_over();
        let writes = (&mut self.in_flight_writes, &is_over);
        tokio::select! {
            biased;
            () = shutdown.wait() => return false,
            () = self.leading.changed() => {}
            event = next_event(writes, (&mut self.turns, &mut self.polls), &mut self.feeds, &mut self.random) => self.take(event),
            () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            () = sleep_until(self.beat) => {}
        }
        true
    }

    /// Reports from time to time that the loop is alive, and the kinds whose watches are silent.
    fn show_health(&mut self) {
        let now = Instant::now();
        if now < self.beat {
            return;
        }
        self.beat = now + BEAT;
        let health = &self.settings.health;
        health.beats(LOOP);
        let counters = &self.settings.counters;
        let mut heard: BTreeMap<&str, Instant> = BTreeMap::new();
        for Feed { store, part, watch } in &self.feeds {
            let store = &self.stores[*store];
            watch.show_health((store, *part), health, now);
            let at = watch.heard_at();
            let oldest = heard.entry(&store.kind.kind).or_insert(at);
            *oldest = at.min(*oldest);
        }
        for (kind, at) in heard {
            counters.heard_of(kind, at);
        }
        let due = self.queue.due(now);
        counters.update(|counts| counts.due = due);
    }

    /// Starts to write, or drops pending requests. After the end of a Lease, another replica
    /// writes.
    fn lead(&mut self) {
        let now = Instant::now();
        let leading = self.leading.until(now).is_some();
        if leading == self.leading.was {
            return;
        }
        if leading {
            self.leading.was = true;
            self.leading.since = now;
            self.count_leading();
            (0..self.runners.len()).for_each(|lifecycle| self.wake_all(lifecycle, now));
        } else {
            self.stop_writing();
        }
    }

    fn stop_writing(&mut self) {
        self.leading.was = false;
        self.count_leading();
        self.uncount_all_places();
        self.in_flight_writes = InFlightWrites::default();
        self.write_locks = WriteLocks::default();
        self.leave_all_lines();
        self.polls.leave_all_lines();
        for memory in self.memories.values_mut() {
            memory.busy = false;
            memory.differs_since = None;
        }
    }

    /// Returns the time at which a reconciliation or a poll is due, or the time to write ends.
    /// Returns the current time if reconciliations remain.
    fn next_due(&self, more: bool) -> Option<Instant> {
        let end = self.leading.until(Instant::now())?;
        let free = self.in_flight_writes.len() < self.settings.concurrency;
        let pass = self.queue.next().filter(|_| free);
        let pass = pass.map(|at| self.outage.until().map_or(at, |until| at.max(until)));
        let now = more.then(Instant::now);
        [pass, now, self.polls.next(), Some(end)]
            .into_iter()
            .flatten()
            .min()
    }

    fn take(&mut self, event: LoopEvent) {
        match event {
            LoopEvent::Completed(completed) => completed.into_iter().for_each(|l| self.complete(l)),
            LoopEvent::Over(completed) => {
                completed.into_iter().for_each(|l| self.complete(l));
                self.stop_writing();
            }
            LoopEvent::Answered(all) => all.into_iter().for_each(|a| self.handle_answer(a)),
            LoopEvent::Turned(all) => all
                .into_iter()
                .for_each(|(whose, at)| self.turned(whose, at)),
            LoopEvent::Watched(all) => {
                for (feed, events) in all {
                    events.into_iter().for_each(|e| self.watched(feed, e));
                }
            }
        }
    }

    /// Handles one event of a feed, and wakes the objects that depend on the changed object.
    fn watched(&mut self, feed: usize, event: Event<Raw>) {
        let now = Instant::now();
        let (number, part) = (self.feeds[feed].store, self.feeds[feed].part);
        let listed = matches!(event, Event::InitDone);
        let was_synced = self.stores[number].is_part_synced(part);
        for change in self.stores[number].take_in(part, event) {
            self.trace_change(number, &change);
            self.undecodable
                .record_change(number, &self.stores[number].kind, &change);
            let at = (number, change.name.clone());
            let mut woken = self.fences.check_fence(&at, &self.stores[number]);
            for (lifecycle, runner) in self.runners.iter_mut().enumerate() {
                let dependencies = runner.changed(number, &change);
                if change.same {
                    continue;
                }
                let subjects = dependencies
                    .into_iter()
                    .map(|name| Subject { lifecycle, name });
                woken.extend(subjects);
                if runner.subject_store == number {
                    woken.insert(Subject {
                        lifecycle,
                        name: change.name.clone(),
                    });
                }
            }
            self.wake(woken, now);
        }
        if listed {
            let woken = self.fences.listed(number, &self.stores[number]);
            self.wake(woken, now);
        }
        if listed && !was_synced {
            self.synced(feed, now);
        }
    }

    fn wake(&mut self, subjects: BTreeSet<Subject>, now: Instant) {
        for subject in subjects {
            self.queue.add(subject, now);
        }
    }

    /// Starts the lifecycles that waited only for this cache.
    fn synced(&mut self, feed: usize, now: Instant) {
        let Feed { store, part, watch } = &self.feeds[feed];
        let (number, part) = (*store, *part);
        let store = &self.stores[number];
        tracing::debug!(kind = ?store.kind, "{} is listed", store.part_name(part));
        watch.show_health((store, part), &self.settings.health, now);
        for lifecycle in 0..self.runners.len() {
            if self.runners[lifecycle].needs.contains(&number) && self.is_synced(lifecycle) {
                tracing::info!(
                    lifecycle = self.runners[lifecycle].ir.name,
                    "all caches are there"
                );
                self.wake_all(lifecycle, now);
            }
        }
    }

    fn is_synced(&self, lifecycle: usize) -> bool {
        let mut needs = self.runners[lifecycle].needs.iter();
        needs.all(|&store| self.stores[store].is_synced())
    }

    fn wake_all(&mut self, lifecycle: usize, now: Instant) {
        let store = &self.stores[self.runners[lifecycle].subject_store];
        for name in store.names() {
            let name = name.clone();
            self.queue.add(Subject { lifecycle, name }, now);
        }
    }

    /// Runs the due reconciliations while writes are permitted. Returns true if some remain.
    fn work(&mut self) -> bool {
        if !self.leading.was {
            return false;
        }
        let now = Instant::now();
        self.start_polls(now);
        if self.outage.until().is_some_and(|until| until > now) {
            self.leave_all_lines();
            return false;
        }
        self.tell_undecodable();
        for _ in 0..PASSES_IN_A_ROW {
            // The process may have been suspended between two reconciliations, and another replica
            // may lead by now.
            let moment = Instant::now();
            let leads = self.leading.until(moment).is_some();
            if !leads || self.in_flight_writes.len() >= self.settings.concurrency {
                return false;
            }
            let Some((due, subject)) = self.queue.pop(now) else {
                return false;
            };
            if self.is_synced(subject.lifecycle) {
                self.count_wait(due, moment);
                self.pass(&subject, now);
            }
        }
        true
    }

    fn random(&mut self) -> u64 {
        self.random.next_u64()
    }
}

/// The watches that feed the caches: of each namespace one where some are named, of the objects alone that a lifecycle can find.
fn feeds(client: &Client, runners: &[Runner], stores: &[Store]) -> Vec<Feed> {
    let mut feeds = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let labels = runners.iter().filter_map(|runner| runner.labels_of(number));
        let labels = labels.reduce(|all, some| &all & &some).unwrap_or_default();
        let labels = labels.into_iter().collect::<Vec<_>>().join(",");
        feeds.extend(Feed::for_store(client, (number, store), ("", &labels)));
    }
    feeds
}

/// Returns the source of the seeds of minted values, if a lifecycle mints one.
fn minting(runners: &[Runner], randomness: Randomness) -> Result<Option<StdRng>, Error> {
    let Some(runner) = runners.iter().find(|runner| runner.ir.mints()) else {
        return Ok(None);
    };
    let lifecycle = runner.ir.name;
    let source = randomness.source().ok_or(Error::Randomness { lifecycle })?;
    Ok(Some(source))
}

/// Waits for writes, turns, polls and feeds, in this order; each kind in fixed order.
async fn next_event(
    (in_flight_writes, is_over): (&mut InFlightWrites, &(impl Fn() -> bool + Sync)),
    (turns, polls): (&mut Turns, &mut Polls),
    feeds: &mut [Feed],
    random: &mut Pcg64Mcg,
) -> LoopEvent {
    poll_fn(|cx| {
        let completed = in_flight_writes.poll(cx, is_over);
        if is_over() {
            let completed = match completed {
                Poll::Ready(completed) => completed,
                Poll::Pending => Vec::new(),
            };
            return Poll::Ready(LoopEvent::Over(completed));
        }
        if let Poll::Ready(completed) = completed {
            return Poll::Ready(LoopEvent::Completed(completed));
        }
        if let Poll::Ready(turned) = turns.poll(cx) {
            return Poll::Ready(LoopEvent::Turned(turned));
        }
        if let Poll::Ready(answered) = polls.poll(cx) {
            return Poll::Ready(LoopEvent::Answered(answered));
        }
        let mut ready = Vec::new();
        for (number, feed) in feeds.iter_mut().enumerate() {
            if let Poll::Ready(events) = feed.watch.poll(cx, &mut || random.next_u64()) {
                ready.push((number, events));
            }
        }
        if ready.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(LoopEvent::Watched(ready))
        }
    })
    .await
}

#[cfg(test)]
mod tests;
