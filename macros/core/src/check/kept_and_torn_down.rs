//! A step of a `teardown` deletes what is to stay: it runs where its object is `retain`ed, or deletes what was adopted, which is retained. Then it is gone in spite of
//! its policy. Let the step be over there, by an `until` that asks what the `retain` asks, or leave out one of the two.
//! Of what is adopted and no `retain` decides, a `when` may ask a fact that is read from it, and tells whose it was before.
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
use crate::rule::{Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::policy::Choice;
use crate::space::witness::{Claim, minimal, show};

pub(super) const RULE: Rule = Rule {
    code: "LC136",
    name: "kept_and_torn_down",
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

/// By what an object is to stay.
enum Stays<'a> {
    /// Where its policy holds.
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
        let Some(stays) = stays(space, step, effect) else {
            continue;
        };
        let is_due = |world: usize| {
            space.choices[world] == Choice::Effect(step.effect)
                && space.policy.open_step(space.worlds.get(world)) == Some(step.effect)
        };
        let bad = |world: usize| {
            let holds = match stays {
                Stays::Retained(policy) => space.worlds.get(world).holds(policy),
                Stays::Adopted(_) => true,
            };
            is_due(world) && holds
        };
        if let Some(example) = space.deleting().find(|world| bad(*world)) {
            let about = space.deleting().filter(|world| is_due(*world)).collect();
            sink.push(diagnostic(space, effect, &stays, (example, about, &bad)));
        }
    }
}

fn stays<'a>(space: &Space<'a>, step: &Step, effect: &Effect) -> Option<Stays<'a>> {
    let lifecycle = space.lifecycle;
    if let Some(policy) = &lifecycle.inputs[effect.target.0].retain {
        return Some(Stays::Retained(policy));
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
    (!is_told).then_some(Stays::Adopted(adopts.target_span))
}

/// A world, those among which it stands out, and by what.
type Example<'a> = (usize, Vec<usize>, &'a dyn Fn(usize) -> bool);

fn diagnostic(
    space: &Space<'_>,
    effect: &Effect,
    stays: &Stays<'_>,
    (example, about, bad): Example<'_>,
) -> Diagnostic {
    let (name, kept) = (&effect.name, &space.lifecycle.inputs[effect.target.0].name);
    let at = space.worlds.get(example);
    let (span, message, help) = match stays {
        Stays::Retained(policy) if policy.vars().is_empty() => (
            policy.span,
            format!("step `{name}` deletes `{kept}`, and `{kept}` is to stay then"),
            "leave out the `retain`, or the step".to_owned(),
        ),
        Stays::Retained(policy) => {
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
        Stays::Adopted(span) => (
            *span,
            format!("step `{name}` deletes `{kept}`, and what of it was adopted is to stay"),
            format!(
                "write `adopt {kept} without retain ..` if it goes as all that is ours; or let the `when` of the step ask a fact `from {kept}` that tells whose it was"
            ),
        ),
    };
    RULE.finding(effect.target_span, name.to_string(), message)
        .note(span, "here it is said to stay".to_owned())
        .help(help)
}
