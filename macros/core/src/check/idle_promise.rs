//! A warning: a promise changes no run. Either its predicate matches no world, or it changes
//! nothing there. Otherwise the object is settled wherever the promise is due: in a goal, in a
//! state with `wakes`, or, in a volume, where every call has ended. A settled object waits for no
//! change of the environment, so the promise does not count there. Leave it out, or leave out the
//! `wakes` if the environment really makes the change by itself.
//!
//! ```text
//! Slow when service == Slow => Error wakes service;        // warned: `speeds_up` is due in `Slow` alone, and `Slow` rests
//! Slow when service == Slow => Pending;                    // the outside will do it, and the object waits for that
//! ```

use std::collections::BTreeSet;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Promise, State, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::explored::Explored;
use crate::space::graph::Graph;
use crate::space::promised::Mover;
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC097",
    name: "idle_promise",
    group: Group::Liveness,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Both(of_resource, of_volume),
};

fn of_resource(explored: &Explored<'_>, sink: &mut Sink) {
    check(explored.space, &[&explored.drives.graph], sink);
}

fn of_volume(called: &Called<'_>, sink: &mut Sink) {
    let graphs: Vec<&Graph> = called.drives.iter().map(|drive| &drive.graph).collect();
    check(called.space, &graphs, sink);
}

fn check(space: &Space<'_>, graphs: &[&Graph], sink: &mut Sink) {
    let counted: BTreeSet<Mover> = graphs
        .iter()
        .flat_map(|graph| graph.all().iter().map(|one| one.mover))
        .collect();
    for (at, promise) in space.lifecycle.promises.iter().enumerate() {
        if !counted.contains(&Mover::Promise(at)) {
            sink.push(diagnostic(space, graphs, promise));
        }
    }
}

fn diagnostic(space: &Space<'_>, graphs: &[&Graph], promise: &Promise) -> Diagnostic {
    let worlds = space.worlds.indexes();
    let due: Vec<usize> = worlds
        .filter(|world| space.worlds.get(*world).holds(&promise.when))
        .collect();
    let waited_for = |world: &usize| graphs.iter().any(|graph| !graph.is_at_rest(*world));
    let (why, help) = if due.is_empty() {
        let help = "leave it out, or correct its predicate or the `never` that is in its way";
        (
            "its predicate holds in no world".to_owned(),
            help.to_owned(),
        )
    } else if due.iter().any(waited_for) {
        let help = "leave it out, or let it set what is different there";
        (
            "it changes nothing where it is due".to_owned(),
            help.to_owned(),
        )
    } else {
        resting(space, &due)
    };
    let name = &promise.name;
    let message = format!("promise `{name}` counts for nothing: {why}");
    RULE.finding(name.span(), name.to_string(), message)
        .help(help)
}

/// Returns the reason why the object does not wait for a promise wherever it is due, and the help
/// text.
fn resting(space: &Space<'_>, due: &[usize]) -> (String, String) {
    let states: BTreeSet<StateId> = due
        .iter()
        .filter_map(|world| match space.classes[*world] {
            Class::State(state) => Some(state),
            Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere => None,
        })
        .collect();
    let leave_out = "leave the promise out";
    let Some(first) = states.first() else {
        let why = "wherever it is due, every call has ended or the object is settled";
        return (why.to_owned(), leave_out.to_owned());
    };
    let states: Vec<_> = states
        .iter()
        .map(|state| &space.lifecycle.states[state.0])
        .collect();
    let name = &space.lifecycle.states[first.0].name;
    let names: Vec<String> = states
        .iter()
        .map(|state| format!("`{}`", state.name))
        .collect();
    let why = format!(
        "wherever it is due, the object is settled, in state {}",
        names.join(", ")
    );
    let help = if states.iter().any(|state| state.wakes.is_some()) {
        format!(
            "leave out `wakes` if the environment does this by itself; if only a change of these inputs can help, {leave_out}"
        )
    } else {
        format!(
            "{leave_out}, or give the worlds of `{name}` that wait for it a state that is no goal"
        )
    };
    (why, help)
}

/// Describes the fix for a state that is settled although a promise is due in it.
pub(super) fn waits_for_nobody(state: &State, promise: &Promise) -> String {
    let (name, promise) = (&state.name, &promise.name);
    match &state.wakes {
        Some(_) => format!(
            "`{name}` settles by its `wakes`, and a settled object waits for no promise: leave out the `wakes` if the environment fulfils `{promise}` by itself"
        ),
        None => format!(
            "`{name}` is a goal, and a settled object waits for no promise: `{promise}` counts only outside goals"
        ),
    }
}
