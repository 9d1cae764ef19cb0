//! A `never` relates facts that share no input. Each can change without the other, so the
//! environment can bring such a world about at any time.
//!
//! ```text
//! never matched && validity == Bad;    // `matched` reads `network`, `validity` reads `peers`
//! ```
//!
//! Leave the `never` out and give these worlds a state. Facts that are all made `from self` share the object, and two inputs of one type that are found by
//! the same name, or the same labels, are one. A fact that chooses between several builders of an
//! object belongs to the verdict on it: it decides if the object is `Stale` or `Current`.

use std::collections::BTreeSet;

use super::two_writers::firsts;
use crate::errors::Sink;
use crate::model::frames::Dependency;
use crate::model::{InputId, Lifecycle, Origin, Pred, Source, Use, VarId};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC015",
    name: "independent_never",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    if context.lifecycle.nevers.is_empty() {
        return;
    }
    let firsts = firsts(context.lifecycle);
    let nevers = context.lifecycle.nevers.iter();
    for never in nevers.filter(|never| !never.is_implied) {
        let vars = never.pred.vars();
        if vars.len() < 2 || share(context, &vars, &firsts) {
            continue;
        }
        let names: Vec<String> = vars
            .iter()
            .map(|var| format!("`{}`", context.lifecycle.vars[var.0].name))
            .collect();
        sink.push(
            RULE.finding(never.span,
                "never",
                format!(
                    "`never` relates {}, which share no input: the environment can bring this about at any time; give these worlds a state",
                    and(&names)
                ),
            )
            .help(help(context.lifecycle)),
        );
    }
}

/// Returns true if some input or fact decides all of these variables.
fn share(context: &Context<'_>, vars: &BTreeSet<VarId>, firsts: &[InputId]) -> bool {
    let lifecycle = context.lifecycle;
    if vars.iter().all(|var| reads_itself(lifecycle, *var)) {
        return true;
    }
    let chooses = |var: &VarId| vars.iter().any(|of| chooses_builder(lifecycle, *var, *of));
    let vars: Vec<&VarId> = vars.iter().filter(|var| !chooses(var)).collect();
    if vars.len() < 2 {
        return true;
    }
    let mut sets = vars.into_iter().map(|var| {
        let places = context.frames.reads(*var).iter();
        let objects = places.filter_map(|place| match place {
            // Two names of one object are one.
            Dependency::Input(input) => Some(firsts[input.0]),
            Dependency::This | Dependency::Request | Dependency::Field(_) => None,
            Dependency::Value(_) | Dependency::Path(_) => None,
        });
        objects.collect::<BTreeSet<InputId>>()
    });
    let first = sets.next().unwrap_or_default();
    !sets.fold(first, |common, set| &common & &set).is_empty()
}

/// Returns true if a variable is asked by the permissions that choose between several builders of
/// an object, and the other one is the verdict on that object.
fn chooses_builder(lifecycle: &Lifecycle, var: VarId, verdict: VarId) -> bool {
    let Origin::Input(input) = lifecycle.vars[verdict.0].origin else {
        return false;
    };
    let builders = lifecycle.effects.iter();
    let mut builders =
        builders.filter(|one| one.target == input && one.is_one_of_several(lifecycle));
    let asks = |when: &Pred| when.vars().contains(&var);
    var != verdict && builders.any(|one| one.when.as_ref().is_some_and(asks))
}

/// Returns true if the author declares that a fact is made from the object itself.
fn reads_itself(lifecycle: &Lifecycle, var: VarId) -> bool {
    match &lifecycle.vars[var.0].origin {
        Origin::Fact { from, .. } => is_made_of_itself(lifecycle, from, lifecycle.values.len()),
        Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    }
}

/// `depth` bounds values that are declared in a circle.
fn is_made_of_itself(lifecycle: &Lifecycle, from: &[Use], depth: usize) -> bool {
    from.iter().any(|one| match one.source {
        Source::This => true,
        Source::Value(value) => {
            let from = &lifecycle.values[value.0].from;
            depth > 0 && is_made_of_itself(lifecycle, from, depth - 1)
        }
        Source::Request | Source::Field(_) | Source::Input(_) | Source::Fact(_) => false,
    })
}

fn help(lifecycle: &Lifecycle) -> String {
    let first = lifecycle.states.first().map(|state| state.name.to_string());
    let before = first.map_or(String::new(), |name| format!(" above `{name}`"));
    format!("leave the `never` out and write a state for it{before}")
}

fn and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
