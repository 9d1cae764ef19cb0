//! A warning: a state `wakes` on others alone, but time may advance the object as well. A fact that
//! reads the clock changes its answer, and then an effect is due, or a goal is reached. Users would
//! read that only others can help. A goal needs no `wakes`.
//!
//! ```text
//! Waiting when window == Closed => Pending wakes self;      // warned: `window` is made from `now`
//! Waiting when window == Closed => Pending wakes self, now;
//! ```
//!
//! A `bool` that reads the clock goes one way: time makes it true, and never false again. Something
//! that opens and closes has named values, like `window: { Closed, Open }`.

mod time;

use std::collections::BTreeMap;

use super::idle_tick::resting;
use crate::errors::Sink;
use crate::model::{InputId, Source, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use time::Time;

pub(super) const RULE: Rule = Rule {
    code: "LC102",
    name: "unnamed_tick",
    group: Group::States,
    severity: Severity::Warning,
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
    let time = Time::new(space, input);
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
        let mut known = BTreeMap::new();
        let asked = state.when.vars();
        for world in &resting {
            let on = time.goes_on(*world, &asked);
            known.extend(on.map(|on| (*world, on)));
        }
        let Some((&example, &(fact, end))) = known.iter().next() else {
            continue;
        };
        let claim = Claim {
            about: resting,
            bad: &|world| known.contains_key(&world),
            expected: asked,
        };
        let names: Vec<String> = wakes.iter().map(|one| one.name.to_string()).collect();
        let (names, clock) = (names.join(", "), &space.lifecycle.inputs[input.0].name);
        let fact = &space.lifecycle.vars[fact.0];
        let message = format!(
            "state `{}` declares `wakes {names}`, but with `{}` time may change `{}`, and lead to `{}`",
            state.name,
            minimal(space, &claim, example),
            fact.name,
            space.class_name(space.classes[end])
        );
        let name = state.name.to_string();
        let found = RULE.finding(first.name.span(), name, message);
        let help = format!(
            "write `wakes {names}, {clock}`; a `bool` that time makes true, and never false again, is not reported"
        );
        sink.push(found.help(help));
    }
}
