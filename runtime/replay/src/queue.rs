//! The way from the loop of an operator to who writes its trace: it has an end, and nobody ever waits there. What does not fit is counted, but for what objects
//! have become: that is told later.

use std::collections::BTreeMap;
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::lifecycle::{Observation, Stored};
use lifecycle_runtime::machine::ir::Lifecycle;

use crate::format::{Ended, Object, Place, Runs, Sent, Settled};

/// What an object has become; `None`: it is gone.
pub(crate) type Shown = Option<Arc<Stored>>;

/// What happened, and when.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) ms: u64,
    pub(crate) what: Happened,
}

/// What happened, as it is kept until it is written: shared with the operator where it is large.
#[derive(Debug)]
pub(crate) enum Happened {
    Begins(Runs),
    Changed(Place, Shown),
    Passed(Box<Passed>),
    Sent(Sent),
    Ended(Ended),
    Lost(Lost),
}

/// A pass, of which only its observation is large.
pub(crate) struct Passed {
    pub(crate) lifecycle: &'static Lifecycle,
    pub(crate) object: Object,
    pub(crate) observation: Arc<Observation>,
    pub(crate) state: &'static str,
    pub(crate) next: &'static str,
    pub(crate) does: String,
    pub(crate) failure: Option<String>,
    pub(crate) ruled_out: Option<String>,
    pub(crate) settled: Vec<Settled>,
}

impl std::fmt::Debug for Passed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Passed")
            .field("object", &self.object)
            .finish_non_exhaustive()
    }
}

/// What did not fit.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    pub(crate) count: u64,
    pub(crate) objects: BTreeMap<Place, Shown>,
}

impl Lost {
    fn note(&mut self, event: Event) {
        self.count += 1;
        if let Happened::Changed(place, now) = event.what {
            self.objects.insert(place, now);
        }
    }
}

/// Its entrance.
#[derive(Debug)]
pub(crate) struct Queue {
    entrance: SyncSender<Event>,
    lost: Mutex<Lost>,
}

impl Queue {
    /// With room for so many.
    pub(crate) fn new(room: usize) -> (Self, Receiver<Event>) {
        let (entrance, exit) = sync_channel(room);
        let lost = Mutex::default();
        (Self { entrance, lost }, exit)
    }

    /// Puts something in, or counts it.
    pub(crate) fn put(&self, event: Event) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.count > 0 && !self.tell(&mut lost, event.ms) {
            lost.note(event);
            return;
        }
        match self.entrance.try_send(event) {
            Err(TrySendError::Full(event)) => lost.note(event),
            // Nobody writes any more: that was told.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Tells what was lost, at the end for example; whether there was room.
    pub(crate) fn settle(&self, ms: u64) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.count > 0 {
            let _full: bool = self.tell(&mut lost, ms);
        }
    }

    fn tell(&self, lost: &mut Lost, ms: u64) -> bool {
        let what = Happened::Lost(mem::take(lost));
        match self.entrance.try_send(Event { ms, what }) {
            Err(TrySendError::Full(event)) => {
                if let Happened::Lost(back) = event.what {
                    *lost = back;
                }
                false
            }
            Ok(()) | Err(TrySendError::Disconnected(_)) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(name: &str) -> Event {
        let place = Place {
            kind: "/Thing".to_owned(),
            namespace: None,
            name: name.to_owned(),
        };
        Event {
            ms: 0,
            what: Happened::Changed(place, None),
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_objects_have_become_is_told_later() {
        let (queue, exit) = Queue::new(2);
        for name in ["a", "b", "c", "d", "c"] {
            queue.put(gone(name));
        }
        let two: Vec<Event> = exit.try_iter().collect();
        assert_eq!(two.len(), 2);
        queue.put(gone("e"));
        let rest: Vec<Event> = exit.try_iter().collect();
        let [
            Event {
                what: Happened::Lost(lost),
                ..
            },
            Event {
                what: Happened::Changed(last, _),
                ..
            },
        ] = rest.as_slice()
        else {
            panic!("{rest:?}");
        };
        assert_eq!(lost.count, 3);
        let names: Vec<&str> = lost
            .objects
            .keys()
            .map(|place| place.name.as_str())
            .collect();
        assert_eq!(names, ["c", "d"]);
        assert_eq!(last.name, "e");
    }
}
