//! In a world that is no goal, nothing can happen: no effect is enabled and nothing is promised. If
//! only a person or another object can help, declare `wakes ..`; otherwise an effect or a promise
//! is missing. A region in its goal stays there, so no state waits for it. `Surplus` members of a
//! set or a group wait for a `delete each`.
//!
//! ```text
//! Taken when service == Foreign => Error;                  // refused: nothing is enabled and nothing is promised
//! Taken when service == Foreign => Error wakes service, self;
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::useless_wakes::leading_out_or;
use crate::errors::Sink;
use crate::model::{
    EffectId, Input, InputId, Lifecycle, Mode, Phase, Pred, PredKind, Source, VarId, Verb, Verdict,
};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::graph::forced;
use crate::space::promised::Mover;
use crate::space::witness::{Claim, essential, show};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC021",
    name: "dead_end",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_class: BTreeMap<Class, usize> = BTreeMap::new();
    for &world in &explored.drives.stuck {
        if space.classes[world] != Class::Deleting {
            by_class.entry(space.classes[world]).or_insert(world);
        }
    }
    for (class, example) in by_class {
        let stuck = |world: usize| explored.drives.stuck.binary_search(&world).is_ok();
        let claim = Claim {
            about: explored.worlds_of(class).collect(),
            bad: &stuck,
            expected: explored.vars_of(class),
        };
        let name = space.class_name(class);
        let finished = finished(space, class, example);
        let why = match space.choices[example].effect() {
            None => match finished {
                None => "no effect is enabled and nothing is promised".to_owned(),
                Some(input) => format!(
                    "no effect is enabled and nothing is promised, and region `{}` stays in its goal",
                    input.name
                ),
            },
            Some(effect) => format!(
                "effect `{}` can end nowhere, for a `never` rules out all that it may bring about",
                space.lifecycle.effects[effect.0].name
            ),
        };
        let forgotten = forgotten(explored, class, example);
        let mut shown = essential(space, &claim, example);
        shown.extend(forgotten.as_ref().map(|one| one.var));
        shown.extend(finished.and_then(|input| Some(input.region.as_ref()?.state)));
        let witness = show(space.lifecycle, space.worlds.get(example), shown);
        let message = format!("dead end: in state `{name}` with `{witness}` {why}");
        let help = help(explored, class, example, forgotten);
        sink.push(
            RULE.finding(explored.span_of(class), name, message)
                .help(help),
        );
    }
}

fn help(
    explored: &Explored<'_>,
    class: Class,
    example: usize,
    forgotten: Option<Forgotten>,
) -> String {
    let space = explored.space;
    let name = space.class_name(class);
    let kept_off = kept_off(space, example);
    let no_facts = BTreeSet::new();
    let asked = kept_off.as_ref().map_or(&no_facts, |(_, asked)| asked);
    let waits = format!(
        "`wakes {}` if only a change of these can help",
        leading_out_or(explored, class, example, asked)
    );
    if let Some(Forgotten { help, .. }) = forgotten {
        return format!("{help}; or mark it {waits}");
    }
    if let Some((effect, asked)) = kept_off {
        let facts = show(space.lifecycle, space.worlds.get(example), asked);
        return format!(
            "effect `{effect}` would run there, but for its `when`, which does not hold with `{facts}`: widen that; or give these worlds a state of their own, with {waits}"
        );
    }
    if let Class::State(state) = class
        && space.lifecycle.states[state.0].phase == Some(Phase::Ready)
    {
        return format!("write `goal {name}` if the object is as wanted there, or mark it {waits}");
    }
    // With a `wakes` on the whole state, the state would wait for no promise in its other worlds
    // either.
    match waited_for(explored, class) {
        Some(promise) => format!(
            "promise what the environment does by itself, as `{promise}` does in other worlds of `{name}`; or give these worlds a state of their own, with {waits}"
        ),
        None => format!("mark it {waits}, or promise what the environment does by itself"),
    }
}

/// An object of ours that no effect brings into order.
struct Forgotten {
    var: VarId,
    /// The effect to declare.
    help: String,
}

/// Returns the first object with an effect that is not declared and would lead out of a state.
fn forgotten(explored: &Explored<'_>, class: Class, example: usize) -> Option<Forgotten> {
    let space = explored.space;
    let (lifecycle, at) = (space.lifecycle, space.worlds.get(example));
    let leads_out = |var: VarId| {
        let current = lifecycle.vars[var.0].position(Verdict::Current);
        current.is_some_and(|current| {
            let change = forced(lifecycle, at, &[(var, current)]);
            let mut ends = space.worlds.reached(&change).into_iter();
            ends.any(|end| space.classes[end as usize] != class)
        })
    };
    let mut inputs = (0..lifecycle.inputs.len()).map(InputId);
    inputs.find_map(|input| {
        let var = lifecycle.inputs[input.0].var?;
        let verdict = lifecycle.vars[var.0].verdict(at.value(var))?;
        let help = undeclared(lifecycle, input, verdict)?;
        (at.is_asked(var) && leads_out(var)).then_some(Forgotten { var, help })
    })
}

/// Returns the effect to declare for an object with a verdict, unless there is one.
fn undeclared(lifecycle: &Lifecycle, input: InputId, verdict: Verdict) -> Option<String> {
    let declared = &lifecycle.inputs[input.0];
    let is_ours = match declared.mode {
        Mode::Owned | Mode::Shared | Mode::Part | Mode::Record | Mode::Group => true,
        Mode::Watched | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock => false,
    };
    let has = |deletes: bool| {
        let mut effects = lifecycle.effects.iter();
        effects.any(|one| one.target == input && (one.verb == Verb::Delete) == deletes)
    };
    let name = &declared.name;
    let each = if declared.many { "each " } else { "" };
    let is_missing = matches!(verdict, Verdict::Absent | Verdict::Stale | Verdict::Behind);
    if is_ours && is_missing && !has(false) {
        return Some(format!(
            "no effect writes `{name}`: declare `apply {each}{name};`"
        ));
    }
    (is_ours && verdict == Verdict::Surplus && !has(true)).then(|| {
        format!("no effect deletes members of `{name}` that are not wanted any more: declare `delete each {name};`")
    })
}

/// Returns a region for which a state waits although it is in its goal.
fn finished<'a>(space: &Space<'a>, class: Class, world: usize) -> Option<&'a Input> {
    let Class::State(state) = class else {
        return None;
    };
    let lifecycle = space.lifecycle;
    let mut wakes = lifecycle.states[state.0].wakes.iter().flatten();
    wakes.find_map(|one| {
        let Source::Input(input) = one.source else {
            return None;
        };
        let input = &lifecycle.inputs[input.0];
        let is_done = input.region.as_ref()?.is_done(space.worlds.get(world));
        is_done.then_some(input)
    })
}

/// Returns the first effect that only its own `when` disables in a world, and the facts by which
/// this `when` fails.
fn kept_off(space: &Space<'_>, world: usize) -> Option<(String, BTreeSet<VarId>)> {
    let at = space.worlds.get(world);
    let mut effects = (0..space.lifecycle.effects.len()).map(EffectId);
    let off = effects.find(|effect| space.permissions.is_kept_off(*effect, at))?;
    let effect = &space.lifecycle.effects[off.0];
    let when = effect.when.as_ref()?;
    let parts = match &when.kind {
        PredKind::All(parts) => parts.as_slice(),
        PredKind::Is { .. } | PredKind::Any(_) | PredKind::Not(_) => std::slice::from_ref(when),
    };
    let failing = parts.iter().filter(|part| !at.holds(part));
    let asked = failing.flat_map(Pred::vars).collect();
    Some((effect.name.to_string(), asked))
}

/// A promise for which the object waits in some world of a state.
fn waited_for(explored: &Explored<'_>, class: Class) -> Option<String> {
    let promises = &explored.space.lifecycle.promises;
    let moves = explored
        .worlds_of(class)
        .flat_map(|world| explored.drives.graph.moves(world));
    moves
        .filter_map(|one| match one.mover {
            Mover::Promise(promise) => Some(promise),
            Mover::Effect | Mover::Claim | Mover::Gone(_) | Mover::Again(_) | Mover::Answer(_) => {
                None
            }
        })
        .min()
        .map(|first| promises[first].name.to_string())
}
