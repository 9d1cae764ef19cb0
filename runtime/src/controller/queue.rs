//! Queue of objects to reconcile, ordered by due time and then by name, so that equal inputs give
//! equal order.

use std::collections::{BTreeMap, BTreeSet};

use tokio::time::Instant;

use crate::cluster::store::Name;

/// An object of one lifecycle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Subject {
    /// The lifecycle's number.
    pub(crate) lifecycle: usize,
    pub(crate) name: Name,
}

/// Objects and when they are due; each at most once, the earliest time counts.
#[derive(Default)]
pub(crate) struct Queue {
    order: BTreeSet<(Instant, Subject)>,
    due: BTreeMap<Subject, Instant>,
}

impl Queue {
    pub(crate) fn add(&mut self, subject: Subject, at: Instant) {
        match self.due.get(&subject) {
            Some(&earlier) if earlier <= at => return,
            Some(&later) => {
                self.order.remove(&(later, subject.clone()));
            }
            None => {}
        }
        self.order.insert((at, subject.clone()));
        self.due.insert(subject, at);
    }

    pub(crate) fn remove(&mut self, subject: &Subject) {
        if let Some(at) = self.due.remove(subject) {
            self.order.remove(&(at, subject.clone()));
        }
    }

    /// The first object that is due, and since when.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, Subject)> {
        let (at, _) = self.order.first()?;
        if *at > now {
            return None;
        }
        let (at, subject) = self.order.pop_first()?;
        self.due.remove(&subject);
        Some((at, subject))
    }

    /// How many objects are due.
    pub(crate) fn due(&self, now: Instant) -> usize {
        self.order.iter().take_while(|(at, _)| *at <= now).count()
    }

    /// When the next object is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn subject(name: &str) -> Subject {
        Subject {
            lifecycle: 0,
            name: Name {
                namespace: None,
                name: name.to_owned(),
            },
        }
    }

    #[test]
    fn the_earliest_time_counts_and_ties_go_by_name() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        let later = now + Duration::from_secs(1);
        queue.add(subject("b"), later);
        queue.add(subject("c"), now);
        queue.add(subject("b"), now);
        queue.add(subject("b"), later);
        queue.add(subject("a"), later);
        assert_eq!((queue.due(now), queue.due(later)), (2, 3));
        assert_eq!(queue.pop(now), Some((now, subject("b"))));
        assert_eq!(queue.pop(now), Some((now, subject("c"))));
        assert_eq!(queue.pop(now), None);
        assert_eq!(queue.next(), Some(later));
        queue.remove(&subject("a"));
        assert_eq!(queue.next(), None);
    }
}
