//! A state becomes overdue before the next query of the poll that would show its end. People then
//! receive a report of a delay before anything has checked. The rule covers a poll that a fact
//! reads, if a promise changes that fact and leads out of the state. It compares the length that
//! applies to an object without a value of its own, and the minimum for any object. The default is
//! ten minutes. A poll without an answer so far is no such end, because it is queried at once.
//!
//! ```text
//! plan: poll Turn by meta.uid every 5min; ..  Stepping when turn == Running => Pending overdue 1min;   // refused
//! plan: poll Turn by meta.uid every 5min; ..  Stepping when turn == Running => Pending overdue 15min;
//! ```

use std::collections::BTreeSet;

use super::unbounded_poll::format_duration;
use crate::errors::{Diagnostic, Sink};
use crate::model::{
    Input, InputId, Length, Lifecycle, Mode, Origin, Phase, Promise, Source, State, StateId, Use,
};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::policy::Choice;
use crate::space::promised::Mover;

pub(super) const RULE: Rule = Rule {
    code: "LC104",
    name: "overdue_before_poll",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let lifecycle = explored.space.lifecycle;
    for (position, state) in lifecycle.states.iter().enumerate() {
        // A state that waits for others is never overdue.
        if state.phase != Some(Phase::Pending) || state.wakes.is_some() || state.goal {
            continue;
        }
        let ends = ends(explored, StateId(position));
        let late = ends.into_iter().find_map(|promise| {
            let mut polls = told_by(lifecycle, promise).into_iter();
            polls.find_map(|input| too_soon(state, (&lifecycle.inputs[input.0], promise)))
        });
        late.into_iter().for_each(|one| sink.push(one));
    }
}

/// The promises that lead out of a state where nothing is left to do there.
fn ends<'a>(explored: &Explored<'a>, state: StateId) -> Vec<&'a Promise> {
    let (space, class) = (explored.space, Class::State(state));
    let graph = &explored.drives.graph;
    let mut ends = BTreeSet::new();
    let waits =
        |world: &usize| space.classes[*world] == class && space.choices[*world] == Choice::Nothing;
    for world in space.live().filter(waits) {
        for one in graph.moves(world) {
            let mut to = graph.ends(*one).iter();
            if let Mover::Promise(at) = one.mover
                && to.any(|end| space.classes[*end as usize] != class)
            {
                ends.insert(at);
            }
        }
    }
    let promises = ends.into_iter();
    promises.map(|at| &space.lifecycle.promises[at]).collect()
}

/// Returns the polls that observe the facts a promise sets, in order of declaration.
fn told_by(lifecycle: &Lifecycle, promise: &Promise) -> BTreeSet<InputId> {
    let mut polls = BTreeSet::new();
    for assign in promise.sets.iter().flatten() {
        if let Origin::Fact { from, .. } = &lifecycle.vars[assign.var.0].origin {
            read(lifecycle, from, &mut polls);
        }
    }
    polls
}

fn read(lifecycle: &Lifecycle, from: &[Use], polls: &mut BTreeSet<InputId>) {
    for one in from {
        match one.source {
            Source::Input(input) if lifecycle.inputs[input.0].mode == Mode::Poll => {
                polls.insert(input);
            }
            // Values read no circle: that was found before.
            Source::Value(value) => read(lifecycle, &lifecycle.values[value.0].from, polls),
            Source::Input(_)
            | Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Fact(_) => {}
        }
    }
}

fn too_soon(state: &State, (poll, promise): (&Input, &Promise)) -> Option<Diagnostic> {
    let (overdue, every) = (&state.overdue, poll.every.as_ref()?);
    let (after, asked) = if overdue.otherwise < every.otherwise {
        (
            format_duration(overdue.otherwise),
            format_duration(every.otherwise),
        )
    } else if overdue.least < every.least {
        (least(overdue), format_duration(every.least))
    } else {
        return None;
    };
    let (name, poll, promise) = (&state.name, &poll.name, &promise.name);
    let message = format!(
        "state `{name}` is overdue after {after}, but `{poll}`, which reports that `{promise}` was kept, is polled every {asked}"
    );
    let help = format!(
        "write `{}`, or ask `{poll}` more often",
        longer(overdue, every)
    );
    let span = overdue.span.unwrap_or_else(|| name.span());
    Some(RULE.finding(span, name.to_string(), message).help(help))
}

fn least(length: &Length) -> String {
    match length.least {
        0 => "as little as the object declares".to_owned(),
        least => format_duration(least),
    }
}

/// An `overdue` that leaves room for two questions.
fn longer(overdue: &Length, every: &Length) -> String {
    let otherwise = format_duration(overdue.otherwise.max(every.otherwise * 2));
    match &overdue.path {
        Some(path) => {
            let least = format_duration(overdue.least.max(every.least * 2));
            format!("overdue {path} else {otherwise} min {least}")
        }
        None => format!("overdue {otherwise}"),
    }
}
