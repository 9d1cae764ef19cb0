//! Round-robin order of askers: by lifecycle, then by the objects of each lifecycle, then by the
//! askers of each object in their order. An asker with many requests thus delays only itself.

use std::collections::{BTreeMap, VecDeque};

/// Items by owner. An owner that was served moves to the end.
#[derive(Debug)]
struct Ring<T> {
    of: BTreeMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self {
            of: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T: Default> Ring<T> {
    /// Returns the entry of an owner. A new owner comes last.
    fn get_or_insert(&mut self, who: &str) -> &mut T {
        if !self.of.contains_key(who) {
            self.order.push_back(who.to_owned());
        }
        self.of.entry(who.to_owned()).or_default()
    }

    /// Serves the first owner that has an item. Removes an owner that has no items left.
    fn next<R>(
        &mut self,
        mut serve: impl FnMut(&mut T) -> Option<R>,
        is_empty: fn(&T) -> bool,
    ) -> Option<R> {
        while let Some(who) = self.order.pop_front() {
            let served = self.of.get_mut(&who).and_then(&mut serve);
            match self.of.get(&who).is_some_and(|rest| !is_empty(rest)) {
                true => self.order.push_back(who),
                false => {
                    self.of.remove(&who);
                }
            }
            if served.is_some() {
                return served;
            }
        }
        None
    }
}

/// A line, fair to lifecycles and objects.
#[derive(Debug, Default)]
pub(super) struct Line {
    of: Ring<Ring<VecDeque<u64>>>,
    waiting: usize,
}

impl Line {
    pub(super) fn push(&mut self, (lifecycle, object): (&str, &str), id: u64) {
        self.of
            .get_or_insert(lifecycle)
            .get_or_insert(object)
            .push_back(id);
        self.waiting += 1;
    }

    pub(super) fn remove(&mut self, (lifecycle, object): (&str, &str), id: u64) {
        let objects = self.of.of.get_mut(lifecycle);
        let Some(ids) = objects.and_then(|objects| objects.of.get_mut(object)) else {
            return;
        };
        let before = ids.len();
        ids.retain(|other| *other != id);
        self.waiting -= before - ids.len();
    }

    pub(super) fn pop(&mut self) -> Option<u64> {
        let of_object = VecDeque::pop_front;
        let of_lifecycle =
            |objects: &mut Ring<VecDeque<u64>>| objects.next(of_object, VecDeque::is_empty);
        let next = self.of.next(of_lifecycle, |objects| objects.of.is_empty());
        self.waiting -= usize::from(next.is_some());
        next
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lifecycle_and_each_object_of_it_has_one_turn_in_a_round() {
        let mut line = Line::default();
        for id in 0..4 {
            line.push(("A", "greedy"), id);
        }
        line.push(("A", "modest"), 10);
        line.push(("B", "other"), 20);
        line.push(("B", "other"), 21);
        line.remove(("B", "other"), 21);
        line.remove(("B", "stranger"), 21);
        let all: Vec<_> = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(all, [0, 20, 10, 1, 2, 3]);
        assert!(line.is_empty());
    }

    #[test]
    fn who_left_keeps_nobody_waiting() {
        let mut line = Line::default();
        line.push(("A", "gone"), 1);
        line.push(("A", "here"), 2);
        line.remove(("A", "gone"), 1);
        assert_eq!(line.pop(), Some(2));
        assert_eq!(line.pop(), None);
        assert!(line.of.of.is_empty() && line.of.order.is_empty());
    }
}
