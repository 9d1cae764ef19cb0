//! A property `never effect while ..` has a world in which the effect is enabled and the predicate
//! holds. An effect also counts as enabled if an earlier one runs first. On deletion an undo is
//! enabled wherever something is left to release, regardless of its `when`. In a volume, an effect
//! is enabled in a call that names it, as long as neither a precondition nor the target nor a
//! refusal has answered.
//!
//! ```text
//! properties { never put while frozen == Yes; }            // refused: `put: call store when entry == Stale ..`
//! put: call store when entry == Stale && frozen == No ..
//! ```

use std::collections::BTreeSet;

use crate::errors::{Diagnostic, Sink};
use crate::model::{EffectId, Pred, Property, PropertyOf};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::{Answer, CallDrive, Called};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC093",
    name: "forbidden_effect",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Both(check, in_calls),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (property, effect, pred) in claims(space) {
        let worlds: Vec<usize> = space.worlds.indexes().collect();
        let enabled = |world: usize| space.permissions.enabled(effect, space.worlds.get(world));
        let Some((example, diagnostic)) =
            broken(space, property, (effect, pred), worlds, "", &enabled)
        else {
            continue;
        };
        let name = &space.lifecycle.effects[effect.0].name;
        let help = if space.classes[example] == Class::Deleting {
            match space.lifecycle.effects[effect.0].is_step {
                true => format!(
                    "on deletion a step ignores the `when` of its effect: only its own `{name} when .. until ..`, an `until` that holds, and its `from` inputs keep `{name}` from running there"
                ),
                false => format!(
                    "on deletion an undo ignores its `when`: only its `from` inputs and the `given` of its target keep `{name}` from running there"
                ),
            }
        } else {
            format!("let the `when` of `{name}` exclude it")
        };
        let runs = space.choices[example].effect();
        let other = runs.filter(|runs| *runs != effect);
        let diagnostic = match other.map(|other| &space.lifecycle.effects[other.0].name) {
            Some(other) => diagnostic.note(None, format!("`{other}` runs first there")),
            None => diagnostic,
        };
        sink.push(diagnostic.help(help));
    }
}

/// The same in the calls of a volume.
fn in_calls(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    for (property, effect, pred) in claims(space) {
        for drive in &called.drives {
            let enabled = |world: usize| is_enabled(space, drive, effect, world);
            let place = format!(" in `{}`", drive.call.name);
            let worlds = drive.worlds.clone();
            let found = broken(space, property, (effect, pred), worlds, &place, &enabled);
            if let Some((_, diagnostic)) = found {
                let help = format!(
                    "let its `when` exclude it, or let a refusal of `{}` answer there",
                    drive.call.name
                );
                sink.push(diagnostic.help(help));
            }
        }
    }
}

/// Returns true if a call reaches its effects in a world, and this effect is among them and
/// permitted.
fn is_enabled(space: &Space<'_>, drive: &CallDrive<'_>, effect: EffectId, world: usize) -> bool {
    let names = drive.call.by.iter().any(|(step, _)| *step == effect);
    let comes_there = match drive.answers[world] {
        Answer::Run(_) | Answer::Wait => true,
        Answer::Precondition(..) | Answer::Done | Answer::Refusal(_) => false,
    };
    names && comes_there && space.permissions.enabled(effect, space.worlds.get(world))
}

fn claims<'a>(
    space: &Space<'a>,
) -> impl Iterator<Item = (&'a Property, EffectId, &'a Pred)> + use<'a> {
    let properties = space.lifecycle.properties.iter();
    properties.filter_map(|property| match &property.what {
        PropertyOf::Never { effect, pred } => Some((property, *effect, pred)),
        PropertyOf::Always { .. } | PropertyOf::Before { .. } | PropertyOf::Reaches { .. } => None,
    })
}

/// Returns the first world that breaks the property, with a finding about all such worlds.
fn broken(
    space: &Space<'_>,
    property: &Property,
    (effect, pred): (EffectId, &Pred),
    about: Vec<usize>,
    place: &str,
    enabled: &dyn Fn(usize) -> bool,
) -> Option<(usize, Diagnostic)> {
    let breaks = |world: usize| space.worlds.get(world).holds(pred) && enabled(world);
    let mut breaking = about.iter().copied().filter(|world| breaks(*world));
    let example = breaking.next()?;
    let count = 1 + breaking.count();
    let mut expected: BTreeSet<_> = pred.vars();
    let when = space.lifecycle.effects[effect.0].when.as_ref();
    expected.extend(when.into_iter().flat_map(Pred::vars));
    let claim = Claim {
        about,
        bad: &breaks,
        expected,
    };
    let witness = minimal(space, &claim, example);
    let name = &space.lifecycle.effects[effect.0].name;
    let message = format!(
        "`{name}` is enabled{place} with `{witness}`: {count} {}",
        if count == 1 { "world" } else { "worlds" }
    );
    let diagnostic = RULE.finding(property.span, property.name.as_str(), message);
    Some((example, diagnostic))
}
