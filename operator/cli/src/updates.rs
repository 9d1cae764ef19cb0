//! Last reports on objects that a user follows: a line for each change, until the wanted objects
//! are Ready. Knows no kind.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::{Duration, Instant};

use lifecycle_runtime::machine::ir::Phase;

use crate::cluster::{complain, print_line};

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is Ready.
    Ready,
    /// Something was not Ready in time.
    Unready,
    /// The user requested the end.
    Stopped,
}

/// Report on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// State of the object, and the reason.
    pub line: String,
    /// True if that state is as wanted.
    pub ready: bool,
}

/// Last report on each object, by its name.
#[derive(Debug)]
pub struct Updates<K> {
    began: Instant,
    last: BTreeMap<K, Update>,
    /// Lines for the objects whose status reports that they are Ready.
    met: BTreeMap<K, String>,
}

impl<K: Ord + Clone + Display> Updates<K> {
    /// Creates an empty report.
    pub fn begin() -> Self {
        Self {
            began: Instant::now(),
            last: BTreeMap::new(),
            met: BTreeMap::new(),
        }
    }

    /// Returns the last report on an object that exists.
    pub fn last(&self, of: &K) -> Option<&Update> {
        self.last.get(of)
    }

    /// Reports the result of a reconcile. If the lifecycle reports readiness (`reports`), Ready is
    /// reported once the status contains it. An object that was Ready and is Ready again before its
    /// status has reported anything else is reported, too.
    pub fn passed(&mut self, of: K, (phase, line): (Phase, String), reports: bool) {
        let said = match (phase, self.met.get(&of)) {
            (Phase::Ready, None) if reports => return,
            (Phase::Ready, met) => Update {
                line: met.cloned().unwrap_or(line),
                ready: true,
            },
            (Phase::Pending | Phase::Error | Phase::Ignored | Phase::Suspended, _) => {
                Update { line, ready: false }
            }
        };
        self.record(of, said);
    }

    /// Records that the status of an object reports Ready. Returns true if this is new.
    pub fn met(&mut self, of: K, line: String) -> bool {
        self.met.insert(of.clone(), line.clone());
        self.record(of, Update { line, ready: true })
    }

    /// Records that the status of an object no longer reports Ready.
    pub fn unmet(&mut self, of: &K) {
        self.met.remove(of);
    }

    /// Records that an object is gone.
    pub fn gone(&mut self, of: &K) {
        let line = "Gone".to_owned();
        self.record(of.clone(), Update { line, ready: false });
        self.last.remove(of);
        self.met.remove(of);
    }

    /// Records an update. Returns true if it is new.
    pub fn record(&mut self, of: K, said: Update) -> bool {
        if self.last.get(&of) == Some(&said) {
            return false;
        }
        let after = self.began.elapsed().as_secs_f64();
        print_line(&format!("{after:8.3} s  {of}  {}", said.line));
        self.last.insert(of, said);
        true
    }

    /// Returns true if all of these are Ready. An empty list is not Ready.
    pub fn are_ready(&self, wanted: &[K]) -> bool {
        let ready = |of: &K| self.last(of).is_some_and(|said| said.ready);
        !wanted.is_empty() && wanted.iter().all(ready)
    }

    /// Complains of those that are not Ready in time.
    pub fn late(&self, wanted: &[K], limit: Duration) -> Verdict {
        let (limit, unready) = (limit.as_secs(), self.unready(wanted));
        complain(&format!("not Ready within {limit} s: {unready}"));
        Verdict::Unready
    }

    /// Returns the objects that are not Ready, each with its last update.
    pub fn unready(&self, wanted: &[K]) -> String {
        let lines = wanted.iter().filter_map(|wanted| {
            let said = match self.last(wanted) {
                Some(said) if said.ready => return None,
                Some(said) => said.line.split_whitespace().collect::<Vec<_>>().join(" "),
                None => "nothing was seen of it".to_owned(),
            };
            Some(format!("{wanted}: {said}"))
        });
        lines.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(updates: &mut Updates<String>, of: &str, phase: Phase, reports: bool) {
        let line = "Rolling       Going: one of two".to_owned();
        updates.passed(of.to_owned(), (phase, line), reports);
    }

    #[test]
    fn a_status_is_believed_and_of_what_reports_nothing_the_pass_is() {
        let (mut updates, a) = (Updates::begin(), "a".to_owned());
        let ready = |updates: &Updates<String>| updates.are_ready(&["a".to_owned()]);
        pass(&mut updates, "a", Phase::Ready, true);
        assert_eq!(updates.last(&a), None);
        assert!(updates.met(a.clone(), "Ready".to_owned()) && ready(&updates));
        pass(&mut updates, "a", Phase::Pending, true);
        assert!(!ready(&updates));
        pass(&mut updates, "a", Phase::Ready, true);
        assert!(ready(&updates));
        updates.unmet(&a);
        pass(&mut updates, "a", Phase::Pending, true);
        pass(&mut updates, "a", Phase::Ready, true);
        assert!(!ready(&updates));
        updates.gone(&a);
        assert_eq!(updates.last(&a), None);
        pass(&mut updates, "a", Phase::Ready, false);
        assert!(ready(&updates));
        assert!(!updates.are_ready(&[]));
    }

    #[test]
    fn what_is_not_ready_is_named_with_its_reason() {
        let mut updates = Updates::begin();
        pass(&mut updates, "a", Phase::Pending, true);
        updates.met("b".to_owned(), "Ready".to_owned());
        let all = ["a", "b", "c"].map(str::to_owned);
        let said = updates.unready(&all);
        assert_eq!(
            said,
            "a: Rolling Going: one of two; c: nothing was seen of it"
        );
    }
}
