//! Bounded queue from the loop of an operator to the writer of its trace. The loop never waits for
//! it. Events that do not fit are only counted. The latest versions of objects are the exception:
//! they are written later.

use std::collections::BTreeMap;
use std::mem;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::lifecycle::{Observation, Stored};
use lifecycle_runtime::machine::ir::Lifecycle;

use crate::replay::format::{Ended, Object, ObjectKey, Runs, Sent, Settled};

/// New version of an object; `None` if it is gone.
pub(crate) type NewVersion = Option<Arc<Stored>>;

/// Event with its time.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) ms: u64,
    pub(crate) what: EventKind,
}

/// Event as it is kept until it is written. Large parts are shared with the operator.
#[derive(Debug)]
pub(crate) enum EventKind {
    Begins(Runs),
    Changed(ObjectKey, NewVersion),
    Passed(Box<Passed>),
    Sent(Sent),
    Ended(Ended),
    Lost(Lost),
}

/// One reconciliation. Only its observation is large.
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

/// Events that did not fit.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    pub(crate) count: u64,
    pub(crate) objects: BTreeMap<ObjectKey, NewVersion>,
}

impl Lost {
    fn record(&mut self, event: Event) {
        self.count += 1;
        if let EventKind::Changed(place, now) = event.what {
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
    /// Returns a queue with this capacity.
    pub(crate) fn new(room: usize) -> (Self, Receiver<Event>) {
        let (entrance, exit) = sync_channel(room);
        let lost = Mutex::default();
        (Self { entrance, lost }, exit)
    }

    /// Puts something in, or counts it.
    pub(crate) fn push(&self, event: Event) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.count > 0 && !self.send_lost(&mut lost, event.ms) {
            lost.record(event);
            return;
        }
        match self.entrance.try_send(event) {
            Err(TrySendError::Full(event)) => lost.record(event),
            // The writer has ended, which was already reported.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Records the lost events, for example at the end. Returns true if there was room.
    pub(crate) fn settle(&self, ms: u64) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.count > 0 {
            let _full: bool = self.send_lost(&mut lost, ms);
        }
    }

    fn send_lost(&self, lost: &mut Lost, ms: u64) -> bool {
        let what = EventKind::Lost(mem::take(lost));
        match self.entrance.try_send(Event { ms, what }) {
            Err(TrySendError::Full(event)) => {
                if let EventKind::Lost(back) = event.what {
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
        let place = ObjectKey {
            kind: "/Thing".to_owned(),
            namespace: None,
            name: name.to_owned(),
        };
        Event {
            ms: 0,
            what: EventKind::Changed(place, None),
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_objects_have_become_is_told_later() {
        let (queue, exit) = Queue::new(2);
        for name in ["a", "b", "c", "d", "c"] {
            queue.push(gone(name));
        }
        let two: Vec<Event> = exit.try_iter().collect();
        assert_eq!(two.len(), 2);
        queue.push(gone("e"));
        let rest: Vec<Event> = exit.try_iter().collect();
        let [
            Event {
                what: EventKind::Lost(lost),
                ..
            },
            Event {
                what: EventKind::Changed(last, _),
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
