//! Turns at providers: the objects that wait before a call, the object whose turn it is, and the
//! messages about long waits.

use std::sync::Arc;

use tokio::time::Instant;

use super::Controller;
use super::decide::{Decided, Inspection};
use super::queue::Subject;
use super::turned::TurnOwner;
use super::why::WaitReason;
use crate::cluster::act::News;
use crate::machine::ir::Verb;
use crate::machine::policy::Decision;
use crate::provider::{InFlight, Lane, Provider, Requester, Turn};

impl Controller {
    /// The provider that an effect calls.
    fn provider_of(&self, lifecycle: usize, effect: usize) -> Option<&Arc<Provider>> {
        let runner = &self.runners[lifecycle];
        let effect = &runner.ir.effects[effect];
        let calls = effect.verb == Verb::Call;
        runner.providers[effect.target].as_ref().filter(|_| calls)
    }

    /// Returns `Ok` if a call could leave now; otherwise the time from which it could, if that is
    /// known.
    pub(super) fn is_turn(
        &self,
        subject: &Subject,
        effect: usize,
        now: Instant,
    ) -> Result<(), Option<Instant>> {
        let Some(provider) = self.provider_of(subject.lifecycle, effect) else {
            return Ok(());
        };
        match &self.memories[subject].turn {
            Some(turn) if Arc::ptr_eq(turn.provider(), provider) => turn.is_due(now),
            Some(_) | None if provider.is_free(now) => Ok(()),
            Some(_) | None => Err(None),
        }
    }

    /// Takes a turn, or waits for it in line; from when on it is worth to look again, if that is known.
    pub(super) fn take_turn(
        &mut self,
        subject: &Subject,
        effect: usize,
        now: Instant,
    ) -> Result<Option<InFlight>, Option<Instant>> {
        let Some(turn) = self.join_line(subject, effect) else {
            return Ok(None);
        };
        match turn.take(now) {
            Ok(place) => {
                self.turns.waiting.remove(subject);
                Ok(Some(place))
            }
            Err((turn, at)) => {
                self.keep(subject, turn);
                Err(at)
            }
        }
    }

    /// Waits for a turn in line; from when on it is worth to look again, if that is known.
    pub(super) fn await_turn(
        &mut self,
        subject: &Subject,
        effect: usize,
        now: Instant,
    ) -> Option<Instant> {
        let turn = self.join_line(subject, effect)?;
        let due = turn.is_due(now);
        self.keep(subject, turn);
        due.map_or_else(|at| at, |()| Some(now))
    }

    fn keep(&mut self, subject: &Subject, turn: Turn) {
        if let Some(memory) = self.memories.get_mut(subject) {
            self.turns.waiting.insert(subject.clone());
            memory.turn = Some(turn);
        }
    }

    /// Its place in the line of the provider that an effect calls: that which it has, or a new one.
    fn join_line(&mut self, subject: &Subject, effect: usize) -> Option<Turn> {
        let provider = self.provider_of(subject.lifecycle, effect)?.clone();
        let known = self.memories.get_mut(subject)?.turn.take();
        let known = known.filter(|turn| Arc::ptr_eq(turn.provider(), &provider));
        Some(known.unwrap_or_else(|| {
            let asker = Requester {
                lifecycle: self.runners[subject.lifecycle].ir.name.to_owned(),
                object: subject.name.to_string(),
                lane: Lane::Call,
            };
            provider.queue(asker, self.turns.notifier(TurnOwner::Call(subject.clone())))
        }))
    }

    /// Waits in a queue, and reports a long wait to users. Returns the time of the next
    /// reconciliation, unless an event comes first.
    pub(super) fn stand_in_line(
        &mut self,
        subject: &Subject,
        seen: &Inspection,
        effect: usize,
        (until, now): (Instant, Instant),
    ) -> Instant {
        let name = seen.ir.effects[effect].name;
        let Some(turn) = self.memories.get_mut(subject).and_then(|m| m.turn.as_mut()) else {
            return until;
        };
        if turn.is_news(now) {
            let waited = (now - turn.since()).as_secs();
            let why = turn.provider().busy(now);
            let note = format!("`{name}` has waited for its turn for {waited} s: {why}");
            let uid = seen.observed.observation.subject().meta.uid.clone();
            let kind = self.runners[subject.lifecycle].subject_kind.clone();
            tracing::warn!(object = %subject.name.of_kind(&kind), "{note}");
            let news = News {
                warning: true,
                reason: "ProviderBusy".to_owned(),
                note,
            };
            let about = (&subject.name, uid.as_deref());
            self.send_event(subject.lifecycle, &kind, about, news);
            return until;
        }
        turn.told_at().map_or(until, |told| until.min(told))
    }

    /// Leaves the line where the object does not want to call any more, or has to wait for something else.
    pub(super) fn keep_in_line(&mut self, subject: &Subject, seen: &Inspection, decided: &Decided) {
        let calls = match decided {
            Decided::Write(_)
            | Decided::Wait {
                why: WaitReason::Provider,
                ..
            } => true,
            Decided::Wait { .. } | Decided::Rest { .. } => false,
        };
        let wanted = match seen.next {
            Decision::Effect(effect) if calls => self.provider_of(subject.lifecycle, effect),
            Decision::Effect(_) | Decision::Claim | Decision::Release | Decision::Rest => None,
        };
        let turn = self.memories.get(subject).and_then(|m| m.turn.as_ref());
        let is_wanted = turn.is_none_or(|turn| {
            wanted.is_some_and(|provider| Arc::ptr_eq(turn.provider(), provider))
        });
        if !is_wanted {
            self.leave_line(subject);
        }
    }

    pub(super) fn leave_line(&mut self, subject: &Subject) {
        self.turns.waiting.remove(subject);
        if let Some(memory) = self.memories.get_mut(subject) {
            memory.turn = None;
        }
    }

    /// Leaves all queues while no write is possible, so that no turn is blocked.
    pub(super) fn leave_all_lines(&mut self) {
        for subject in std::mem::take(&mut self.turns.waiting) {
            self.leave_line(&subject);
        }
    }

    pub(super) fn turned(&mut self, whose: TurnOwner, at: Instant) {
        match whose {
            TurnOwner::Call(subject) => self.queue.add(subject, at),
            TurnOwner::Poll(id) => self.polls.turned(&id, at),
        }
    }
}
