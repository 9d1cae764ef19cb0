//! A lifecycle whose answers are changed after its author gave them. No type and no checker can
//! detect it.

use std::future::ready;
use std::sync::Arc;

use lifecycle_runtime::lifecycle::call::{Called, Calling};
use lifecycle_runtime::lifecycle::{
    Answer, Built, Machine, MachineWrapper, Observation, Once, Timed,
};
use lifecycle_runtime::machine::ir::Lifecycle;
use serde_json::Value;

type Fact = Arc<dyn Fn(&Observation, usize, Answer) -> Answer + Send + Sync>;
type Field = Arc<dyn Fn(&Observation, usize, Value) -> Value + Send + Sync>;
type Build = Arc<dyn Fn(&dyn Machine, &Observation, usize) -> Option<Built> + Send + Sync>;
type IsIdle = Arc<dyn Fn(usize) -> bool + Send + Sync>;

/// Another lifecycle, with some answers changed.
pub struct Wrapped {
    inner: Arc<dyn Machine>,
    ir: &'static Lifecycle,
    fact: Fact,
    field: Field,
    build: Build,
    idle: IsIdle,
}

impl Wrapped {
    /// With nothing changed yet.
    pub fn new(inner: impl Machine) -> Self {
        Self::around(Arc::new(inner))
    }

    /// The same around one that others hold as well.
    pub fn around(inner: Arc<dyn Machine>) -> Self {
        Self {
            ir: inner.ir(),
            inner,
            fact: Arc::new(|_, _, answer| answer),
            field: Arc::new(|_, _, value| value),
            build: Arc::new(|inner, observation, effect| inner.build(observation, effect)),
            idle: Arc::new(|_| false),
        }
    }

    /// Replaces the declaration by one of the same shape.
    #[must_use]
    pub fn declared(mut self, ir: &'static Lifecycle) -> Self {
        self.ir = ir;
        self
    }

    /// Changes the answers of facts.
    #[must_use]
    pub fn fact(
        mut self,
        fact: impl Fn(&Observation, usize, Answer) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.fact = Arc::new(fact);
        self
    }

    /// Changes the reported fields.
    #[must_use]
    pub fn field(
        mut self,
        field: impl Fn(&Observation, usize, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.field = Arc::new(field);
        self
    }

    /// Changes the desired objects one by one.
    #[must_use]
    pub fn build(
        self,
        change: impl Fn(&Observation, usize, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.building(move |inner, observation, effect| {
            let change = |value| change(observation, effect, value);
            Some(match inner.build(observation, effect)? {
                Built::One(value) => Built::One(change(value)),
                Built::Group(members) => {
                    Built::Group(members.into_iter().map(|m| m.map(change)).collect())
                }
                Built::Each(values) => Built::Each(values.into_iter().map(change).collect()),
            })
        })
    }

    /// Wants something else altogether.
    #[must_use]
    pub fn building(
        mut self,
        build: impl Fn(&dyn Machine, &Observation, usize) -> Option<Built> + Send + Sync + 'static,
    ) -> Self {
        self.build = Arc::new(build);
        self
    }

    /// Makes calls of these effects do nothing and report success.
    #[must_use]
    pub fn idle(mut self, idle: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        self.idle = Arc::new(idle);
        self
    }
}

impl MachineWrapper for Wrapped {
    fn inner(&self) -> &dyn Machine {
        &*self.inner
    }

    fn ir(&self) -> &'static Lifecycle {
        self.ir
    }

    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer> {
        let answer = self.inner.fact(observation, var)?;
        Some((self.fact)(observation, var, answer))
    }

    fn timed(&self, observation: &Observation, var: usize) -> Option<Timed<u8>> {
        let Timed { because, until } = self.inner.timed(observation, var)?;
        let because = (self.fact)(observation, var, because);
        Some(Timed { because, until })
    }

    fn build(&self, observation: &Observation, effect: usize) -> Option<Built> {
        (self.build)(&*self.inner, observation, effect)
    }

    fn field(&self, observation: &Observation, field: usize) -> Option<Value> {
        let value = self.inner.field(observation, field)?;
        Some((self.field)(observation, field, value))
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>> {
        if (self.idle)(effect) {
            return Some(Box::pin(ready(Ok(Called(0)))));
        }
        self.inner.call(observation, effect, once)
    }
}
