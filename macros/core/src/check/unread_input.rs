//! A warning: an input is observed and nothing reads it. Each input costs a watch and a right. Leave it out; or ask for it where that was forgotten.
//!
//! ```text
//! nodes: [Node] by labels { ROLE = meta.name };                                       // nothing says `nodes`: warned
//! allow LC064 nodes "its watch wakes the object, and nothing more is asked of it";
//! ```
//!
//! Inputs count as read if predicates query them, if facts, builders, fields and lookups are made
//! `from` them, or if effects write them. A property reads nothing: it is proved, and never
//! evaluated.

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::frames::Dependency;
use crate::model::{
    FieldOf, InputId, Lifecycle, Lookup, Meaning, Mode, Origin, Pred, Source, Step, Target, Use,
    VarId,
};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC064",
    name: "unread_input",
    group: Group::Facts,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let read = read(context);
    for (at, input) in context.lifecycle.inputs.iter().enumerate() {
        // Members are read as the group that they are in.
        let is_member = input.group.is_some();
        if read.contains(&InputId(at)) || input.retired.is_some() || is_member {
            continue;
        }
        let (name, span) = (input.name.to_string(), input.name.span());
        sink.push(if input.mode == Mode::Clock {
            let message = format!("`{name}` is the time, and nothing reads it");
            let help = format!("leave it out, or declare a fact `from {name}`");
            RULE.finding(span, name, message).help(help)
        } else {
            let message = format!("`{name}` is watched but nothing reads it");
            let help = "leave it out: it costs a watch and a right";
            RULE.finding(span, name, message).help(help)
        });
    }
}

/// Inputs that something reads, directly or through values and lookups.
fn read(context: &Context<'_>) -> BTreeSet<InputId> {
    let lifecycle = context.lifecycle;
    let mut reading = Reading {
        lifecycle,
        inputs: BTreeSet::new(),
        values: BTreeSet::new(),
    };
    for at in 0..lifecycle.vars.len() {
        if let Origin::Fact { .. } = lifecycle.vars[at].origin {
            reading.places(context.frames.reads(VarId(at)));
        }
    }
    reading.effects();
    reading.fields();
    reading.predicates();
    reading.retired();
    reading.inputs
}

/// Returns the predicates of preconditions, targets and refusals of a volume. A state that is a
/// target brings its own predicates.
fn asked_by_calls(lifecycle: &Lifecycle) -> Vec<&Pred> {
    let preconditions = lifecycle
        .preconditions
        .iter()
        .filter_map(|one| match &one.meaning {
            Meaning::When(when) => Some(when),
            Meaning::Never(_) => None,
        });
    let targets = lifecycle
        .calls
        .iter()
        .filter_map(|call| match &call.target {
            Target::Pred(target) => Some(target),
            Target::Nothing | Target::State(..) => None,
        });
    let refusals = lifecycle.calls.iter().flat_map(|call| &call.refusals);
    let refusals = refusals.map(|refusal| &refusal.when);
    preconditions.chain(targets).chain(refusals).collect()
}

struct Reading<'a> {
    lifecycle: &'a Lifecycle,
    inputs: BTreeSet<InputId>,
    values: BTreeSet<usize>,
}

impl Reading<'_> {
    fn places(&mut self, places: &BTreeSet<Dependency>) {
        for place in places {
            if let Dependency::Input(input) = place {
                self.inputs.insert(*input);
            }
        }
    }

    fn effects(&mut self) {
        for effect in &self.lifecycle.effects {
            self.input(effect.target);
            self.uses(&effect.from);
            if let Some(input) = effect.key.as_ref().and_then(|key| key.input) {
                self.input(input);
            }
        }
    }

    /// Marks the inputs that the lookups of retired inputs name as read.
    fn retired(&mut self) {
        for (at, input) in self.lifecycle.inputs.iter().enumerate() {
            if input.retired.is_some() {
                self.input(InputId(at));
            }
        }
    }

    fn fields(&mut self) {
        for field in &self.lifecycle.fields {
            if let FieldOf::Method { from, .. } = &field.what {
                self.uses(from);
            }
        }
    }

    fn predicates(&mut self) {
        let lifecycle = self.lifecycle;
        let clauses = lifecycle.conditions.iter().flat_map(|c| &c.clauses);
        let clauses = clauses.filter_map(|clause| clause.when.as_ref());
        let states = lifecycle.states.iter().map(|state| &state.when);
        let effects = lifecycle.effects.iter().filter_map(|e| e.when.as_ref());
        let promises = lifecycle.promises.iter().map(|promise| &promise.when);
        let nevers = lifecycle.nevers.iter().filter(|never| !never.is_implied);
        let nevers = nevers.map(|never| &never.pred);
        let mints = lifecycle.values.iter().filter_map(|v| v.mint.as_ref());
        let untils = mints.filter_map(|mint| mint.until.as_ref());
        let inputs = lifecycle.inputs.iter();
        let inputs = inputs.flat_map(|i| i.given.iter().chain(&i.retain));
        let values = lifecycle.values.iter().filter_map(|v| v.given.as_ref());
        let guards = lifecycle.vars.iter().flat_map(|var| &var.given);
        let guards = guards.map(|guard| &guard.pred);
        let all: Vec<&Pred> = states
            .chain(effects)
            .chain(promises)
            .chain(nevers)
            .chain(untils)
            .chain(guards)
            .chain(inputs)
            .chain(values)
            .chain(clauses)
            .chain(asked_by_calls(lifecycle))
            .chain(lifecycle.steps.iter().flat_map(Step::predicates))
            .chain(lifecycle.abandoned.iter().map(|one| &one.when))
            .collect();
        for var in all.into_iter().flat_map(|pred| pred.vars()) {
            if let Origin::Input(input) = lifecycle.vars[var.0].origin {
                self.input(input);
            }
        }
    }

    fn uses(&mut self, uses: &[Use]) {
        for one in uses {
            match one.source {
                Source::Input(input) => self.input(input),
                Source::Value(value) => {
                    if self.values.insert(value.0) {
                        self.uses(&self.lifecycle.values[value.0].from);
                    }
                }
                Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => {}
            }
        }
    }

    fn input(&mut self, id: InputId) {
        if !self.inputs.insert(id) {
            return;
        }
        let input = &self.lifecycle.inputs[id.0];
        if let Some(of) = input.of {
            self.input(of);
        }
        match &input.lookup {
            Lookup::Names { of } | Lookup::Refs { of } => self.uses(of),
            Lookup::Ref { from } => self.uses(from),
            Lookup::Keys(keys) => keys.iter().for_each(|key| self.uses(key.input.as_slice())),
            Lookup::Name { path, .. } | Lookup::Equal { ours: path, .. } => self.path(path),
            Lookup::Labels { pairs } => pairs.iter().for_each(|(_, path)| self.path(path)),
            Lookup::None | Lookup::Owner | Lookup::Namespace => {}
        }
    }

    fn path(&mut self, path: &crate::model::Path) {
        let mut inputs = self.lifecycle.inputs.iter();
        if let Some(at) = inputs.position(|input| input.name == *path.root()) {
            self.input(InputId(at));
        }
    }
}
