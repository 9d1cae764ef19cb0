//! A lifecycle whose answers are changed after its author gave them: what no type and no checker can see.

use std::any::Any;
use std::sync::Arc;

use lifecycle_runtime::lifecycle::observation::LookupKey;
use lifecycle_runtime::lifecycle::{
    Answer, Built, Calling, Kind, Machine, Observation, Once, Polling, Stored,
};
use lifecycle_runtime::machine::ir::Lifecycle;
use serde_json::Value;

type Fact = Arc<dyn Fn(&Observation, usize, Answer) -> Answer + Send + Sync>;
type Field = Arc<dyn Fn(&Observation, usize, Value) -> Value + Send + Sync>;
type Build = Arc<dyn Fn(&Observation, usize, Value) -> Value + Send + Sync>;

/// Another lifecycle, with some answers changed.
pub(crate) struct Wrapped<M> {
    inner: M,
    ir: &'static Lifecycle,
    fact: Fact,
    field: Field,
    build: Build,
}

impl<M: Machine> Wrapped<M> {
    pub(crate) fn new(inner: M) -> Self {
        Self {
            ir: inner.ir(),
            inner,
            fact: Arc::new(|_, _, answer| answer),
            field: Arc::new(|_, _, value| value),
            build: Arc::new(|_, _, value| value),
        }
    }

    /// Changes what is declared, to something of the same shape.
    pub(crate) fn declared(mut self, ir: &'static Lifecycle) -> Self {
        self.ir = ir;
        self
    }

    /// Changes what facts answer.
    pub(crate) fn fact(
        mut self,
        fact: impl Fn(&Observation, usize, Answer) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.fact = Arc::new(fact);
        self
    }

    /// Changes what is reported.
    pub(crate) fn field(
        mut self,
        field: impl Fn(&Observation, usize, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.field = Arc::new(field);
        self
    }

    /// Changes what is wanted.
    pub(crate) fn build(
        mut self,
        build: impl Fn(&Observation, usize, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.build = Arc::new(build);
        self
    }
}

impl<M: Machine> Machine for Wrapped<M> {
    fn ir(&self) -> &'static Lifecycle {
        self.ir
    }

    fn subject(&self) -> Option<Kind> {
        self.inner.subject()
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
        let answer = self.inner.fact(observation, var)?;
        Some((self.fact)(observation, var, answer))
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        let change = |value| (self.build)(observation, effect, value);
        Some(match self.inner.build(observation, effect)? {
            Built::One(value) => Built::One(change(value)),
            Built::Each(values) => Built::Each(values.into_iter().map(change).collect()),
        })
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        let value = self.inner.field(observation, field)?;
        Some((self.field)(observation, field, value))
    }

    fn text(&self, observation: &Observation, text: usize) -> Option<String> {
        self.inner.text(observation, text)
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        self.inner.poll(observation, input)
    }

    fn key(&self, observation: &Observation, effect: usize) -> Option<String> {
        self.inner.key(observation, effect)
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        self.inner.call(observation, effect, once)
    }
}
