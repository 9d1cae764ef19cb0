//! Counts the reconciliations of the loop and their actions. Makes no decisions.

use tokio::time::Instant;

use super::Controller;
use super::decide::{Decided, Inspection};
use super::in_flight::WriteRecord;
use super::queue::Subject;
use crate::counters::CountedState;
use crate::machine::policy::Class;

impl Controller {
    /// Counts the object in the state in which a reconciliation found it.
    pub(super) fn count_place(&mut self, subject: &Subject, class: Class, is_overdue: bool) {
        let ir = self.runners[subject.lifecycle].ir;
        let state = class.name(ir);
        let now = Some(CountedState { state, is_overdue });
        let Some(memory) = self.memories.get_mut(subject) else {
            return;
        };
        let before = std::mem::replace(&mut memory.counted, now);
        if before != now {
            let counters = &self.settings.counters;
            counters.update(|counts| counts.moved(ir.name, before, now));
        }
        if let Some(before) = before.filter(|before| before.state != state) {
            self.log_transition(subject, (before.state, state));
        }
    }

    /// Counts the object no more.
    pub(super) fn uncount_place(&self, lifecycle: usize, counted: Option<CountedState>) {
        let of = self.runners[lifecycle].ir.name;
        let counters = &self.settings.counters;
        counters.update(|counts| counts.moved(of, counted, None));
    }

    /// Another process knows where the objects are.
    pub(super) fn uncount_all_places(&mut self) {
        let mut memories = std::mem::take(&mut self.memories);
        for (subject, memory) in &mut memories {
            self.uncount_place(subject.lifecycle, memory.counted.take());
        }
        self.memories = memories;
    }

    /// Counts the result of a reconciliation.
    pub(super) fn count_outcome(&self, subject: &Subject, outcome: &'static str) {
        let key = (self.runners[subject.lifecycle].ir.name, outcome);
        let counters = &self.settings.counters;
        counters.update(|counts| *counts.outcomes.entry(key).or_default() += 1);
    }

    /// Counts how long an object was due. Before this process led, none was.
    pub(super) fn count_wait(&self, due: Instant, now: Instant) {
        let since = due.max(self.leading.since);
        let counters = &self.settings.counters;
        counters.waited(now.saturating_duration_since(since));
    }

    /// Records whether this process may write.
    pub(super) fn count_leading(&self) {
        let leads = Some(self.leading.was);
        self.settings.counters.update(|counts| counts.leads = leads);
    }
}

/// Returns the result of a reconciliation, as counters name it.
pub(super) fn outcome(seen: &Inspection, decided: &Decided) -> &'static str {
    if seen.ruled_out.is_some() {
        return "contradiction";
    }
    match decided {
        Decided::Wait { .. } => "wait",
        Decided::Rest { .. } => "rest",
        Decided::Write(write) => match **write {
            WriteRecord::Effect { .. } => "effect",
            WriteRecord::Status { .. } => "report",
            WriteRecord::Finalizer { claim: true, .. } => "claim",
            WriteRecord::Finalizer { claim: false, .. } => "release",
            WriteRecord::Leftover(_) => "retire",
            WriteRecord::Event => "event",
        },
    }
}
