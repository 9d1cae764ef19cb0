//! Lifecycle around another one, with some of its answers changed. All forwarding is in one place,
//! so that no wrapper forgets a method.

use std::any::Any;
use std::sync::Arc;

use serde_json::Value;

use super::{
    Answer, Built, Calling, CreatedVolume, Kind, LookupKey, Machine, Observation, Once, Polling,
    Random, Stored, Timed,
};
use crate::machine::ir::Lifecycle;
use crate::machine::length::Said;

/// Wrapper around a [`Machine`]: it answers the methods that it defines itself, and the inner
/// machine answers the rest. Each method is that of [`Machine`].
#[allow(missing_docs, reason = "the documentation is that of `Machine`")]
pub trait MachineWrapper: Send + Sync + 'static {
    /// Returns the machine that answers the methods that are not defined here.
    fn inner(&self) -> &dyn Machine;

    fn ir(&self) -> &'static Lifecycle {
        self.inner().ir()
    }

    fn subject(&self) -> Option<Kind> {
        self.inner().subject()
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        self.inner().kind(input)
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        self.inner().lookup(observation, input)
    }

    fn wants(&self, observation: &Observation, input: usize) -> Option<bool> {
        self.inner().wants(observation, input)
    }

    fn recall(&self, input: usize, recorded: &Value) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner().recall(input, recorded)
    }

    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        self.inner().theirs(input, object)
    }

    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner().value(observation, value)
    }

    fn make(
        &self,
        observation: &Observation,
        value: usize,
        random: &mut Random,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner().make(observation, value, random)
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        self.inner().fact(observation, var)
    }

    fn timed(&self, observation: &Observation, var: usize) -> Option<Timed<u8>> {
        self.inner().timed(observation, var)
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        self.inner().build(observation, effect)
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        self.inner().field(observation, field)
    }

    fn text(&self, observation: &Observation, text: usize) -> Option<String> {
        self.inner().text(observation, text)
    }

    fn time(&self, observation: &Observation, time: usize) -> Option<Said> {
        self.inner().time(observation, time)
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        self.inner().poll(observation, input)
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        self.inner().key(observation, effect)
    }

    fn created(&self, observation: &Observation) -> Option<CreatedVolume> {
        self.inner().created(observation)
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        self.inner().call(observation, effect, once)
    }
}

// A method of `Machine` that has a body of its own would be missed silently; this lint, which every check runs, finds it.
#[deny(clippy::missing_trait_methods)]
impl<T: MachineWrapper> Machine for T {
    fn ir(&self) -> &'static Lifecycle {
        MachineWrapper::ir(self)
    }

    fn subject(&self) -> Option<Kind> {
        MachineWrapper::subject(self)
    }

    fn kind(&self, input: usize) -> Option<Kind> {
        MachineWrapper::kind(self, input)
    }

    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey> {
        MachineWrapper::lookup(self, observation, input)
    }

    fn wants(&self, observation: &Observation, input: usize) -> Option<bool> {
        MachineWrapper::wants(self, observation, input)
    }

    fn recall(&self, input: usize, recorded: &Value) -> Option<Arc<dyn Any + Send + Sync>> {
        MachineWrapper::recall(self, input, recorded)
    }

    fn theirs(&self, input: usize, object: &Stored) -> Option<String> {
        MachineWrapper::theirs(self, input, object)
    }

    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>> {
        MachineWrapper::value(self, observation, value)
    }

    fn make(
        &self,
        observation: &Observation,
        value: usize,
        random: &mut Random,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        MachineWrapper::make(self, observation, value, random)
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        MachineWrapper::fact(self, observation, var)
    }

    fn timed(&self, observation: &Observation, var: usize) -> Option<Timed<u8>> {
        MachineWrapper::timed(self, observation, var)
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        MachineWrapper::build(self, observation, effect)
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        MachineWrapper::field(self, observation, field)
    }

    fn text(&self, observation: &Observation, text: usize) -> Option<String> {
        MachineWrapper::text(self, observation, text)
    }

    fn time(&self, observation: &Observation, time: usize) -> Option<Said> {
        MachineWrapper::time(self, observation, time)
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        MachineWrapper::poll(self, observation, input)
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        MachineWrapper::key(self, observation, effect)
    }

    fn created(&self, observation: &Observation) -> Option<CreatedVolume> {
        MachineWrapper::created(self, observation)
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        MachineWrapper::call(self, observation, effect, once)
    }
}
