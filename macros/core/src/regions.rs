//! Checks a lifecycle with regions: declarations in the union of all, worlds in the root and in
//! each region by itself. That adds up instead of multiplying. It is sound, because a region
//! changes nothing that another reads, and asks no more than its state, in no circle.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast;
use crate::errors::Sink;
use crate::model::build::{Built, order, resolve};
use crate::model::{EffectId, InputId, Lifecycle, Locked, Origin, StateId, Var};
use crate::rule::Context;
use crate::space::cause::Actor;
use crate::space::promised::Mover;
use crate::space::summary::WorldReport;
use crate::stages;

/// Returns the model of the union with all findings, if all names resolved.
pub(crate) fn understood(
    ast: &ast::Lifecycle,
    mut built: Built,
    sink: &mut Sink,
) -> Option<(Lifecycle, Option<WorldReport>)> {
    order(&mut built, sink);
    if built.bounded {
        stages::names(&built.lifecycle, sink);
    }
    if !built.complete {
        return None;
    }
    let whole = built.lifecycle;
    if !stages::declarations(&Context::new(&whole), sink) {
        return Some((whole, None));
    }
    let regions = 0..ast.regions.len();
    let parts = std::iter::once(ast.root()).chain(regions.map(|number| ast.part(number)));
    let mut report = WorldReport::for_states(whole.states.len());
    let mut is_complete = true;
    for part in parts {
        let mut found = Sink::default();
        // The lock is about the whole lifecycle, and compared once.
        let lock = whole.lock.clone().filter(|_| part.place.is_root);
        let seen = explored(&part, lock, &mut found);
        sink.absorb(found);
        match seen {
            Some((part, seen)) => Translation::new(&part, &whole).add(seen, &mut report),
            None => is_complete = false,
        }
        // What a region finds below a wrong root follows from that.
        if sink.has_errors() && part.place.is_root {
            return Some((whole, None));
        }
    }
    Some((whole, is_complete.then_some(report)))
}

/// Explores a part by itself.
fn explored(
    part: &ast::Lifecycle,
    lock: Option<Locked>,
    sink: &mut Sink,
) -> Option<(Lifecycle, WorldReport)> {
    let mut built = resolve(part, sink);
    order(&mut built, sink);
    built.lifecycle.lock = lock;
    if !built.complete || sink.has_errors() {
        return None;
    }
    let seen = stages::explore(&Context::new(&built.lifecycle), sink)?;
    Some((built.lifecycle, seen))
}

/// The items of a part, as positions in the union.
struct Translation<'a> {
    part: &'a Lifecycle,
    whole: &'a Lifecycle,
    /// By kind and name.
    vars: BTreeMap<(&'static str, String), usize>,
}

impl<'a> Translation<'a> {
    fn new(part: &'a Lifecycle, whole: &'a Lifecycle) -> Self {
        let vars = whole.vars.iter().enumerate();
        Self {
            part,
            whole,
            vars: vars.map(|(at, var)| (key(var), at)).collect(),
        }
    }

    /// Adds what is known about a part. States of the union that it lacks keep what they have.
    fn add(&self, seen: WorldReport, report: &mut WorldReport) {
        let samples = self.part.states.iter().zip(seen.samples);
        for (state, sample) in samples {
            let mut states = self.whole.states.iter();
            if let Some(at) = states.position(|other| other.name == state.name) {
                report.samples[at] = sample.and_then(|sample| self.sample(&sample));
            }
        }
        for ((from, to), causes) in seen.edges {
            if let (Some(from), Some(to)) = (self.state(from), self.state(to)) {
                let causes: BTreeSet<Actor> =
                    causes.into_iter().map(|one| self.actor(one)).collect();
                report.edges.entry((from, to)).or_default().extend(causes);
            }
        }
        for (state, promises) in seen.waits {
            if let Some(state) = self.state(state) {
                let promises = promises.into_iter().map(|one| self.promise(one));
                report.waits.insert((state, promises.collect()));
            }
        }
    }

    /// Returns a world of the union in which a part is as in this sample. `None` if the part asks
    /// for other regions, whose facts the sample does not have.
    fn sample(&self, sample: &[usize]) -> Option<Vec<usize>> {
        let mut values = vec![0; self.whole.vars.len()];
        for (var, value) in self.part.vars.iter().zip(sample) {
            values[*self.vars.get(&key(var))?] = *value;
        }
        Some(values)
    }

    fn state(&self, state: StateId) -> Option<StateId> {
        let name = &self.part.states[state.0].name;
        let mut states = self.whole.states.iter();
        states.position(|other| other.name == *name).map(StateId)
    }

    fn promise(&self, promise: usize) -> usize {
        let name = &self.part.promises[promise].name;
        let mut promises = self.whole.promises.iter();
        let found = promises.position(|other| other.name == *name);
        found.expect("the union has all promises")
    }

    fn input(&self, input: InputId) -> InputId {
        let name = &self.part.inputs[input.0].name;
        let mut inputs = self.whole.inputs.iter();
        let found = inputs.position(|other| other.name == *name);
        InputId(found.expect("the union has all inputs that something moves"))
    }

    fn actor(&self, actor: Actor) -> Actor {
        match actor {
            Actor::Effect(effect) => {
                let name = &self.part.effects[effect.0].name;
                let mut effects = self.whole.effects.iter();
                let found = effects.position(|other| other.name == *name);
                Actor::Effect(EffectId(found.expect("the union has all effects")))
            }
            Actor::Other(mover) => Actor::Other(match mover {
                Mover::Promise(promise) => Mover::Promise(self.promise(promise)),
                Mover::Gone(input) => Mover::Gone(self.input(input)),
                Mover::Again(input) => Mover::Again(self.input(input)),
                Mover::Answer(input) => Mover::Answer(self.input(input)),
                Mover::Effect | Mover::Claim => mover,
            }),
        }
    }
}

/// Returns what a variable is called, with its kind: an effect may be named like a fact.
fn key(var: &Var) -> (&'static str, String) {
    let kind = match var.origin {
        Origin::Refused(_) => "refused",
        Origin::Deleting | Origin::Claimed => "object",
        Origin::Input(_) | Origin::Fact { .. } => "fact",
    };
    (kind, var.name.to_string())
}
