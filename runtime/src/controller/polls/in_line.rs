//! Questions that wait for a turn at their provider, and answers that end to be good meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;

use super::super::turned::{TurnOwner, Turns};
use super::{Id, Polls, question};
use crate::cluster::store::Name;
use crate::lifecycle::Machine;
use crate::provider::{InFlight, Lane, Provider, Requester};

impl Polls {
    /// It is the turn of a question.
    pub(crate) fn turned(&mut self, id: &Id, at: Instant) {
        if self.all.get(id).is_some_and(|poll| poll.turn.is_some()) {
            self.schedule(id, at);
        }
    }

    /// Leaves all queues when the process stops leading. It then queries no provider and blocks no
    /// other object.
    pub(crate) fn leave_all_lines(&mut self) {
        let in_line = self.all.iter_mut().filter(|(_, poll)| poll.turn.is_some());
        let left: Vec<Id> = in_line
            .map(|(id, poll)| {
                poll.turn = None;
                id.clone()
            })
            .collect();
        let now = Instant::now();
        left.iter().for_each(|id| self.schedule(id, now));
    }

    /// Drops the answers that have expired while their next question still waits. Returns the
    /// objects that must reconcile again.
    pub(crate) fn lapsed(&mut self, now: Instant) -> Vec<(usize, BTreeSet<Name>)> {
        let mut woken = Vec::new();
        while let Some((at, id)) = self.lapses.pop_first() {
            if at > now {
                self.lapses.insert((at, id));
                break;
            }
            let Some(poll) = self.all.get_mut(&id) else {
                continue;
            };
            if poll.good_until <= now && poll.answer.take().is_some() {
                poll.version += 1;
                woken.push((id.0, poll.askers.keys().cloned().collect()));
            }
        }
        woken
    }

    /// Records the end of an answer's validity if its next query starts later or never.
    pub(super) fn may_lapse(&mut self, id: &Id) {
        if let Some(poll) = self.all.get(id)
            && poll.answer.is_some()
            && poll.due.is_none_or(|due| due > poll.good_until)
        {
            self.lapses.insert((poll.good_until, id.clone()));
        }
    }

    /// Takes a turn at the provider of a question, or waits for it in line; from when on, if that is known.
    pub(super) fn take_turn(
        &mut self,
        id: &Id,
        now: Instant,
        (lifecycle, provider): (&str, Option<&Arc<Provider>>),
        turns: &Turns,
    ) -> Result<Option<InFlight>, Option<Instant>> {
        let (Some(provider), Some(poll)) = (provider, self.all.get_mut(id)) else {
            return Ok(None);
        };
        let turn = poll.turn.take().unwrap_or_else(|| {
            let object = poll.askers.keys().next().map(Name::to_string);
            let asker = Requester {
                lifecycle: lifecycle.to_owned(),
                object: object.unwrap_or_default(),
                lane: Lane::Poll,
            };
            provider.queue(asker, turns.notifier(TurnOwner::Poll(id.clone())))
        });
        turn.take(now).map(Some).map_err(|(turn, at)| {
            poll.turn = Some(turn);
            at
        })
    }

    /// A question leaves.
    pub(super) fn leave(
        &mut self,
        now: Instant,
        id: Id,
        machine: Arc<dyn Machine>,
        place: Option<InFlight>,
    ) {
        let Some(poll) = self.all.get_mut(&id) else {
            return;
        };
        poll.asked = Some(now);
        self.turn += 1;
        let observation = Arc::clone(&poll.observation);
        let is_bounded = place.as_ref().is_some_and(InFlight::is_limited);
        let question = question((machine, place), observation, id, self.turn);
        match is_bounded {
            true => self.placed.push(question),
            false => self.asking.push((now, question)),
        }
    }
}
