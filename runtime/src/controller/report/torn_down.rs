//! What is told of an object that is being deleted: which step it waits for, or what is left behind. Pure.

use super::Notes;
use crate::cluster::act::News;
use crate::lifecycle::Observation;
use crate::machine::ir::Lifecycle;
use crate::machine::policy::{Class, Decision};
use crate::machine::world::World;

/// Under this name it is told that something is given up.
const ABANDONED: &str = "Abandoned";

/// Whether the object goes although something is left.
pub(crate) fn gives_up(ir: &Lifecycle, world: &World, next: Decision) -> bool {
    next == Decision::Release && ir.abandons(world).is_some()
}

/// Whether the object waits for what was begun to be over.
pub(crate) fn waits(ir: &Lifecycle, world: &World, next: Decision) -> bool {
    next == Decision::Rest && ir.open_step(world).is_some()
}

/// Why the object is not ready, and what is said of that.
pub(super) fn said(
    ir: &Lifecycle,
    observation: &Observation,
    notes: &Notes<'_>,
) -> (&'static str, String) {
    let world = &observation.world;
    if let Some(sentence) = left_behind(ir, world, notes) {
        return (ABANDONED, sentence);
    }
    let awaited = ir.awaited(world, &observation.sentences);
    let awaited = awaited.filter(|_| waits(ir, world, notes.next));
    let awaited = awaited.map(|awaited| format!("the deletion waits: {awaited}"));
    let said = awaited.or_else(|| notes.trouble.map(str::to_owned));
    ("Deleting", said.unwrap_or_default())
}

/// What tells of what is given up, once.
pub(super) fn news(ir: &Lifecycle, world: &World, notes: &Notes<'_>) -> Option<News> {
    let note = left_behind(ir, world, notes)?;
    Some(News {
        warning: true,
        reason: ABANDONED.to_owned(),
        note,
    })
}

fn left_behind(ir: &Lifecycle, world: &World, notes: &Notes<'_>) -> Option<String> {
    let is_gone = notes.class == Class::Deleting && notes.failure.is_none();
    let given_up = ir
        .abandons(world)
        .filter(|_| is_gone && gives_up(ir, world, notes.next))?;
    let (why, left) = (given_up.why, ir.leftovers(world));
    Some(format!("{why}; left behind: {left}"))
}
