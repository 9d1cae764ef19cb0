//! Carries out one call: words, target, refusals, effects one write each with a fresh look after it, then waiting for what is promised.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use super::caller::{Caller, Trouble};
use super::cells::Cells;
use super::code::Refused;
use super::inflight::Turn;
use super::sentences;
use crate::cluster::act;
use crate::cluster::observe::{Job, Plan, Sight};
use crate::cluster::outcome::{Outcome, answer};
use crate::lifecycle::call::CallError;
use crate::lifecycle::{Board, Once, Requested};
use crate::machine::answer::Answer;
use crate::machine::backoff::Backoff;
use crate::machine::ir::{Call, Code, Rpc, Within};

/// How long a mutation outside Kubernetes may take.
const LONGEST_EFFECT: Duration = Duration::from_secs(60);
/// How often a call that waits looks at what no watch tells of.
const PROBE_AGAIN: Duration = Duration::from_secs(1);
/// An effect that was done so often in one call and does not show is in a quarrel with somebody, or lies.
const MOST_REPEATS: u32 = 10;
/// How often a call that does not wait looks again at what changed under its hands.
const MOST_CONFLICTS: u32 = 5;

/// One call that is being carried out.
pub(super) struct Drive<'a> {
    pub(super) caller: &'a Caller,
    pub(super) number: usize,
    pub(super) call: &'static Call,
    pub(super) request: Arc<Requested>,
    /// Until when it may wait.
    pub(super) until: Option<Instant>,
    pub(super) turn: Turn,
    /// Ends when nobody listens any more.
    pub(super) alone: oneshot::Receiver<()>,
    /// How often each effect was done.
    pub(super) repeats: BTreeMap<usize, u32>,
    /// Troubles in a row.
    pub(super) failures: u32,
}

impl Drive<'_> {
    pub(super) async fn run(mut self) -> Result<Arc<Board>, Refused> {
        let caller = self.caller;
        let mut cells = Cells::new(&caller.access);
        if self.call.rpc == Rpc::NodePublishVolume {
            let kept = caller.staged.recall(&self.request.volume_id);
            kept.into_iter().for_each(|kept| cells.recall(kept));
        }
        loop {
            self.goes_on()?;
            let trouble = match self.step(&mut cells).await {
                Ok(Some(board)) => {
                    if self.call.rpc == Rpc::NodeStageVolume {
                        caller.staged.keep(&self.request.volume_id, cells.kept());
                    }
                    return Ok(board);
                }
                Ok(None) => {
                    self.failures = 0;
                    continue;
                }
                Err(trouble) => trouble,
            };
            self.pause(trouble, &mut cells).await?;
            cells.forget_probes();
        }
    }

    /// Looks, and does the one thing that follows; the board if the call is done.
    async fn step(&mut self, cells: &mut Cells<'_>) -> Result<Option<Arc<Board>>, Trouble> {
        let ir = self.caller.ir();
        let sight = self.caller.look(self.call, &self.request, cells).await?;
        let board = &sight.board;
        match ir.answer(&board.world, self.number) {
            Answer::Done => Ok(Some(sight.board)),
            Answer::Word(word) => {
                let word = &self.call.words[word];
                let said = sentences::said(board, &word.when);
                let said = said.unwrap_or_else(|| sentences::of_word(word.name).to_owned());
                Err(Refused::new(word.code, said).into())
            }
            Answer::Refusal(refusal) => {
                let refusal = &self.call.refusals[refusal];
                let said = refusal.why.map(str::to_owned);
                let said = said.or_else(|| sentences::said(board, &refusal.when));
                let world = || format!("not possible while {}", board.world.describe(ir));
                Err(Refused::new(refusal.code, said.unwrap_or_else(world)).into())
            }
            Answer::Contradiction => {
                let world = board.world.describe(ir);
                tracing::error!(rpc = ?self.call.rpc, "a volume is in a world that cannot be: {world}");
                let said = format!("the volume is in a world that cannot be: {world}");
                Err(Refused::new(Code::Internal, said).into())
            }
            Answer::Wait => {
                let said = sentences::missing(ir, self.call, board);
                Err(Trouble::Waits(said))
            }
            Answer::Effect(effect) => self.effect(effect, &sight, cells).await.map(|()| None),
        }
    }

    async fn effect(
        &mut self,
        effect: usize,
        sight: &Sight,
        cells: &mut Cells<'_>,
    ) -> Result<(), Trouble> {
        let name = self.caller.ir().effects[effect].name;
        let Some(plan) = sight.plans[effect].first().cloned() else {
            let said = format!("`{name}` is due and has nothing to write");
            return Err(Refused::new(Code::Internal, said).into());
        };
        let repeats = self.repeats.entry(effect).or_default();
        *repeats += 1;
        if *repeats > MOST_REPEATS {
            let said = format!("`{name}` was done {MOST_REPEATS} times and does not show");
            return Err(Refused::new(Code::Internal, said).into());
        }
        // Whatever comes of it, what is local is not what it was.
        cells.forget_probes();
        tracing::debug!(rpc = ?self.call.rpc, effect = name, "runs");
        if plan.job == Job::Call {
            return self.mutate(effect, plan, sight, cells).await;
        }
        self.write(effect, plan, cells).await
    }

    /// A mutation outside Kubernetes.
    async fn mutate(
        &mut self,
        effect: usize,
        plan: Plan,
        sight: &Sight,
        cells: &mut Cells<'_>,
    ) -> Result<(), Trouble> {
        let machine = self.caller.machine();
        let name = machine.ir().effects[effect].name;
        let key = plan.body.as_str().unwrap_or_default().to_owned();
        let Some(calling) = machine.call(&sight.board, effect, Once::new(&key)) else {
            let said = format!("`{name}` is due and cannot be called");
            return Err(Refused::new(Code::Internal, said).into());
        };
        match timeout(LONGEST_EFFECT, calling).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(CallError::Refused(sentence))) => {
                cells.refused(effect, plan.id, sentence);
                Ok(())
            }
            Ok(Err(CallError::Failed(why))) => Err(Trouble::Later(why, None)),
            Err(_) => {
                let limit = LONGEST_EFFECT.as_secs();
                let said = format!("`{name}` had no answer within {limit} s");
                Err(Trouble::Later(said, None))
            }
        }
    }

    /// One write to the API server.
    async fn write(
        &mut self,
        effect: usize,
        plan: Plan,
        cells: &mut Cells<'_>,
    ) -> Result<(), Trouble> {
        let (caller, ir) = (self.caller, self.caller.ir());
        let target = ir.effects[effect].target;
        let at = (
            caller.access.stores[target],
            &caller.of_inputs[target],
            &caller.access.client,
        );
        let (Some(store), Some(kind), Some(client)) = at else {
            let said = format!("`{}` writes to no cluster", ir.effects[effect].name);
            return Err(Refused::new(Code::Internal, said).into());
        };
        let Some(sent) = act::write(&plan, kind) else {
            let said = format!("`{}` makes no request", ir.effects[effect].name);
            return Err(Refused::new(Code::Internal, said).into());
        };
        match answer(client.clone(), sent).await {
            Outcome::Done(object) => {
                cells.wrote(store, &plan, object);
                Ok(())
            }
            Outcome::Refused(sentence) => {
                cells.refused(effect, plan.id, sentence);
                Ok(())
            }
            Outcome::Again(why) => {
                cells.forget(store, &plan.name);
                Err(Trouble::Again(why))
            }
            Outcome::Later(why, after) => {
                cells.forget(store, &plan.name);
                Err(Trouble::Later(why, after))
            }
            Outcome::Lost(why) => {
                cells.forget(store, &plan.name);
                Err(Trouble::Later(why, None))
            }
        }
    }

    /// Whether there is somebody to go on for.
    fn goes_on(&mut self) -> Result<(), Refused> {
        let over = self.alone.try_recv() == Err(oneshot::error::TryRecvError::Closed);
        if over {
            return Err(gone());
        }
        if self.caller.shutdown.is_due() {
            return Err(stopping());
        }
        Ok(())
    }

    /// Waits until it makes sense to look again.
    async fn pause(&mut self, trouble: Trouble, cells: &mut Cells<'_>) -> Result<(), Refused> {
        let random = self.caller.random();
        self.failures += 1;
        let probes = cells.has_probes().then_some(PROBE_AGAIN);
        let (why, again, brief) = match trouble {
            Trouble::Refused(refused) => return Err(refused),
            Trouble::Waits(why) => (why, probes, false),
            Trouble::Again(why) => {
                let again = Backoff::CONFLICT.after(self.failures, random);
                (why, Some(again), self.failures <= MOST_CONFLICTS)
            }
            Trouble::Later(why, after) => {
                let again = Backoff::OBJECT.after(self.failures, random);
                (why, Some(after.unwrap_or(again)), false)
            }
        };
        let again = again.map(|again| Instant::now() + again);
        let until = match (self.until, again) {
            (Some(until), _) => until,
            // It does not wait, but looks again at what changed under its hands.
            (None, Some(again)) if brief => again,
            (None, _) => return Err(Refused::new(Code::Unavailable, why)),
        };
        if !brief && Instant::now() >= until {
            return Err(timed_out(self.call.within, why));
        }
        let again = again.filter(|again| *again < until || brief);
        let mut shutdown = self.caller.shutdown.clone();
        tokio::select! {
            biased;
            () = self.turn.displaced() => Err(displaced(self.call.rpc)),
            _ = &mut self.alone => Err(gone()),
            () = shutdown.wait() => Err(stopping()),
            () = cells.changed() => Ok(()),
            () = sleep_until(again.unwrap_or(until)), if again.is_some() => Ok(()),
            () = sleep_until(until) => Err(timed_out(self.call.within, why)),
        }
    }
}

fn gone() -> Refused {
    Refused::new(Code::Cancelled, "the caller went away")
}

fn displaced(rpc: Rpc) -> Refused {
    let said = format!("{rpc:?} was still waiting when its opposite was asked for");
    Refused::new(Code::Aborted, said)
}

fn stopping() -> Refused {
    Refused::new(Code::Unavailable, "the driver is stopping; try again")
}

fn timed_out(within: Option<Within>, why: String) -> Refused {
    let code = within.map_or(Code::Unavailable, |within| within.code);
    Refused::new(code, why)
}

#[cfg(test)]
mod tests;
