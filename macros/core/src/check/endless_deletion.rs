//! A deletion never ends, because something held is not released from some world, or a stage of the
//! `teardown` does not end. No undo and no effect of the stage is enabled there, or they repeat in
//! a circle. The finalizer would stay for ever. Let the `undo` of the acquiring effect run from
//! there, or let the `until` of the stage hold there by facts that are evaluated there.
//! Alternatively, promise the change that the environment makes.
//!
//! ```text
//! remove: call store from config sets { entry = No } ..;   // refused as an undo: without the config the finalizer could never go
//! remove: call store sets { entry = No } ..;
//! teardown { drain until served == No; }                     // refused where the machine is gone by hand, and nobody asks `served`
//! teardown { drain until served == No || infra == Absent; }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;

use super::steps_against_each_other::against;
use crate::errors::{Diagnostic, Sink};
use crate::model::{EffectId, Lifecycle, VarId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::components::Loop;
use crate::space::explored::Explored;
use crate::space::permission::Obstacle;
use crate::space::witness::{Claim, minimal, show};

pub(super) const RULE: Rule = Rule {
    code: "LC040",
    name: "endless_deletion",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

/// Obstacle that blocks a deletion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    Step(EffectId),
    Held(VarId),
}

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let deleting = |world: &usize| space.classes[*world] == Class::Deleting;
    let stuck = explored.drives.stuck.iter().copied().filter(deleting);
    let loops = explored.drives.loops.iter();
    let loops = loops.filter(|one| against(explored, one).len() < 2);
    let round = loops.flat_map(|one| &one.worlds);
    let round = round.map(|world| *world as usize).filter(deleting);
    let mut by_left: BTreeMap<Left, Vec<usize>> = BTreeMap::new();
    for world in stuck.chain(round) {
        for left in left(explored, world) {
            by_left.entry(left).or_default().push(world);
        }
    }
    for (left, mut worlds) in by_left {
        worlds.sort_unstable();
        sink.push(diagnostic(explored, left, &worlds));
    }
}

/// Returns the open stage of the teardown, or else the held facts. No held fact is released before
/// all stages are over.
fn left(explored: &Explored<'_>, world: usize) -> Vec<Left> {
    let (policy, world) = (&explored.space.policy, explored.space.worlds.get(world));
    match policy.open_step(world) {
        Some(step) => vec![Left::Step(step)],
        None => policy
            .still_held(world)
            .into_iter()
            .map(Left::Held)
            .collect(),
    }
}

fn diagnostic(explored: &Explored<'_>, left: Left, worlds: &[usize]) -> Diagnostic {
    let space = explored.space;
    let lifecycle = space.lifecycle;
    let bad = |world: usize| worlds.binary_search(&world).is_ok();
    let asked = |effect: EffectId| {
        let mut steps = lifecycle.steps.iter();
        steps.find(|step| step.effect == effect)
    };
    let expected: BTreeSet<VarId> = match left {
        Left::Held(var) => [VarId(0), var].into(),
        Left::Step(effect) => asked(effect).map_or_else(BTreeSet::new, |step| step.until.vars()),
    };
    let claim = Claim {
        about: match left {
            Left::Held(_) => space.worlds.indexes().collect(),
            Left::Step(_) => space.deleting().collect(),
        },
        bad: &bad,
        expected,
    };
    let with = minimal(space, &claim, worlds[0]);
    let round =
        round_through(explored, worlds[0]).map(|round| format!("the run goes round, {round}"));
    match left {
        Left::Held(var) => {
            let fact = &lifecycle.vars[var.0].name;
            let why =
                round.unwrap_or_else(|| "no undo is enabled and nothing is promised".to_owned());
            let message = format!(
                "no deletion path: with `{with}` the finalizer can never go, for `{fact}` is not given back: {why}"
            );
            let found = RULE.finding(fact.span(), fact.to_string(), message);
            let found = match find_blocked_undo(explored, var, worlds[0]) {
                Some((undo, span, why)) => {
                    found.note(span, format!("`{undo}` cannot run there: {why}"))
                }
                None => found,
            };
            found.help(with_giving_up(
                lifecycle,
                "let the `undo` of the effect that acquires it be possible there, or promise what the environment does by itself",
                &with,
            ))
        }
        Left::Step(effect) => {
            let name = &lifecycle.effects[effect.0].name;
            let span = asked(effect).map_or(name.span(), |step| step.span);
            let why = round
                .unwrap_or_else(|| "its effect is not enabled and nothing is promised".to_owned());
            let message =
                format!("no deletion path: with `{with}` step `{name}` is never over: {why}");
            RULE.finding(span, name.to_string(), message).help(with_giving_up(
                lifecycle,
                "let `until` also hold there, by facts evaluated there (`|| ..`), let the effect be possible there, or promise what the environment does by itself",
                &with,
            ))
        }
    }
}

/// Returns the help text, extended by the way to give up if nothing can be done. A lifecycle that
/// already gives something up gets the plain text.
fn with_giving_up(lifecycle: &Lifecycle, help: &str, with: &str) -> String {
    if lifecycle.steps.is_empty() || !lifecycle.abandoned.is_empty() {
        return help.to_owned();
    }
    let mut facts = with.split(" && ");
    let gone = facts.find(|fact| fact.ends_with("== Absent"));
    let gone = gone.unwrap_or("..");
    format!(
        "{help}; to give up what is left there, add to `teardown`: `abandoned when {gone} \"why it is left\";`"
    )
}

/// Returns the undo that should release it, and the reason why it does not run.
fn find_blocked_undo(
    explored: &Explored<'_>,
    held: VarId,
    world: usize,
) -> Option<(String, Option<Span>, String)> {
    let space = explored.space;
    let (lifecycle, at) = (space.lifecycle, space.worlds.get(world));
    let mut undos = space.policy.undos().iter();
    let undo = undos.find(|undo| lifecycle.effects[undo.0].frees(lifecycle).contains(&held))?;
    let (span, why) = match space.permissions.keeps_undo(*undo, at)? {
        Obstacle::Given(given) => {
            let facts = show(lifecycle, at, given.vars());
            let why = format!(
                "its inputs are observed only where this `given` holds, and here is `{facts}`"
            );
            (Some(given.span), why)
        }
        Obstacle::Missing(var) => (None, format!("here is `{}`", show(lifecycle, at, [var]))),
    };
    Some((lifecycle.effects[undo.0].name.to_string(), span, why))
}

/// The round that a world of a loop is in.
fn round_through(explored: &Explored<'_>, world: usize) -> Option<String> {
    let contains = |one: &&Loop| one.worlds.iter().any(|other| *other as usize == world);
    let one = explored.drives.loops.iter().find(contains)?;
    Some(explored.drives.describe(explored.space, one))
}
