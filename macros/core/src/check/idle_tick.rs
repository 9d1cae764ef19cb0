//! A state declares `wakes now` among others, but no answer that depends on time leads out of it.
//! No fact that reads the clock decides there. Users would wait for a change that never comes.
//!
//! ```text
//! facts  { due: bool from issued, now; }
//! states { Failed when broken => Error wakes order, now; }    // refused: nothing asks for `due`
//! ```

use std::collections::BTreeSet;

use super::useless_wakes::{answers, staying};
use crate::errors::Sink;
use crate::model::frames::Dependency;
use crate::model::{Lifecycle, Source, State, StateId, Use};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;

pub(super) const RULE: Rule = Rule {
    code: "LC101",
    name: "idle_tick",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let lifecycle = explored.space.lifecycle;
    for (position, state) in lifecycle.states.iter().enumerate() {
        let Some((now, _)) = clock(lifecycle, state).filter(|(_, others)| *others) else {
            continue;
        };
        let resting = resting(explored, StateId(position));
        let stays = timeless(explored, StateId(position), &resting, now);
        if resting.is_empty() || stays.len() < resting.len() {
            continue;
        }
        let (state, clock) = (&state.name, &now.name);
        let message = format!(
            "state `{state}` declares `wakes {clock}`, but no answer that may change with time leads out of it"
        );
        let help =
            format!("leave `{clock}` out, or let a state ask a fact that is made `from {clock}`");
        sink.push(
            RULE.finding(clock.span(), state.to_string(), message)
                .help(help),
        );
    }
}

/// Returns the clock on which a state wakes, and true if the state wakes on something else as well.
fn clock<'a>(lifecycle: &Lifecycle, state: &'a State) -> Option<(&'a Use, bool)> {
    let wakes = state.wakes.as_ref()?;
    let now = wakes.iter().find(|one| lifecycle.is_clock(one.source))?;
    let others = wakes.iter().any(|one| one.source != now.source);
    Some((now, others))
}

/// Returns the worlds of a state in which it may settle.
pub(super) fn resting(explored: &Explored<'_>, state: StateId) -> Vec<usize> {
    let space = explored.space;
    let here =
        |world: &usize| space.classes[*world] == Class::State(state) && space.is_at_rest(*world);
    space.live().filter(here).collect()
}

/// Returns the given worlds that the passing of time does not leave.
pub(super) fn timeless(
    explored: &Explored<'_>,
    state: StateId,
    worlds: &[usize],
    now: &Use,
) -> Vec<usize> {
    let Source::Input(input) = now.source else {
        return worlds.to_vec();
    };
    let places = BTreeSet::from([Dependency::Input(input)]);
    let readers = answers(explored, &places);
    staying(explored, Class::State(state), worlds, &readers)
}
