//! A deletion that never ends, because something held is not given back from some world: no undo is enabled there, or the undos go round.
//! The finalizer would stay for ever. Let the `undo` of what acquired it run from there, or promise what the outside does.
//!
//! ```text
//! remove: call store from config sets { entry = No } ..;   // refused as an undo: without the config the finalizer could never go
//! remove: call store sets { entry = No } ..;
//! ```

use std::collections::BTreeMap;

use crate::errors::Sink;
use crate::model::VarId;
use crate::rule::{Rule, Run, Stage};
use crate::space::Class;
use crate::space::components::Loop;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC040",
    name: "endless_deletion",
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let deleting = |world: &usize| space.classes[*world] == Class::Deleting;
    let stuck = explored.drives.stuck.iter().copied().filter(deleting);
    let round = explored.drives.loops.iter().flat_map(|one| &one.worlds);
    let round = round.map(|world| *world as usize).filter(deleting);
    let mut by_fact: BTreeMap<VarId, Vec<usize>> = BTreeMap::new();
    for world in stuck.chain(round) {
        for var in space.policy.still_held(space.worlds.get(world)) {
            by_fact.entry(var).or_default().push(world);
        }
    }
    for (var, mut worlds) in by_fact {
        worlds.sort_unstable();
        let bad = |world: usize| worlds.binary_search(&world).is_ok();
        let fact = &space.lifecycle.vars[var.0];
        let claim = Claim {
            about: space.worlds.indexes().collect(),
            bad: &bad,
            expected: [VarId(0), var].into(),
        };
        let why = match round_through(explored, worlds[0]) {
            None => "no undo is enabled and nothing is promised".to_owned(),
            Some(round) => format!("the run goes round, {round}"),
        };
        let message = format!(
            "no deletion path: with `{}` the finalizer can never go, for `{}` is not given back: {why}",
            minimal(space, &claim, worlds[0]),
            fact.name
        );
        sink.push(
            RULE.error(fact.name.span(), fact.name.to_string(), message)
                .help("let the `undo` of what acquires it be possible there, or promise what the outside does by itself"),
        );
    }
}

/// The round that a world of a loop is in.
fn round_through(explored: &Explored<'_>, world: usize) -> Option<String> {
    let contains = |one: &&Loop| one.worlds.iter().any(|other| *other as usize == world);
    let one = explored.drives.loops.iter().find(contains)?;
    Some(explored.drives.describe(explored.space, one))
}
