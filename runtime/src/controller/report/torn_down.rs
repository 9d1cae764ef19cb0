//! Report about an object that is being deleted: the stage it waits for, or the leftovers. Pure.

use super::Notes;
use crate::cluster::act::News;
use crate::lifecycle::Observation;
use crate::machine::ir::Lifecycle;
use crate::machine::policy::{Class, Decision};
use crate::machine::world::World;

/// Reason under which an abandoned cleanup is reported.
const ABANDONED: &str = "Abandoned";

/// Returns true if the object goes although something is left.
pub(crate) fn gives_up(ir: &Lifecycle, world: &World, next: Decision) -> bool {
    next == Decision::Release && ir.abandons(world).is_some()
}

/// Returns true if the object waits for the end of an operation that has begun.
pub(crate) fn waits(ir: &Lifecycle, world: &World, next: Decision) -> bool {
    next == Decision::Rest && ir.open_step(world).is_some()
}

/// Returns the reason why the object is not ready, and its message.
pub(super) fn unready_reason(
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

/// Builds the event that reports the abandoned leftovers, once.
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
