//! A warning: a state declares `wakes self` alone, and a change of something else leads out of it
//! as well. This is an input with a verdict that its `when` queries, or a single object or poll
//! that a fact in its `when` reads. Users read that only the owner can help, and the other party is
//! not named. Sets that facts read are not reported: mostly the object is judged relative to them.
//! A name that the object leaves out is not reported either. Neither are our own writes, unless the
//! object belongs to another (`Foreign`, `Adoptable`) or is missing although a part of it is ours.
//!
//! ```text
//! NoClass when class == Absent => Error wakes self;        // warned: it is over as soon as somebody makes the class
//! NoClass when class == Absent => Error wakes class, self;
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::errors::Sink;
use crate::model::{
    Input, InputId, Lifecycle, Mode, Origin, Source, StateId, Use, ValueId, VarId, Verdict,
};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::world::Change;

pub(super) const RULE: Rule = Rule {
    code: "LC175",
    name: "unnamed_way_out",
    group: Group::States,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (position, state) in space.lifecycle.states.iter().enumerate() {
        let only_self = |wakes: &Vec<Use>| wakes.iter().all(|one| one.source == Source::This);
        let wakes = state.wakes.as_ref().filter(|wakes| only_self(wakes));
        let Some(first) = wakes
            .and_then(|wakes| wakes.first())
            .filter(|_| !state.goal)
        else {
            continue;
        };
        let class = Class::State(StateId(position));
        let resting: Vec<usize> = space
            .live()
            .filter(|world| space.classes[*world] == class && space.is_at_rest(*world))
            .collect();
        let asked = state.when.vars();
        let ways = asked
            .iter()
            .map(|var| (*var, others(space.lifecycle, *var)));
        let ways: Vec<(VarId, BTreeSet<InputId>)> =
            ways.filter(|(_, others)| !others.is_empty()).collect();
        let ends = |world: usize, var: VarId| leads_out(explored, class, world, var);
        let bad = |world: usize| ways.iter().any(|(var, _)| ends(world, *var));
        let Some(&example) = resting.iter().find(|world| bad(**world)) else {
            continue;
        };
        let open = ways.iter().filter(|(var, _)| ends(example, *var));
        let inputs: BTreeSet<InputId> = open.flat_map(|(_, others)| others.clone()).collect();
        let names = inputs.iter().map(|one| &space.lifecycle.inputs[one.0].name);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        let claim = Claim {
            about: resting,
            bad: &bad,
            expected: asked,
        };
        let name = &state.name;
        let message = format!(
            "state `{name}` declares `wakes self`, but with `{}` a change of `{}` also leads out of it",
            minimal(space, &claim, example),
            names.join("` or `")
        );
        let help = format!("write `wakes {}, self`", names.join(", "));
        sink.push(
            RULE.finding(first.name.span(), name.to_string(), message)
                .help(help),
        );
    }
}

/// Returns the inputs, except the object itself, that can change an answer by themselves.
fn others(lifecycle: &Lifecycle, var: VarId) -> BTreeSet<InputId> {
    match &lifecycle.vars[var.0].origin {
        Origin::Input(input) => match lifecycle.inputs[input.0].mode {
            Mode::Record | Mode::Noted | Mode::Clock => BTreeSet::new(),
            Mode::Watched
            | Mode::Owned
            | Mode::Shared
            | Mode::Part
            | Mode::Poll
            | Mode::Probe
            | Mode::Group => BTreeSet::from([*input]),
        },
        Origin::Fact { from, .. } => made_from(lifecycle, from).unwrap_or_default(),
        Origin::Refused(_) | Origin::Deleting | Origin::Claimed => BTreeSet::new(),
    }
}

/// Returns the inputs that a fact is made from, if all of them are single objects and polls.
fn made_from(lifecycle: &Lifecycle, from: &[Use]) -> Option<BTreeSet<InputId>> {
    let mut open: Vec<Source> = from.iter().map(|one| one.source).collect();
    let (mut inputs, mut seen) = (BTreeSet::new(), BTreeSet::<ValueId>::new());
    while let Some(next) = open.pop() {
        match next {
            Source::Input(input) if is_single(&lifecycle.inputs[input.0]) => {
                inputs.insert(input);
            }
            Source::Value(value) => {
                if seen.insert(value) {
                    let from = lifecycle.values[value.0].from.iter();
                    open.extend(from.map(|one| one.source));
                }
            }
            Source::Input(_)
            | Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Fact(_) => return None,
        }
    }
    Some(inputs)
}

fn is_single(input: &Input) -> bool {
    let is_one = !input.many || input.region.is_some();
    is_one && !matches!(input.mode, Mode::Record | Mode::Clock)
}

/// Returns true if another answer to this one fact leads out of the state, and the answer does not
/// come from the object itself.
fn leads_out(explored: &Explored<'_>, class: Class, world: usize, var: VarId) -> bool {
    let space = explored.space;
    let declared = &space.lifecycle.vars[var.0];
    let unnamed = declared.position(Verdict::Unnamed);
    let names_none = |value: usize| Some(value) == unnamed;
    let at = space.worlds.get(world);
    if !at.is_asked(var) || !is_of_others(space.lifecycle, var, at.value(var)) {
        return false;
    }
    let mut change = Change::from(at, space.lifecycle);
    change.free(var);
    let out = space.worlds.walk(&change, &mut |_, end| {
        let is_own = names_none(end.value(var));
        let end = space.classify(end);
        match end == class || end == Class::Closed || is_own {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    out.is_break()
}

/// Returns true if such an answer reports an action, past or possible, of other controllers or
/// users.
fn is_of_others(lifecycle: &Lifecycle, var: VarId, value: usize) -> bool {
    let declared = &lifecycle.vars[var.0];
    let Origin::Input(input) = declared.origin else {
        return true;
    };
    let verdict = declared.verdict(value);
    match lifecycle.inputs[input.0].mode {
        Mode::Owned | Mode::Shared | Mode::Group => {
            matches!(verdict, Some(Verdict::Foreign | Verdict::Adoptable))
        }
        Mode::Part => verdict == Some(Verdict::Absent),
        Mode::Watched | Mode::Poll | Mode::Probe => verdict != Some(Verdict::Unnamed),
        Mode::Record | Mode::Noted | Mode::Clock => false,
    }
}
