//! A stage of the `teardown` deletes an object that should stay: one that is `retain`ed, or an
//! adopted one, which is retained too. The object is then deleted in spite of its policy. Let an
//! `until` end the stage there, by the facts that the `retain` queries, or leave out one of the
//! two. For an adopted object without a `retain`, a `when` may query a fact that reads the object
//! and reports its previous owner.
//!
//! ```text
//! data: owned Claim by name meta.name retain when keeps;  ..
//! wipe until data in { Absent, Foreign };                  // refused: it runs where `keeps` holds, too
//! wipe until data in { Absent, Foreign } || keeps;
//! ```

use proc_macro2::Span;

use crate::errors::{Diagnostic, Sink};
use crate::model::frames::Dependency;
use crate::model::{Effect, Origin, Pred, Step, VarId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::policy::Choice;
use crate::space::witness::{Claim, minimal, show};

pub(super) const RULE: Rule = Rule {
    code: "LC136",
    name: "kept_and_torn_down",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

/// Reason why an object should stay.
enum Retention<'a> {
    /// Retained while its policy holds.
    Retained(&'a Pred),
    /// Always, once this has taken it over.
    Adopted(Span),
}

fn check(space: &Space<'_>, sink: &mut Sink) {
    for step in &space.lifecycle.steps {
        let effect = &space.lifecycle.effects[step.effect.0];
        if effect.verb != Verb::Delete {
            continue;
        }
        let Some(stays) = find_retention(space, step, effect) else {
            continue;
        };
        let is_due = |world: usize| {
            space.choices[world] == Choice::Effect(step.effect)
                && space.policy.open_step(space.worlds.get(world)) == Some(step.effect)
        };
        let bad = |world: usize| {
            let holds = match stays {
                Retention::Retained(policy) => space.worlds.get(world).holds(policy),
                Retention::Adopted(_) => true,
            };
            is_due(world) && holds
        };
        if let Some(example) = space.deleting().find(|world| bad(*world)) {
            let about = space.deleting().filter(|world| is_due(*world)).collect();
            sink.push(diagnostic(space, effect, &stays, (example, about, &bad)));
        }
    }
}

fn find_retention<'a>(space: &Space<'a>, step: &Step, effect: &Effect) -> Option<Retention<'a>> {
    let lifecycle = space.lifecycle;
    if let Some(policy) = &lifecycle.inputs[effect.target.0].retain {
        return Some(Retention::Retained(policy));
    }
    let mut effects = lifecycle.effects.iter();
    let adopts = effects.find(|other| other.keeps && other.target == effect.target)?;
    let target = Dependency::Input(effect.target);
    let tells = |var: &VarId| {
        let is_fact = matches!(lifecycle.vars[var.0].origin, Origin::Fact { .. });
        is_fact && space.frames.reads(*var).contains(&target)
    };
    let mut when = step.when.iter();
    let is_told = when.any(|when| when.vars().iter().any(tells));
    (!is_told).then_some(Retention::Adopted(adopts.target_span))
}

/// A world, the worlds to compare it with, and the predicate that selects it.
type Example<'a> = (usize, Vec<usize>, &'a dyn Fn(usize) -> bool);

fn diagnostic(
    space: &Space<'_>,
    effect: &Effect,
    stays: &Retention<'_>,
    (example, about, bad): Example<'_>,
) -> Diagnostic {
    let (name, kept) = (&effect.name, &space.lifecycle.inputs[effect.target.0].name);
    let at = space.worlds.get(example);
    let (span, message, help) = match stays {
        Retention::Retained(policy) if policy.vars().is_empty() => (
            policy.span,
            format!("step `{name}` deletes `{kept}`, and `{kept}` is to stay then"),
            "leave out the `retain`, or the step".to_owned(),
        ),
        Retention::Retained(policy) => {
            let claim = Claim {
                about,
                bad,
                expected: policy.vars(),
            };
            let facts = minimal(space, &claim, example);
            let keeps = show(space.lifecycle, at, policy.vars());
            (
                policy.span,
                format!(
                    "step `{name}` deletes `{kept}` also with `{facts}`, and `{kept}` is to stay then"
                ),
                format!("let it be over where its `retain` holds: `{name} until .. || {keeps};`"),
            )
        }
        Retention::Adopted(span) => (
            *span,
            format!("step `{name}` deletes `{kept}`, and what of it was adopted is to stay"),
            format!(
                "write `adopt {kept} without retain ..` if it must go like every owned object; or let the `when` of the step read a fact `from {kept}` that shows who owned it before"
            ),
        ),
    };
    RULE.finding(effect.target_span, name.to_string(), message)
        .note(span, "this declares that it stays".to_owned())
        .help(help)
}
