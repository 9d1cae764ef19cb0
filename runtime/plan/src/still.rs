//! A lifecycle that does nothing outside Kubernetes: nobody is asked, and no call is made. What would have been is noted.

use std::any::Any;
use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::{
    Answer, Built, Calling, CreatedVolume, Kind, LookupKey, Observation, Once, Polling, Random,
    Stored, Timed,
};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode};
use lifecycle_runtime::machine::length::Said;
use serde_json::Value;

/// A lifecycle whose polls and calls never end. An operator of it writes what it can without their answers, as it would while they are on their way.
pub struct Still {
    machine: Arc<dyn Machine>,
    noted: Arc<Mutex<BTreeSet<String>>>,
}

impl std::fmt::Debug for Still {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Still")
            .field("lifecycle", &self.machine.ir().path)
            .finish_non_exhaustive()
    }
}

impl Still {
    /// The lifecycle, with what it does outside Kubernetes noted in `noted`.
    pub fn new(machine: Arc<dyn Machine>, noted: Arc<Mutex<BTreeSet<String>>>) -> Self {
        Self { machine, noted }
    }

    fn note(&self, observation: &Observation, what: &str, name: &str) {
        let kind = self.machine.ir().name;
        let meta = &observation.subject().meta;
        let place = meta.namespace.as_deref().map(|n| format!("{n}/"));
        let object = meta.name.as_deref().unwrap_or_default();
        let line = format!(
            "{what} `{name}` of {kind} {}{object}",
            place.unwrap_or_default()
        );
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert(line);
    }
}

impl Machine for Still {
    fn ir(&self) -> &'static Lifecycle {
        self.machine.ir()
    }

    fn subject(&self) -> Option<Kind> {
        self.machine.subject()
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        self.machine.kind(input)
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        self.machine.lookup(observation, input)
    }

    fn recall(&self, input: usize, recorded: &Value) -> Option<Arc<dyn Any + Send + Sync>> {
        self.machine.recall(input, recorded)
    }

    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        self.machine.theirs(input, object)
    }

    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        self.machine.value(observation, value)
    }

    fn make(
        &self,
        observation: &Observation,
        value: usize,
        random: &mut Random,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        self.machine.make(observation, value, random)
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        self.machine.fact(observation, var)
    }

    fn timed(&self, observation: &Observation, var: usize) -> Option<Timed<u8>> {
        self.machine.timed(observation, var)
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        self.machine.build(observation, effect)
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        self.machine.field(observation, field)
    }

    fn text(&self, observation: &Observation, text: usize) -> Option<String> {
        self.machine.text(observation, text)
    }

    fn time(&self, observation: &Observation, time: usize) -> Option<Said> {
        self.machine.time(observation, time)
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        // The author's method is not entered: it may begin to ask before its answer is waited for.
        let asked = &self.ir().inputs[input];
        matches!(asked.mode, Mode::Poll | Mode::Probe).then(|| {
            self.note(observation, "poll", asked.name);
            Box::pin(pending()) as Polling<'a>
        })
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        self.machine.key(observation, effect)
    }

    fn created(&self, observation: &Observation) -> Option<CreatedVolume> {
        self.machine.created(observation)
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        _once: Once<'a>,
    ) -> Option<Calling<'a>> {
        self.note(observation, "call", self.ir().effects[effect].name);
        Some(Box::pin(pending()))
    }
}
