//! Faults between a `kube::Client` and any server, by a plan of one line that can be printed and parsed: `w3:crash-after r5:503 w1:delay=services/5s`.
//! Knows requests, answers and virtual time; knows no lifecycle and no server.

mod body;
mod journal;
mod line;
mod outside;
mod parse;
mod process;
mod serve;
mod signal;
mod state;

use std::time::Duration;

pub use line::{Faults, Line};
pub use parse::ParseError;
pub use process::Process;
pub use signal::Signal;
pub use state::Sent;

/// Plan of the faults, and their times.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Plan(pub Vec<Fault>);

/// One thing that goes wrong, once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// When.
    pub at: FaultPoint,
    /// Fault to inject.
    pub what: FaultKind,
}

/// A request of the process, counted from 1 over all its restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultPoint {
    /// `w3`: the third mutation, of an object or outside Kubernetes. Events and Leases do not
    /// count.
    Write(u32),
    /// `r3`: the third request of any kind, including queries outside Kubernetes. Events and Leases
    /// do not count.
    Request(u32),
    /// `l3`: the third request about a Lease.
    Lease(u32),
    /// `e3`: the third event that is recorded.
    Event(u32),
}

/// Kind of fault. Kinds of objects are named as in paths (`services`); none means all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// `crash-before`: the process ends before the server applies the request, and starts anew without its memory.
    CrashBefore,
    /// `crash-after`: the server applies the request, then the process ends before it hears so.
    CrashAfter,
    /// `lost`: the server applies the request, then the connection breaks.
    Lost,
    /// `silent`: the server applies the request and never answers.
    Silent,
    /// `timeout`: the request is not applied and never answered.
    Timeout,
    /// `503`: the request is not applied; the answer is a failure with this code.
    Answer(u16),
    /// `break`: watches end with an error of the connection.
    Break(Option<String>),
    /// `end`: watches end as they do when their time is over.
    End(Option<String>),
    /// `relist`: watches report that their version is too old (410).
    Relist(Option<String>),
    /// `delay=services/5s`: events of this kind come later.
    Delay(Option<String>, Duration),
    /// `coalesce=services/5s`: events of this kind come later, and of each object only the last.
    Coalesce(Option<String>, Duration),
    /// `reorder/5s`: events of each kind come later by a time of its own, so that kinds are seen in another order.
    Reorder(Duration),
    /// `lag/5s`: events of the kind that this request writes come later: the cache lags behind our own write.
    Lag(Duration),
    /// `cut/5s`: every connection breaks, and none can be made for a time.
    Cut(Duration),
    /// `freeze/20s`: the process is suspended for a time and continues with its old knowledge.
    Freeze(Duration),
    /// `second/20s`: a second process runs at the same time for a time.
    Second(Duration),
    /// `clock=-3600s`: the wall clock is shifted by this number of seconds.
    Clock(i64),
}

impl FaultKind {
    /// Returns true if the fault decides the result of the request itself, rather than concerning
    /// its surroundings.
    pub fn is_about_the_request(&self) -> bool {
        match self {
            Self::CrashBefore
            | Self::CrashAfter
            | Self::Lost
            | Self::Silent
            | Self::Timeout
            | Self::Answer(_) => true,
            Self::Break(_)
            | Self::End(_)
            | Self::Relist(_)
            | Self::Delay(..)
            | Self::Coalesce(..)
            | Self::Reorder(_)
            | Self::Lag(_)
            | Self::Cut(_)
            | Self::Freeze(_)
            | Self::Second(_)
            | Self::Clock(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;
