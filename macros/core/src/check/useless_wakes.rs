//! A state has a `wakes` on inputs, but no change of them leads out of it. The object would stay
//! there for ever, and users would look at the wrong thing. Name the inputs on which the state
//! really depends. `self` always helps, because a user may edit the object.
//!
//! ```text
//! NoClass when class == Absent => Error wakes nodes;       // refused: no change of a Node brings the class
//! NoClass when class == Absent => Error wakes class, self;
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::errors::Sink;
use crate::model::frames::Dependency;
use crate::model::{InputId, Source, StateId, Use, VarId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use crate::space::world::{Change, World};
use crate::space::{Class, Reader};

pub(super) const RULE: Rule = Rule {
    code: "LC065",
    name: "useless_wakes",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (position, state) in space.lifecycle.states.iter().enumerate() {
        let Some(wakes) = &state.wakes else {
            continue;
        };
        if wakes.iter().any(|one| one.source == Source::This) {
            continue;
        }
        let id = StateId(position);
        let class = Class::State(id);
        let places: BTreeSet<Dependency> = wakes.iter().filter_map(as_dependency).collect();
        let resting: Vec<usize> = space
            .live()
            .filter(|world| space.classes[*world] == class && space.is_at_rest(*world))
            .collect();
        let stays = staying(explored, class, &resting, &answers(explored, &places));
        let Some(&example) = stays.first() else {
            continue;
        };
        let bad = |world: usize| stays.binary_search(&world).is_ok();
        let claim = Claim {
            about: resting,
            bad: &bad,
            expected: state.when.vars(),
        };
        let names: Vec<String> = wakes.iter().map(|one| one.name.to_string()).collect();
        let message = format!(
            "state `{}` declares `wakes {}`, but with `{}` no change of these leads out of it",
            state.name,
            names.join(", "),
            minimal(space, &claim, example)
        );
        let span = wakes
            .first()
            .map_or(state.name.span(), |first| first.name.span());
        let help = format!("write `wakes {}`", leading_out(explored, class, example));
        sink.push(
            RULE.finding(span, state.name.to_string(), message)
                .help(help),
        );
    }
}

fn as_dependency(one: &Use) -> Option<Dependency> {
    match one.source {
        Source::This | Source::Fact(_) => None,
        Source::Request => Some(Dependency::Request),
        Source::Field(field) => Some(Dependency::Field(field)),
        Source::Input(input) => Some(Dependency::Input(input)),
        Source::Value(value) => Some(Dependency::Value(value)),
    }
}

/// The facts that a change of these places may change, each to any value.
pub(super) fn answers(explored: &Explored<'_>, places: &BTreeSet<Dependency>) -> Vec<Reader> {
    let mut readers = explored.space.readers(places);
    for reader in &mut readers {
        reader.is_only_compared = false;
    }
    readers
}

/// Those of the worlds that no change of these facts leads out of.
pub(super) fn staying(
    explored: &Explored<'_>,
    class: Class,
    worlds: &[usize],
    readers: &[Reader],
) -> Vec<usize> {
    let space = explored.space;
    let mut known: BTreeMap<Change, bool> = BTreeMap::new();
    let mut stays = |world: World<'_>| {
        let change = space.changed(world, readers);
        if let Some(known) = known.get(&change) {
            return *known;
        }
        let out = space.worlds.walk(&change, &mut |_, end| {
            // A region that rests in a state of the root is where it was afterwards.
            match space.classify(end) {
                Class::Closed => ControlFlow::Continue(()),
                end if end == class => ControlFlow::Continue(()),
                Class::Deleting | Class::Refused | Class::State(_) | Class::Nowhere => {
                    ControlFlow::Break(())
                }
            }
        });
        known.insert(change, out.is_continue());
        out.is_continue()
    };
    let worlds = worlds.iter().copied();
    worlds
        .filter(|world| stays(space.worlds.get(*world)))
        .collect()
}

/// Returns the inputs with changes that lead out of a world, and the object itself, as a `wakes`
/// names them.
pub(super) fn leading_out(explored: &Explored<'_>, class: Class, world: usize) -> String {
    leading_out_or(explored, class, world, &BTreeSet::new())
}

/// Like `leading_out`, with regions whose state is among these variables: an effect waits for them.
pub(super) fn leading_out_or(
    explored: &Explored<'_>,
    class: Class,
    world: usize,
    asked: &BTreeSet<VarId>,
) -> String {
    let space = explored.space;
    let inputs = space.lifecycle.inputs.iter().enumerate();
    // A group stands for its members.
    let inputs = inputs.filter(|(_, input)| input.group.is_none());
    let helps = inputs.filter(|(number, input)| {
        if let Some(region) = &input.region {
            if region.is_done(space.worlds.get(world)) {
                return false;
            }
            if asked.contains(&region.state) {
                return true;
            }
        }
        let places = BTreeSet::from([Dependency::Input(InputId(*number))]);
        let readers = space.readers(&places);
        staying(explored, class, &[world], &readers).is_empty()
    });
    let names = helps.map(|(_, input)| input.name.to_string());
    names
        .chain(["self".to_owned()])
        .collect::<Vec<_>>()
        .join(", ")
}
