//! An effect acquires a held fact and names no `undo`, and no stage of a `teardown` releases it.
//! The finalizer of the object could never be removed. An undo, or a stage, may start a release
//! that the environment ends later: it sets a value that is still right of the bar, and a promise
//! continues from there.
//!
//! ```text
//! register: call dns sets { name = Ours } key meta.uid;                    // refused
//! register: call dns sets { name = Ours } undo unregister key meta.uid;
//! ```
//!
//! Two kinds of effects need no undo. An effect only keeps the object if its `when` requires that
//! the object is ours already. A slow undo with a value right of the bar is still in progress.

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{Effect, Lifecycle, Pred, PredKind, ValueSet, VarId};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC041",
    name: "missing_undo",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for effect in lifecycle.effects.iter().filter(|e| e.undo.is_none()) {
        let steps = lifecycle.steps.iter();
        let steps = steps.map(|step| &lifecycle.effects[step.effect.0]);
        let freed: BTreeSet<VarId> = steps.flat_map(|step| step.frees(lifecycle)).collect();
        let mut acquired = effect.acquires(lifecycle).into_iter();
        let is_left = |var: &VarId| !freed.contains(var) && !keeps(lifecycle, effect, *var);
        let Some(held) = acquired.find(is_left) else {
            continue;
        };
        let fact = &lifecycle.vars[held.0].name;
        let frees = lifecycle
            .effects
            .iter()
            .find(|e| e.acquires(lifecycle).is_empty() && e.frees(lifecycle).contains(&held));
        let help = match frees {
            Some(other) => format!(
                "write `undo {}`, or make that a step of the `teardown` if it has its turn",
                other.name
            ),
            None => format!(
                "write a `call` that sets `{fact}` to a value left of its bar, and name it: `undo ..`, or a step of the `teardown`"
            ),
        };
        sink.push(
            RULE.finding(
                effect.name.span(),
                effect.name.to_string(),
                format!(
                    "effect `{}` acquires the held fact `{fact}` but names no `undo`",
                    effect.name
                ),
            )
            .note(fact.span(), format!("`{fact}` is held"))
            .help(help),
        );
    }
}

/// Returns true if the `when` of an effect requires that the object is ours already, so that the
/// effect only keeps it.
fn keeps(lifecycle: &Lifecycle, effect: &Effect, var: VarId) -> bool {
    let free = lifecycle.vars[var.0].held.map(|held| held.free);
    let when = effect.when.as_ref();
    when.is_some_and(|when| excludes(when, var, free.unwrap_or_default()))
}

/// Returns true if a predicate, as it is written, holds with none of these values.
fn excludes(pred: &Pred, var: VarId, free: ValueSet) -> bool {
    match &pred.kind {
        PredKind::Is { var: asked, values } => *asked == var && values.0 & free.0 == 0,
        PredKind::All(parts) => parts.iter().any(|part| excludes(part, var, free)),
        PredKind::Any(parts) => {
            !parts.is_empty() && parts.iter().all(|part| excludes(part, var, free))
        }
        PredKind::Not(part) => match part.kind {
            PredKind::Is { var: asked, values } => asked == var && free.0 & !values.0 == 0,
            PredKind::All(_) | PredKind::Any(_) | PredKind::Not(_) => false,
        },
    }
}
