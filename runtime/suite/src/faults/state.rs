//! State that the lines of one run share: counts, remaining faults, held events, the wall clock and
//! the log.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use tokio::time::Instant;

use super::journal::Journal;
use super::signal::Signal;
use super::{Fault, FaultKind, FaultPoint};

/// A request as plans count it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Under which count.
    pub at: FaultPoint,
    /// Ordinal number of the request, counted over all kinds.
    pub request: u32,
    /// Method and path, or the name of the operation outside Kubernetes.
    pub what: String,
}

/// Kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Read,
    Write,
    Lease,
    Event,
}

/// How a watch is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Broken,
    Over,
    TooOld,
}

/// An open watch of the process.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) kind: String,
    pub(super) ending: Option<Ending>,
    pub(super) waker: Option<Waker>,
}

/// Time until which events of a kind are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gate {
    pub(super) until: Instant,
    pub(super) coalesces: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) plan: Vec<Fault>,
    pub(super) sent: Vec<Sent>,
    writes: u32,
    requests: u32,
    leases: u32,
    events: u32,
    /// All requests and watches of all processes, for the log.
    pub(super) numbers: u64,
    /// Processes that are no more.
    pub(super) dead: Vec<u32>,
    pub(super) starts: u32,
    pub(super) watches: BTreeMap<u64, Watch>,
    gates: BTreeMap<String, Gate>,
    gate_of_all: Option<Gate>,
    reorders: Option<(Instant, Duration)>,
    pub(super) cut_until: Option<Instant>,
    pub(super) clock: i64,
    pub(super) signals: VecDeque<Signal>,
    pub(super) runner: Option<Waker>,
    pub(super) journal: Journal,
}

impl State {
    pub(super) fn new(plan: Vec<Fault>) -> Self {
        Self {
            plan,
            ..Self::default()
        }
    }

    /// Counts a request, and removes its faults from the plan.
    pub(super) fn count(&mut self, class: Class, what: &str) -> Vec<FaultKind> {
        let own = match class {
            Class::Read => None,
            Class::Write => {
                self.writes += 1;
                Some(FaultPoint::Write(self.writes))
            }
            Class::Lease => {
                self.leases += 1;
                Some(FaultPoint::Lease(self.leases))
            }
            Class::Event => {
                self.events += 1;
                Some(FaultPoint::Event(self.events))
            }
        };
        let any = matches!(class, Class::Read | Class::Write).then(|| {
            self.requests += 1;
            FaultPoint::Request(self.requests)
        });
        if let Some(at) = own.or(any) {
            self.sent.push(Sent {
                at,
                request: self.requests,
                what: what.to_owned(),
            });
        }
        let is_due = |fault: &Fault| Some(fault.at) == own || Some(fault.at) == any;
        let (due, rest) = std::mem::take(&mut self.plan).into_iter().partition(is_due);
        self.plan = rest;
        let due: Vec<Fault> = due;
        due.into_iter().map(|fault| fault.what).collect()
    }

    /// Applies a fault that does not concern the request itself. `kind` is the kind that the
    /// request writes or reads.
    pub(super) fn disturb(&mut self, what: &FaultKind, kind: &str, now: Instant) {
        match what {
            FaultKind::Break(of) => self.end(of.as_deref(), Ending::Broken),
            FaultKind::End(of) => self.end(of.as_deref(), Ending::Over),
            FaultKind::Relist(of) => self.end(of.as_deref(), Ending::TooOld),
            FaultKind::Delay(of, time) => self.hold(of.clone(), now + *time, false),
            FaultKind::Coalesce(of, time) => self.hold(of.clone(), now + *time, true),
            FaultKind::Reorder(time) => self.reorders = Some((now, *time)),
            FaultKind::Lag(time) => self.hold(Some(kind.to_owned()), now + *time, false),
            FaultKind::Cut(time) => {
                self.cut_until = Some(now + *time);
                self.end(None, Ending::Broken);
            }
            FaultKind::Freeze(time) => self.signal(Signal::Freeze(*time)),
            FaultKind::Second(time) => self.signal(Signal::Second(*time)),
            FaultKind::Clock(seconds) => self.clock += seconds,
            FaultKind::CrashBefore
            | FaultKind::CrashAfter
            | FaultKind::Lost
            | FaultKind::Silent
            | FaultKind::Timeout
            | FaultKind::Answer(_) => {}
        }
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        self.signals.push_back(signal);
        if let Some(waker) = self.runner.take() {
            waker.wake();
        }
    }

    fn end(&mut self, kind: Option<&str>, ending: Ending) {
        for watch in self.watches.values_mut() {
            if kind.is_none_or(|kind| kind == watch.kind) {
                watch.ending = Some(ending);
                if let Some(waker) = watch.waker.take() {
                    waker.wake();
                }
            }
        }
    }

    fn hold(&mut self, kind: Option<String>, until: Instant, coalesces: bool) {
        let gate = Gate { until, coalesces };
        match kind {
            Some(kind) => {
                self.gates.insert(kind, gate);
            }
            None => self.gate_of_all = Some(gate),
        }
    }

    /// Returns the time until which events of a kind are held back, if any.
    pub(super) fn gate(&self, kind: &str, now: Instant) -> Option<Gate> {
        let reordered = self.reorders.map(|(since, time)| {
            let kinds: Vec<&String> = self.watches.values().map(|w| &w.kind).collect();
            // The order is the reverse of the names, so events that normally arrive first arrive
            // last.
            let ahead = kinds.iter().filter(|k| k.as_str() > kind).count();
            let share = (ahead as f64 + 1.0) / (kinds.len() as f64 + 1.0);
            let until = since + time.mul_f64(share);
            Gate {
                until,
                coalesces: false,
            }
        });
        let all = [self.gates.get(kind).copied(), self.gate_of_all, reordered];
        let open = all.into_iter().flatten().filter(|gate| gate.until > now);
        open.reduce(|a, b| Gate {
            until: a.until.max(b.until),
            coalesces: a.coalesces || b.coalesces,
        })
    }
}
