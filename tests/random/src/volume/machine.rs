//! Machine of a random volume: methods as for resources, and mutations whose worlds before and
//! after are recorded.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use lifecycle_runtime::lifecycle::call::{calling, polling};
use lifecycle_runtime::lifecycle::{
    Answer, Built, CallError, Calling, CreatedVolume, Kind, LookupKey, Machine, Observation, Once,
    Polling, Stored,
};
use lifecycle_runtime::machine::ir::{Lifecycle, Source};
use serde_json::Value;
use tokio::time::sleep;

use super::log::{CallEvent, Fault, Watched, WriteOutcome};
use super::seeded::SeededCall;
use crate::author;
use crate::machine::Interpreted;

/// Duration of an operation that is local or outside Kubernetes.
const TAKES: Duration = Duration::from_millis(5);

/// The machine of a random volume.
#[derive(Clone, Debug)]
pub(crate) struct VolumeMachine {
    pub(crate) inner: Interpreted,
    pub(crate) watched: Watched,
    pub(crate) seeded: Option<SeededCall>,
}

/// Change by a mutation: the question, and the answer that it gets.
struct Change {
    question: &'static str,
    points: u64,
}

impl VolumeMachine {
    /// Returns the changes by which each question gets the answer that a mutation brings about,
    /// regardless of its other sources.
    fn changes(&self, observation: &Observation, effect: usize) -> Vec<Change> {
        let ir = self.inner.ir;
        let effect = &ir.effects[effect];
        let sets = effect.sets.first().copied().unwrap_or_default();
        let change = |(var, value): &(usize, u8)| {
            let declared = &ir.vars[*var];
            let from = self.inner.declared.facts[*var].as_ref()?;
            let given = self.inner.given(observation, from);
            let this = self.inner.this(observation);
            let words = &declared.values[..usize::from(declared.answers)];
            let held = declared.free.is_some();
            let is = author::answer(declared.name, held, words, &this, &given);
            let (wanted, answers) = (usize::from(*value), words.len());
            let more = (wanted + answers - is.min(answers - 1)) % answers;
            let place = self.inner.outside_key(observation, effect.target);
            let content = self
                .watched
                .scene
                .outside
                .state()
                .content(&place.0, &place.1);
            Some(Change {
                question: declared.name,
                points: author::points(&content, declared.name) + u64::try_from(more).ok()?,
            })
        };
        sets.iter().filter_map(change).collect()
    }

    async fn mutate(
        self,
        effect: &'static str,
        place: (String, String),
        changes: Vec<Change>,
    ) -> Result<usize, CallError> {
        sleep(TAKES).await;
        let before = self.watched.scene.now();
        let fault = self.watched.log.fault();
        let failed = |why: &str| Err(CallError::Failed(why.to_owned()));
        if fault == Some(Fault::Lost) || before.outside.is_down(&place.0) {
            self.watched.ran(effect, before, WriteOutcome::Failed);
            return failed("it does not answer");
        }
        if before.outside.refused.contains(effect) {
            self.watched.ran(effect, before, WriteOutcome::Refused);
            return Err(CallError::Refused(format!("`{effect}` is refused")));
        }
        for change in changes {
            let mut outside = self.watched.scene.outside.state();
            outside.set((&place.0, &place.1), change.question, change.points);
        }
        let how = if fault.is_some() {
            WriteOutcome::Failed
        } else {
            WriteOutcome::Done
        };
        self.watched.ran(effect, before, how);
        if fault.is_some() {
            return failed("its answer was lost");
        }
        Ok(0)
    }
}

impl Machine for VolumeMachine {
    fn ir(&self) -> &'static Lifecycle {
        self.inner.ir
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        self.inner.kind(input)
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        self.inner.lookup(observation, input)
    }

    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        self.inner.theirs(input, object)
    }

    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner.value(observation, value)
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        self.inner.fact(observation, var)
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        let built = self.inner.build(observation, effect)?;
        let Built::One(mut one) = built else {
            return Some(built);
        };
        let target = self.inner.ir.effects[effect].target;
        match self.seeded {
            Some(SeededCall::Memory) if observation.objects(target).is_empty() => {
                one["spec"]["never"] = self.watched.scene.outside.mint().into();
            }
            Some(SeededCall::Building) => one["spec"]["built"]["of"] = "anything".into(),
            _ => {}
        }
        Some(Built::One(one))
    }

    fn field(&self, _: &Observation, _: usize) -> Option<Value> {
        None
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        let (input, key) = self.inner.outside_key(observation, input);
        Some(polling(async move {
            sleep(TAKES).await;
            let failed = self.watched.log.fault().is_some();
            let outside = self.watched.scene.outside.state();
            if failed || outside.is_down(&input) {
                self.watched.log.record(CallEvent::Blind);
                return Err(CallError::Failed("it does not answer".to_owned()));
            }
            Ok((*outside.content(&input, &key)).clone())
        }))
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        self.inner.key(observation, effect)
    }

    fn created(&self, observation: &Observation) -> Option<CreatedVolume> {
        let request = observation.request()?;
        Some(CreatedVolume::new(request.name()?))
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        self.inner.complete(observation, effect)?;
        let declared = &self.inner.ir.effects[effect];
        let place = self.inner.outside_key(observation, declared.target);
        let changes = self.changes(observation, effect);
        let mutation = self.clone().mutate(declared.name, place, changes);
        Some(calling(once.spend(mutation), |alternative| *alternative))
    }
}

/// Returns the inputs that an effect reads directly.
pub(crate) fn inputs_of(ir: &Lifecycle, effect: usize) -> Vec<usize> {
    let from = ir.effects[effect].from.iter();
    let inputs = from.filter_map(|source| match source {
        Source::Input(input) => Some(*input),
        Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
    });
    inputs.collect()
}

/// Returns true if an input is an object of the cluster.
pub(crate) fn is_object(ir: &Lifecycle, input: usize) -> bool {
    ir.inputs[input].mode.is_object()
}
