//! Runs one call: preconditions, target and refusals first. Each effect is then one write, followed
//! by a fresh observation. Finally the call waits for the promised state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout};

use super::cache::CallCache;
use super::context::CallContext;
use super::locks::VolumeLock;
use super::observe::volume_of;
use super::sentences;
use super::step_error::StepError;
use crate::code::RpcError;
use lifecycle_runtime::cluster::act;
use lifecycle_runtime::cluster::observe::{Job, Observed, Plan};
use lifecycle_runtime::cluster::outcome::{Outcome, answer};
use lifecycle_runtime::lifecycle::call::CallError;
use lifecycle_runtime::lifecycle::{Observation, Once, Requested};
use lifecycle_runtime::machine::answer::Answer;
use lifecycle_runtime::machine::backoff::Backoff;
use lifecycle_runtime::machine::ir::{Call, Code, Rpc, Within};
use lifecycle_runtime::provider::{InFlight, Lane};

/// Upper bound on the duration of a mutation outside Kubernetes.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval at which a waiting call probes again, because no watch reports local changes.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// Time that a call not declared to wait stays in the queue of a provider before its caller must
/// retry.
const IN_LINE: Duration = Duration::from_secs(30);
/// Number of runs of one effect in one call after which its result should show. If it does not,
/// another controller or user reverts the effect, or the effect wrongly reports success.
const MAX_REPEATS: u32 = 10;
/// How often in a row a call observes again after a conflict although it does not wait.
const MAX_CONFLICTS: u32 = 5;

/// One call under way.
pub(super) struct CallRun<'a> {
    pub(super) context: &'a CallContext,
    pub(super) number: usize,
    pub(super) call: &'static Call,
    pub(super) request: Arc<Requested>,
    /// Until when it may wait.
    pub(super) until: Option<Instant>,
    /// Lock that is kept until the run ends.
    pub(super) lock: VolumeLock,
    /// Ends when the caller goes away.
    pub(super) cancelled: oneshot::Receiver<()>,
    /// How often each effect ran.
    pub(super) repeats: BTreeMap<usize, u32>,
    /// Deadline up to which a call that does not wait stays in the queue of a provider.
    pub(super) in_line: Option<Instant>,
    /// Failed steps in a row.
    pub(super) failures: u32,
}

impl CallRun<'_> {
    pub(super) async fn run(mut self) -> Result<Arc<Observation>, RpcError> {
        let context = self.context;
        if let Some(observation) = self.repeated().await {
            return Ok(observation);
        }
        context.published.forget(&self.request.target_path);
        let mut cache = CallCache::new(&context.cluster);
        cache.stays_within = self.call.rpc == Rpc::CreateVolume;
        if self.call.rpc == Rpc::NodePublishVolume
            && let Some(snapshot) = context.staged.take(&self.request.volume_id)
        {
            cache.restore(snapshot);
        }
        loop {
            self.check_wanted()?;
            let error = match self.step(&mut cache).await {
                Ok(Some(observation)) => {
                    self.keep(cache, &observation);
                    return Ok(observation);
                }
                Ok(None) => {
                    self.failures = 0;
                    continue;
                }
                Err(error) => error,
            };
            // Probe results stay valid while the call waits for its turn. Otherwise the call would
            // query again and again.
            let is_in_line = matches!(error, StepError::InLine(_));
            self.pause(error, &mut cache).await?;
            if !is_in_line {
                cache.forget_probes();
                cache.turn.leave();
            }
        }
    }

    /// Observes with the objects known to the previous identical publish call. Returns an
    /// observation only if nothing has changed. Effects and refusals always rely on fresh reads.
    async fn repeated(&self) -> Option<Arc<Observation>> {
        let context = self.context;
        if self.call.rpc != Rpc::NodePublishVolume {
            return None;
        }
        let before = context.published.get(&self.request)?;
        let mut cache = CallCache::repeating(&context.cluster, &before);
        let observed = context.observe(self.call, &self.request, &mut cache).await;
        let observation = observed.ok()?.observation;
        let is_done = context.ir().answer(&observation.world, self.number) == Answer::Done;
        (is_done && observation.world == before.world).then_some(observation)
    }

    /// Keeps the objects that the next call may reuse.
    fn keep(&self, cache: CallCache<'_>, observation: &Observation) {
        let context = self.context;
        match self.call.rpc {
            Rpc::NodeStageVolume => {
                let snapshot = cache.into_snapshot();
                context.staged.insert(&self.request.volume_id, snapshot);
            }
            Rpc::NodePublishVolume if context.cluster.remembers() => {
                if let Some(known) = cache.into_publication(observation.world.clone()) {
                    context.published.insert(&self.request, known);
                }
            }
            Rpc::CreateVolume
            | Rpc::DeleteVolume
            | Rpc::ValidateVolumeCapabilities
            | Rpc::NodeUnstageVolume
            | Rpc::NodePublishVolume
            | Rpc::NodeUnpublishVolume => {}
        }
    }

    /// Observes, and does the one thing that follows; the observation if the call is done.
    async fn step(
        &mut self,
        cache: &mut CallCache<'_>,
    ) -> Result<Option<Arc<Observation>>, StepError> {
        let (context, ir) = (self.context, self.context.ir());
        let observed = context.observe(self.call, &self.request, cache).await?;
        let observation = &observed.observation;
        match ir.answer(&observation.world, self.number) {
            Answer::Done => Ok(Some(observed.observation)),
            Answer::Precondition(_) | Answer::Refusal(_) | Answer::Contradiction
                if cache.distrust_watches() =>
            {
                Ok(None)
            }
            Answer::Precondition(precondition) => {
                let precondition = &self.call.preconditions[precondition];
                let message = sentences::of_facts(observation, &precondition.when);
                let meaning = || sentences::of_precondition(precondition.name).to_owned();
                Err(RpcError::new(precondition.code, message.unwrap_or_else(meaning)).into())
            }
            Answer::Refusal(refusal) => {
                let refusal = &self.call.refusals[refusal];
                let message = refusal.why.map(str::to_owned);
                let message = message.or_else(|| sentences::of_facts(observation, &refusal.when));
                let world = || format!("not possible while {}", observation.world.describe(ir));
                Err(RpcError::new(refusal.code, message.unwrap_or_else(world)).into())
            }
            Answer::Contradiction => {
                let world = &observation.world;
                let message = format!("{}: {}", ir.contradiction(world), world.describe(ir));
                tracing::error!(rpc = ?self.call.rpc, "a volume is in a world that cannot be: {message}");
                Err(RpcError::new(Code::Internal, message).into())
            }
            Answer::Wait => {
                let message = sentences::missing(ir, self.call, observation);
                Err(StepError::Waiting(message))
            }
            Answer::Effect(effect) => self.effect(effect, &observed, cache).await.map(|()| None),
        }
    }

    async fn effect(
        &mut self,
        effect: usize,
        observed: &Observed,
        cache: &mut CallCache<'_>,
    ) -> Result<(), StepError> {
        let name = self.context.ir().effects[effect].name;
        let Some(plan) = observed.plans[effect].first().cloned() else {
            let message = format!("`{name}` is due and has nothing to write");
            return Err(RpcError::new(Code::Internal, message).into());
        };
        let place = match plan.job == Job::Call {
            true => self.take_turn(effect, cache)?,
            false => None,
        };
        let repeats = self.repeats.entry(effect).or_default();
        *repeats += 1;
        if *repeats > MAX_REPEATS {
            let message = format!(
                "effect `{name}` ran {MAX_REPEATS} times in this call and its result never showed; find what reverts it"
            );
            return Err(RpcError::new(Code::Internal, message).into());
        }
        // Independent of the result, the probed state may have changed.
        cache.forget_probes();
        tracing::debug!(rpc = ?self.call.rpc, effect = name, "runs");
        if plan.job == Job::Call {
            return self.mutate((effect, plan), observed, (cache, place)).await;
        }
        self.write(effect, plan, cache).await
    }

    /// A turn at the provider of a call.
    fn take_turn(
        &self,
        effect: usize,
        cache: &mut CallCache<'_>,
    ) -> Result<Option<InFlight>, StepError> {
        let context = self.context;
        let target = context.ir().effects[effect].target;
        let asker = (context.ir().name, volume_of(&self.request));
        let provider = context.providers[target].as_ref();
        cache.turn.take(provider, asker, Lane::Call)
    }

    /// Runs a mutation outside Kubernetes.
    async fn mutate(
        &mut self,
        (effect, plan): (usize, Plan),
        observed: &Observed,
        (cache, place): (&mut CallCache<'_>, Option<InFlight>),
    ) -> Result<(), StepError> {
        let machine = self.context.machine();
        let name = machine.ir().effects[effect].name;
        let key = plan.body.as_str().unwrap_or_default().to_owned();
        let Some(calling) = machine.call(&observed.observation, effect, Once::new(&key)) else {
            let message = format!("`{name}` is due and cannot be called");
            return Err(RpcError::new(Code::Internal, message).into());
        };
        let called = timeout(EFFECT_TIMEOUT, calling).await;
        if let (Some(place), Ok(called)) = (&place, &called) {
            place.record_outcome(called);
        }
        match called {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(CallError::Refused(message))) => {
                cache.rejected(effect, plan.id, message);
                Ok(())
            }
            Ok(Err(error @ (CallError::Failed(_) | CallError::Later { .. }))) => {
                Err(StepError::Retry(error.to_string(), error.after()))
            }
            Err(_) => {
                let limit = EFFECT_TIMEOUT.as_secs();
                let message = format!("`{name}` had no answer within {limit} s");
                Err(StepError::Retry(message, None))
            }
        }
    }

    /// One write to the API server.
    async fn write(
        &mut self,
        effect: usize,
        plan: Plan,
        cache: &mut CallCache<'_>,
    ) -> Result<(), StepError> {
        let (context, ir) = (self.context, self.context.ir());
        let target = ir.effects[effect].target;
        let reached = (
            context.cluster.kind_of_input[target],
            &context.input_kinds[target],
            &context.cluster.client,
        );
        let (Some(number), Some(kind), Some(client)) = reached else {
            let message = format!("`{}` writes to no cluster", ir.effects[effect].name);
            return Err(RpcError::new(Code::Internal, message).into());
        };
        let Some(request) = act::write(&plan, kind) else {
            let message = format!("`{}` makes no request", ir.effects[effect].name);
            return Err(RpcError::new(Code::Internal, message).into());
        };
        match answer(client.clone(), request).await {
            Outcome::Done(object) => {
                cache.wrote(number, &plan, object);
                Ok(())
            }
            Outcome::Refused(message) => {
                cache.rejected(effect, plan.id, message);
                Ok(())
            }
            Outcome::Again(why) => {
                cache.forget(number, &plan.name);
                Err(StepError::Conflict(why))
            }
            Outcome::Later(why, after) => {
                cache.forget(number, &plan.name);
                Err(StepError::Retry(why, after))
            }
            Outcome::Lost(why) | Outcome::Occupied(why) => {
                cache.forget(number, &plan.name);
                Err(StepError::Retry(why, None))
            }
        }
    }

    /// Checks that the caller has not cancelled the call, and that no shutdown is due.
    fn check_wanted(&mut self) -> Result<(), RpcError> {
        let over = self.cancelled.try_recv() == Err(oneshot::error::TryRecvError::Closed);
        if over {
            return Err(cancelled());
        }
        if self.context.shutdown.is_due() {
            return Err(stopping());
        }
        Ok(())
    }

    /// Waits until it makes sense to observe again.
    async fn pause(&mut self, error: StepError, cache: &mut CallCache<'_>) -> Result<(), RpcError> {
        let random = self.context.random();
        let is_in_line = matches!(error, StepError::InLine(_));
        self.failures += u32::from(!is_in_line);
        let probes = cache.has_probes().then_some(PROBE_INTERVAL);
        let (why, again, brief) = match error {
            StepError::Final(error) => return Err(error),
            StepError::Waiting(why) => (why, probes, false),
            StepError::InLine(why) => (why, None, false),
            StepError::Conflict(why) => {
                let again = Backoff::CONFLICT.after(self.failures, random);
                (why, Some(again), self.failures <= MAX_CONFLICTS)
            }
            StepError::Retry(why, after) => {
                let again = Backoff::OBJECT.after(self.failures, random);
                (why, Some(after.unwrap_or(again)), false)
            }
        };
        let again = again.map(|again| Instant::now() + again);
        let until = match (self.until, again) {
            (Some(until), _) => until,
            // The call does not wait, but it observes objects again that changed since they were
            // read.
            (None, Some(again)) if brief => again,
            // Who is sent away would come last in line, again and again.
            (None, None) if is_in_line => *self.in_line.get_or_insert(Instant::now() + IN_LINE),
            (None, _) => return Err(RpcError::new(Code::Unavailable, why)),
        };
        if !brief && Instant::now() >= until {
            return Err(timed_out(self.call.within, why));
        }
        let again = again.filter(|again| *again < until || brief);
        let mut shutdown = self.context.shutdown.clone();
        let turn = cache.turn.comes();
        tokio::select! {
            biased;
            () = self.lock.preempted() => Err(preempted(self.call.rpc)),
            _ = &mut self.cancelled => Err(cancelled()),
            () = shutdown.wait() => Err(stopping()),
            () = turn, if is_in_line => Ok(()),
            () = cache.changed() => Ok(()),
            () = sleep_until(again.unwrap_or(until)), if again.is_some() => Ok(()),
            () = sleep_until(until) => Err(timed_out(self.call.within, why)),
        }
    }
}

fn cancelled() -> RpcError {
    RpcError::new(Code::Cancelled, "the caller went away")
}

fn preempted(rpc: Rpc) -> RpcError {
    let message = format!("{rpc:?} was still waiting when its opposite was requested");
    RpcError::new(Code::Aborted, message)
}

fn stopping() -> RpcError {
    RpcError::new(Code::Unavailable, "the driver is stopping; try again")
}

fn timed_out(within: Option<Within>, why: String) -> RpcError {
    let code = within.map_or(Code::Unavailable, |within| within.code);
    RpcError::new(code, why)
}

#[cfg(test)]
mod tests;
