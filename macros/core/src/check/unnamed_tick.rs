//! A state `wakes` on others alone, but time advances the object as well. When a fact that reads
//! the clock changes its answer, an effect is due, or a goal is reached. Users would read that only
//! others can help. A goal needs no `wakes`.
//!
//! ```text
//! Waiting when window == Closed => Pending wakes self;      // refused: `window` is made from `now`
//! Waiting when window == Closed => Pending wakes self, now;
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::idle_tick::resting;
use super::useless_wakes::readers;
use crate::errors::Sink;
use crate::model::frames::Dependency;
use crate::model::{InputId, Source, StateId, VarId, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::world::Change;
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC102",
    name: "unnamed_tick",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let inputs = (0..space.lifecycle.inputs.len()).map(InputId);
    let Some(now) = inputs
        .map(Source::Input)
        .find(|one| space.lifecycle.is_clock(*one))
    else {
        return;
    };
    let Source::Input(input) = now else {
        return;
    };
    let readers = readers(explored, &BTreeSet::from([Dependency::Input(input)]));
    for (position, state) in space.lifecycle.states.iter().enumerate() {
        let Some(wakes) = state.wakes.as_ref().filter(|_| !state.goal) else {
            continue;
        };
        let Some(first) = wakes
            .first()
            .filter(|_| wakes.iter().all(|one| one.source != now))
        else {
            continue;
        };
        let resting = resting(explored, StateId(position));
        let goes_on = |world: usize| goes_on(explored, world, &readers);
        let Some(&example) = resting.iter().find(|world| goes_on(**world)) else {
            continue;
        };
        let claim = Claim {
            about: resting,
            bad: &goes_on,
            expected: state.when.vars(),
        };
        let names: Vec<String> = wakes.iter().map(|one| one.name.to_string()).collect();
        let (names, clock) = (names.join(", "), &space.lifecycle.inputs[input.0].name);
        let message = format!(
            "state `{}` declares `wakes {names}`, but with `{}` time also leads out of it",
            state.name,
            minimal(space, &claim, example)
        );
        let help = format!("write `wakes {names}, {clock}`");
        let name = state.name.to_string();
        sink.push(RULE.finding(first.name.span(), name, message).help(help));
    }
}

/// Returns true if time can cause the change. An object that keeps an expired value is not as
/// wanted any more. Time never changes its existence or its ownership.
fn is_of_time(space: &Space<'_>, (before, after): (usize, usize)) -> bool {
    let lifecycle = space.lifecycle;
    let mints = lifecycle.values.iter().filter_map(|v| v.mint.as_ref());
    let expiring = mints.filter(|mint| mint.until.is_some());
    let mut keepers = expiring.filter_map(|mint| lifecycle.inputs[mint.keeper.0].var);
    keepers.all(|var| {
        let values = [before, after].map(|world| space.worlds.get(world).value(var));
        let verdicts = values.map(|value| lifecycle.vars[var.0].verdict(value));
        let is_compared = |verdict| matches!(verdict, Some(Verdict::Stale | Verdict::Current));
        values[0] == values[1] || verdicts.into_iter().all(is_compared)
    })
}

/// Returns true if the passing of time may lead from a world to a goal, or to a world with
/// something to do.
fn goes_on(explored: &Explored<'_>, world: usize, readers: &[VarId]) -> bool {
    let space = explored.space;
    let mut change = Change::from(space.worlds.get(world), space.lifecycle);
    readers.iter().for_each(|var| change.free(*var));
    let is_on = |end: usize| {
        let class = space.classes[end];
        let is_goal = matches!(class, Class::State(state) if space.lifecycle.states[state.0].goal);
        let is_news = class != space.classes[world] && (is_goal || !space.is_at_rest(end));
        is_news && is_of_time(space, (world, end))
    };
    let walked = space.worlds.walk(&change, &mut |end, _| match end {
        Some(end) if is_on(end as usize) => ControlFlow::Break(()),
        Some(_) | None => ControlFlow::Continue(()),
    });
    walked.is_break()
}
