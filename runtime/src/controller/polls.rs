//! Polls at intervals, shared by all objects with equal queries. A changed answer wakes these
//! objects.

mod in_line;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll as Ready};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::Controller;
use super::queue::Subject;
use super::turned::{PollId as Id, Turns};
use super::waker::Wakes;
use crate::cluster::store::Name;
use crate::lifecycle::call::{CallError, Reply};
use crate::lifecycle::{Machine, Observation};
use crate::provider::{InFlight, LONG as LONG_IN_LINE, Provider, Turn};

/// Machine that runs the polls of an input, and the provider that they query.
pub(crate) type PollSource = (Arc<dyn Machine>, Option<Arc<Provider>>);

/// An answer is good for this many intervals, and never for less than `LEAST_GRACE`.
const GRACE: u32 = 3;
const LEAST_GRACE: Duration = Duration::from_secs(10);
/// How long one question may take.
const LONGEST: Duration = Duration::from_secs(10);
/// Delay before a status reports a missing answer. A starting process, or one lost answer, is not
/// reported.
const PATIENCE: Duration = Duration::from_secs(10);
/// Delay of the retry after a failure, while an object waits for the answer.
const AGAIN: Duration = Duration::from_secs(1);
/// Limits on concurrent queries: the base limit, and the total limit that includes queries pending
/// for longer than `LONG`. A provider that never answers does not block the others.
const AT_ONCE: usize = 16;
const MOST: usize = 256;
const LONG: Duration = Duration::from_secs(1);

struct Poll {
    observation: Arc<Observation>,
    /// The shortest that one of those wants who ask.
    every: Duration,
    /// Answer, with the turn of its query.
    answer: Option<(Reply, u64)>,
    /// When that came.
    answered: Instant,
    /// Time until which the answer is valid.
    good_until: Instant,
    error: Option<String>,
    /// Counts the answers that differed from the one before.
    version: u64,
    /// Until then the provider wants to be left alone.
    free: Instant,
    /// Time of the last query.
    asked: Option<Instant>,
    /// True if the subject of the poll has changed since the running query left.
    again: bool,
    /// Time of the next query. `None` while a query is pending or waits for its turn.
    due: Option<Instant>,
    /// Its place in the line of its provider.
    turn: Option<Turn>,
    /// Subjects of the poll, each with its interval.
    askers: BTreeMap<Name, Duration>,
    /// The same, the shortest first.
    wanted: BTreeSet<(Duration, Name)>,
    /// Subjects that wait for an answer to a query that left after their own call.
    waiting: BTreeSet<Name>,
}

/// A question that was answered.
pub(crate) struct Answered {
    id: Id,
    asked: u64,
    answer: Result<Reply, CallError>,
}

type Question = Pin<Box<dyn Future<Output = Answered> + Send>>;

#[derive(Default)]
pub(crate) struct Polls {
    all: BTreeMap<Id, Poll>,
    due: BTreeSet<(Instant, Id)>,
    /// End times of answers that expire before their next query.
    lapses: BTreeSet<(Instant, Id)>,
    /// Questions under way and since when, in their order.
    asking: Vec<(Instant, Question)>,
    /// Pending queries of limited providers.
    placed: Vec<Question>,
    turn: u64,
    wakes: Wakes,
}

impl Polls {
    /// Returns polls that query again whenever these wakes report a change.
    pub(crate) fn woken_by(wakes: Wakes) -> Self {
        Self {
            wakes,
            ..Self::default()
        }
    }

    /// Numbers queries and ends of calls in order, because clocks cannot order simultaneous ones.
    pub(crate) fn turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// Returns the answer while it is valid, otherwise the reason for its absence.
    pub(crate) fn answer(
        &self,
        lifecycle: usize,
        input: usize,
        key: &str,
    ) -> Result<Arc<dyn Any + Send + Sync>, String> {
        let none = "it has not been queried yet";
        let poll = self.all.get(&(lifecycle, input, key.to_owned()));
        let poll = poll.ok_or(none)?;
        match &poll.answer {
            Some((reply, _)) if poll.good_until > Instant::now() => Ok(Arc::clone(&reply.answer)),
            Some(_) | None => Err(poll.error.clone().unwrap_or_else(|| match &poll.turn {
                Some(turn) => {
                    format!(
                        "it waits for its turn at provider `{}`",
                        turn.provider().name()
                    )
                }
                None => none.to_owned(),
            })),
        }
    }

    /// Returns the version of the answer. A different number means a different answer.
    pub(crate) fn version(&self, lifecycle: usize, input: usize, key: &str) -> u64 {
        let poll = self.all.get(&(lifecycle, input, key.to_owned()));
        poll.map_or(0, |poll| poll.version)
    }

    /// Returns the time until which no status is reported, because a query of this object has no
    /// answer yet or has just lost it.
    pub(crate) fn open_until(
        &self,
        asker: &Subject,
        polls: &[(usize, String)],
        now: Instant,
    ) -> Option<Instant> {
        let open = polls.iter().filter_map(|(input, key)| {
            let id = (asker.lifecycle, *input, key.clone());
            let poll = self.all.get(&id)?;
            // Many queries may precede it, and each takes its time.
            let is_new = poll.answer.is_none() && poll.error.is_none();
            let until = match &poll.turn {
                Some(turn) if is_new => turn.since() + LONG_IN_LINE,
                Some(_) | None if is_new => now + PATIENCE,
                Some(_) | None => poll.good_until + PATIENCE,
            };
            // The validity of a new poll ends when it is requested, a moment after the
            // observation.
            (until > now && (is_new || poll.good_until <= now)).then_some(until)
        });
        open.max()
    }

    /// Records the queries of an object, with an observation for them.
    pub(crate) fn register(
        &mut self,
        asker: &Subject,
        before: &BTreeSet<(usize, String)>,
        now: &BTreeSet<(usize, String)>,
        (observation, every): (&Arc<Observation>, impl Fn(usize) -> Duration),
    ) {
        self.dispatch(asker, before.difference(now));
        for (input, key) in now {
            let id = (asker.lifecycle, *input, key.clone());
            let is_new = !self.all.contains_key(&id);
            let poll = self.all.entry(id.clone()).or_insert_with(|| Poll {
                observation: Arc::clone(observation),
                every: every(*input),
                answer: None,
                answered: Instant::now(),
                good_until: Instant::now(),
                error: None,
                version: 0,
                free: Instant::now(),
                asked: None,
                again: false,
                due: None,
                turn: None,
                askers: BTreeMap::new(),
                wanted: BTreeSet::new(),
                waiting: BTreeSet::new(),
            });
            poll.observation = Arc::clone(observation);
            let is_other = poll.wants(&asker.name, Some(every(*input)));
            if is_new {
                self.schedule(&id, Instant::now());
            } else if is_other {
                self.hasten(&id);
            }
        }
    }

    /// Records that an object no longer needs these queries.
    pub(crate) fn dispatch<'a>(
        &mut self,
        asker: &Subject,
        polls: impl IntoIterator<Item = &'a (usize, String)>,
    ) {
        for (input, key) in polls {
            let id = (asker.lifecycle, *input, key.clone());
            if let Some(poll) = self.all.get_mut(&id) {
                poll.wants(&asker.name, None);
                if poll.askers.is_empty() {
                    let due = poll.due;
                    self.all.remove(&id);
                    due.map(|at| self.due.remove(&(at, id)));
                }
            }
        }
    }

    /// Schedules the next query by the shortest interval. An earlier schedule is kept.
    fn hasten(&mut self, id: &Id) {
        let Some(poll) = self.all.get(id) else {
            return;
        };
        let soonest = poll.asked.map(|asked| asked + poll.every);
        if let (Some(soonest), Some(due)) = (soonest, poll.due)
            && soonest < due
        {
            self.schedule(id, soonest.max(Instant::now()));
        }
    }

    /// Puts a question at a time, in place of any other; not before the provider wants it.
    fn schedule(&mut self, id: &Id, at: Instant) {
        if let Some(poll) = self.all.get_mut(id) {
            let at = at.max(poll.free);
            if let Some(before) = poll.due.replace(at) {
                self.due.remove(&(before, id.clone()));
            }
            self.due.insert((at, id.clone()));
        }
    }

    /// Returns true if the answer that an object saw is older than its own last call. In that case
    /// the poll is queried again at once.
    pub(crate) fn is_older(&mut self, asker: &Subject, poll: &(usize, String), call: u64) -> bool {
        let id = (asker.lifecycle, poll.0, poll.1.clone());
        let Some(known) = self.all.get_mut(&id) else {
            return false;
        };
        let older = known
            .answer
            .as_ref()
            .is_some_and(|(_, asked)| *asked < call);
        let is_asked = known.due.is_none();
        if older && known.waiting.insert(asker.name.clone()) && !is_asked {
            self.schedule(&id, Instant::now());
        }
        older
    }

    pub(crate) fn next(&self) -> Option<Instant> {
        let due = self.due.first().map(|(at, _)| *at);
        let due = due.filter(|_| self.asking.len() < MOST);
        let due = due.map(|at| self.free_at().map_or(at, |free| free.max(at)));
        let lapses = self.lapses.first().map(|(at, _)| *at);
        due.into_iter().chain(lapses).min()
    }

    /// Returns the time at which the next query may start, unless at once. The oldest of the last
    /// few queries has then been pending for `LONG`.
    fn free_at(&self) -> Option<Instant> {
        let oldest = self.asking.len().checked_sub(AT_ONCE)?;
        Some(self.asking[oldest].0 + LONG)
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Ready<Vec<Answered>> {
        let mut answered = Vec::new();
        self.asking
            .retain_mut(|(_, question)| match question.as_mut().poll(cx) {
                Ready::Ready(answer) => {
                    answered.push(answer);
                    false
                }
                Ready::Pending => true,
            });
        self.placed
            .retain_mut(|question| match question.as_mut().poll(cx) {
                Ready::Ready(answer) => {
                    answered.push(answer);
                    false
                }
                Ready::Pending => true,
            });
        if answered.is_empty() && !self.wakes.is_said(cx) {
            Ready::Pending
        } else {
            Ready::Ready(answered)
        }
    }

    /// Schedules an early query for each reported change. `name` returns the name of a poll.
    fn wake(&mut self, now: Instant, name: impl Fn(usize, usize) -> &'static str) {
        let said = self.wakes.take();
        if said.is_empty() {
            return;
        }
        let meant = self.all.keys().filter(|(lifecycle, input, key)| {
            let changed = said.get(name(*lifecycle, *input));
            changed.is_some_and(|changed| changed.means(key))
        });
        for id in meant.cloned().collect::<Vec<_>>() {
            if let Some(poll) = self.all.get_mut(&id) {
                poll.again = poll.due.is_none() && poll.turn.is_none();
                let soonest = poll.asked.map_or(now, |asked| now.max(asked + AGAIN));
                if poll.due.is_some_and(|due| due > soonest) {
                    self.schedule(&id, soonest);
                }
            }
        }
    }

    /// Starts the due queries, and returns their number.
    fn start(&mut self, now: Instant, lines: (&impl Fn(&Id) -> PollSource, &Turns)) -> u64 {
        let mut left = 0;
        while self.asking.len() < MOST && self.free_at().is_none_or(|free| free <= now) {
            let Some((at, id)) = self.due.pop_first() else {
                break;
            };
            if at > now {
                self.due.insert((at, id));
                break;
            }
            if let Some(poll) = self.all.get_mut(&id) {
                poll.due = None;
            }
            let (machine, provider) = lines.0(&id);
            let asks = (machine.ir().name, provider.as_ref());
            match self.take_turn(&id, now, asks, lines.1) {
                Ok(place) => {
                    self.leave(now, id, machine, place);
                    left += 1;
                }
                Err(Some(at)) => self.schedule(&id, at),
                Err(None) => self.may_lapse(&id),
            }
        }
        left
    }

    /// Handles an answer, and returns the objects to reconcile.
    fn take(&mut self, answered: Answered) -> BTreeSet<Name> {
        let now = Instant::now();
        let Some(poll) = self.all.get_mut(&answered.id) else {
            return BTreeSet::new();
        };
        let was_known = poll.answer.is_some();
        let mut woken = std::mem::take(&mut poll.waiting);
        let mut next = now + poll.every;
        match answered.answer {
            Ok(reply) => {
                // An object that read the answer after its expiry got none.
                let was_good = poll.good_until > now;
                let same = matches!(&poll.answer, Some((old, _)) if old.says_the_same(&reply));
                let same = same && was_good;
                poll.answer = Some((reply, answered.asked));
                (poll.answered, poll.good_until) = (now, now + poll.grace());
                poll.error = None;
                if !same {
                    poll.version += 1;
                    woken.extend(poll.askers.keys().cloned());
                }
            }
            Err(error) => {
                poll.free = now + error.after().unwrap_or_default();
                let said = Some(error.to_string());
                let news = poll.error != said;
                poll.error = said;
                if now >= poll.good_until && (was_known || news) {
                    poll.answer = None;
                    poll.version += 1;
                    woken.extend(poll.askers.keys().cloned());
                } else if poll.answer.is_some() {
                    // They would see the old answer again, and ask again at once.
                    poll.waiting = std::mem::take(&mut woken);
                }
            }
        }
        if std::mem::take(&mut poll.again) || !poll.waiting.is_empty() {
            next = now + poll.every.min(AGAIN);
        }
        self.schedule(&answered.id, next);
        self.may_lapse(&answered.id);
        woken
    }
}

impl Poll {
    /// For how long an answer is good.
    fn grace(&self) -> Duration {
        (self.every * GRACE).max(LEAST_GRACE)
    }

    /// Records the interval that an object wants, or that it no longer needs the poll. Returns true
    /// if the shortest interval changes.
    fn wants(&mut self, asker: &Name, every: Option<Duration>) -> bool {
        let before = match every {
            Some(every) => self.askers.insert(asker.clone(), every),
            None => self.askers.remove(asker),
        };
        if before == every {
            return false;
        }
        if let Some(before) = before {
            self.wanted.remove(&(before, asker.clone()));
        }
        self.wanted
            .extend(every.map(|every| (every, asker.clone())));
        let Some((shortest, _)) = self.wanted.first() else {
            return false;
        };
        let is_other = std::mem::replace(&mut self.every, *shortest) != *shortest;
        let now = Instant::now();
        if is_other && self.answer.is_some() && self.good_until > now {
            // The new interval leaves time for a query before the answer expires.
            self.good_until = (self.answered + self.grace()).max(now + LEAST_GRACE);
        }
        is_other
    }
}

fn question(
    (machine, place): (Arc<dyn Machine>, Option<InFlight>),
    observation: Arc<Observation>,
    id: Id,
    asked: u64,
) -> Question {
    Box::pin(async move {
        let answer = match machine.poll(&observation, id.1) {
            None => Err(CallError::Failed("it cannot be queried yet".to_owned())),
            Some(asking) => timeout(LONGEST, asking).await.unwrap_or_else(|_| {
                let said = format!("there was no answer within {} s", LONGEST.as_secs());
                Err(CallError::Failed(said))
            }),
        };
        if let Some(place) = place {
            place.record_outcome(&answer);
        }
        Answered { id, asked, answer }
    })
}

impl Controller {
    /// Takes in wakes from the environment, even while another process leads. Otherwise they would
    /// stay queued forever.
    pub(super) fn wake_polls(&mut self) {
        let runners = &self.runners;
        let name = |lifecycle: usize, input: usize| runners[lifecycle].ir.inputs[input].name;
        self.polls.wake(Instant::now(), name);
    }

    pub(super) fn start_polls(&mut self, now: Instant) {
        for (lifecycle, names) in self.polls.lapsed(now) {
            let subjects = names.into_iter().map(|name| Subject { lifecycle, name });
            self.wake(subjects.collect(), now);
        }
        let runners = &self.runners;
        let asks = |id: &Id| {
            let runner = &runners[id.0];
            (Arc::clone(&runner.machine), runner.providers[id.1].clone())
        };
        let left = self.polls.start(now, (&asks, &self.turns));
        if left > 0 {
            self.settings.counters.update(|c| c.polls += left);
        }
    }

    pub(super) fn handle_answer(&mut self, answered: Answered) {
        let (lifecycle, now) = (answered.id.0, Instant::now());
        if matches!(&answered.answer, Err(error) if error.after().is_some()) {
            self.settings.counters.update(|c| c.put_off += 1);
        }
        let names = self.polls.take(answered).into_iter();
        self.wake(names.map(|name| Subject { lifecycle, name }).collect(), now);
    }
}
