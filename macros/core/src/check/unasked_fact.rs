//! A warning: nothing evaluates a fact, or a name for a predicate. A fact multiplies the worlds
//! that are checked, and its author believes that it affects something. Evaluate it, or leave it
//! out. A `held` fact decides about the finalizer, and a fact that an effect sets decides if the
//! effect runs. A lifecycle need not evaluate every fact that a fragment offers.
//!
//! ```text
//! facts  { healthy: bool from pods; }
//! states { goal Ready when service == Current => Ready; }               // warned: `healthy` decides nothing
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{
    FieldOf, Lifecycle, Meaning, Named, Origin, Pred, PropertyOf, Source, Step, Target, VarId,
};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC167",
    name: "unasked_fact",
    group: Group::Facts,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let asked = referenced_facts(lifecycle);
    for (at, var) in lifecycle.vars.iter().enumerate() {
        let is_fact = matches!(var.origin, Origin::Fact { .. });
        let is_exempt = var.held.is_some() || lifecycle.home_of(&var.name).is_some();
        if !is_fact || is_exempt || asked.contains(&VarId(at)) {
            continue;
        }
        let name = &var.name;
        let message = format!("fact `{name}` is never read");
        sink.push(
            RULE.finding(name.span(), name.to_string(), message)
                .help("ask it in a state, a condition or a `when`, or leave it out"),
        );
    }
    let is_offered = |name: &Named| {
        let mut fragments = lifecycle.fragments.iter();
        fragments.any(|one| one.alone.names.iter().any(|other| other.name == name.name))
    };
    let unasked = lifecycle.names.iter().filter(|name| !name.asked);
    for name in unasked.filter(|name| !is_offered(name)) {
        let name = &name.name;
        let message = format!("`{name}` is never read");
        sink.push(
            RULE.finding(name.span(), name.to_string(), message)
                .help("ask it where it was meant to count, or leave it out"),
        );
    }
}

/// The facts that decide something, or from which a field is made.
fn referenced_facts(lifecycle: &Lifecycle) -> BTreeSet<VarId> {
    let mut asked: BTreeSet<VarId> = predicates(lifecycle)
        .into_iter()
        .flat_map(Pred::vars)
        .collect();
    for name in &lifecycle.names {
        asked.extend(&name.asks);
    }
    // Where it is as the effect would make it, the effect has nothing to do.
    let sets = lifecycle
        .effects
        .iter()
        .flat_map(|effect| effect.sets.iter().flatten());
    asked.extend(sets.map(|assign| assign.var));
    let methods = lifecycle
        .fields
        .iter()
        .filter_map(|field| match &field.what {
            FieldOf::Method { from, .. } => Some(from),
            FieldOf::Phase | FieldOf::Reason | FieldOf::Message => None,
        });
    asked.extend(methods.flatten().filter_map(|one| match one.source {
        Source::Fact(fact) => Some(fact),
        Source::This | Source::Request | Source::Field(_) | Source::Input(_) | Source::Value(_) => {
            None
        }
    }));
    asked
}

fn predicates(lifecycle: &Lifecycle) -> Vec<&Pred> {
    let clauses = lifecycle.conditions.iter().flat_map(|one| &one.clauses);
    let guards = lifecycle.vars.iter().flat_map(|var| &var.given);
    let properties = lifecycle
        .properties
        .iter()
        .filter_map(|one| match &one.what {
            PropertyOf::Always { pred, .. } | PropertyOf::Never { pred, .. } => Some(pred),
            PropertyOf::Before { .. } | PropertyOf::Reaches { .. } => None,
        });
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
    let mut all: Vec<&Pred> = lifecycle.states.iter().map(|state| &state.when).collect();
    all.extend(lifecycle.effects.iter().filter_map(|one| one.when.as_ref()));
    all.extend(lifecycle.promises.iter().map(|promise| &promise.when));
    all.extend(lifecycle.nevers.iter().map(|never| &never.pred));
    let inputs = lifecycle.inputs.iter();
    all.extend(inputs.flat_map(|one| one.given.iter().chain(&one.retain)));
    all.extend(lifecycle.values.iter().filter_map(|one| one.given.as_ref()));
    let mints = lifecycle.values.iter().filter_map(|one| one.mint.as_ref());
    all.extend(mints.filter_map(|mint| mint.until.as_ref()));
    all.extend(lifecycle.steps.iter().flat_map(Step::predicates));
    all.extend(lifecycle.abandoned.iter().map(|one| &one.when));
    all.extend(guards.map(|guard| &guard.pred));
    all.extend(clauses.filter_map(|clause| clause.when.as_ref()));
    all.extend(properties.chain(preconditions).chain(targets));
    all.extend(refusals.map(|refusal| &refusal.when));
    all
}
