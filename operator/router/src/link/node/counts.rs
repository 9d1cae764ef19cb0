//! Counters of links and of the traffic over them. These are numbers only: the node knows the site
//! at the other end.

use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::link::frame::record::Refusal;

/// Traffic over one link while it lasts.
#[derive(Debug, Default)]
pub(in crate::link) struct LinkCounts {
    pub(in crate::link) opened: AtomicU64,
    pub(in crate::link) ended: AtomicU64,
    pub(in crate::link) sent: AtomicU64,
    pub(in crate::link) received: AtomicU64,
}

impl LinkCounts {
    pub(super) fn now(&self) -> LinkTraffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (ended, opened) = (read(&self.ended), read(&self.opened));
        LinkTraffic {
            opened,
            open: opened.saturating_sub(ended),
            sent: read(&self.sent),
            received: read(&self.received),
        }
    }
}

/// Traffic over the links to one site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkTraffic {
    /// Streams that were opened, from either end.
    pub opened: u64,
    /// Those that are open.
    pub open: u64,
    /// Bytes that were sent, including the messages between routers.
    pub sent: u64,
    /// Bytes that were received, likewise.
    pub received: u64,
}

impl Add for LinkTraffic {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            opened: self.opened + more.opened,
            open: self.open + more.open,
            sent: self.sent + more.sent,
            received: self.received + more.received,
        }
    }
}

/// Streams that neighbours opened and that did not get there, by reason.
#[derive(Debug, Default)]
pub struct Refusals([AtomicU64; 4]);

impl Refusals {
    pub(super) fn count(&self, refusal: Refusal) {
        let at = match refusal {
            Refusal::NoRoute => 0,
            Refusal::Backend => 1,
            Refusal::Loop => 2,
            Refusal::Limit => 3,
        };
        self.0[at].fetch_add(1, Ordering::Relaxed);
    }

    /// How many, by a word for each reason.
    pub fn all(&self) -> [(&'static str, u64); 4] {
        let words = ["no-route", "backend", "loop", "limit"];
        std::array::from_fn(|at| (words[at], self.0[at].load(Ordering::Relaxed)))
    }
}
