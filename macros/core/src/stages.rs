//! Runs the rules stage by stage: a stage runs only if the stages before it found no error.
//! Knows no rule by name but the one about too many worlds.

use crate::check::{RULES, too_many_worlds};
use crate::errors::Sink;
use crate::model::{Kind, Lifecycle};
use crate::rule::{Context, Run, Stage};
use crate::space::Space;
use crate::space::calls::Called;
use crate::space::drives::Drives;
use crate::space::explored::Explored;
use crate::space::permission::Permissions;
use crate::space::summary::WorldReport;

/// Runs the first stage, on all items that resolved.
pub(crate) fn names(lifecycle: &Lifecycle, sink: &mut Sink) {
    on_declarations(Stage::Names, &Context::new(lifecycle), sink);
}

/// Runs the other stages, on a lifecycle that resolved. Returns the data about its worlds for
/// generated code, if the last stage is reached.
pub(crate) fn others(lifecycle: &Lifecycle, sink: &mut Sink) -> Option<WorldReport> {
    let context = Context::new(lifecycle);
    if !declarations(&context, sink) {
        return None;
    }
    explore(&context, sink)
}

/// Runs the stage on declarations. Returns true if no error was found.
pub(crate) fn declarations(context: &Context<'_>, sink: &mut Sink) -> bool {
    if !sink.has_errors() {
        on_declarations(Stage::Declaration, context, sink);
    }
    !sink.has_errors()
}

/// Explores all worlds once for the last two stages, because the exploration takes most of the
/// time. A resource has rules about trajectories, a volume rules about calls.
pub(crate) fn explore(context: &Context<'_>, sink: &mut Sink) -> Option<WorldReport> {
    let permissions = Permissions::new(context.lifecycle);
    let space = match Space::build(context.lifecycle, &context.frames, &permissions) {
        Ok(space) => space,
        Err(too_many) => {
            too_many_worlds::check(context.lifecycle, too_many, sink);
            return None;
        }
    };
    on_worlds(Stage::World, &space, sink);
    if sink.has_errors() {
        return None;
    }
    on_worlds(Stage::Graph, &space, sink);
    Some(match context.lifecycle.kind {
        Kind::Resource => on_drives(&space, sink),
        Kind::Volume => on_calls(&space, sink),
    })
}

fn on_declarations(stage: Stage, context: &Context<'_>, sink: &mut Sink) {
    for rule in RULES.iter().filter(|rule| rule.stage == stage) {
        if let Run::Check(check) = rule.run {
            check(context, sink);
        }
    }
}

fn on_worlds(stage: Stage, space: &Space<'_>, sink: &mut Sink) {
    for rule in RULES.iter().filter(|rule| rule.stage == stage) {
        if let Run::Worlds(check) = rule.run {
            check(space, sink);
        }
    }
}

fn on_drives(space: &Space<'_>, sink: &mut Sink) -> WorldReport {
    let drives = &Drives::explore(space);
    let explored = Explored { space, drives };
    for rule in RULES {
        if let Run::Drives(check) | Run::Both(check, _) = rule.run {
            check(&explored, sink);
        }
    }
    WorldReport::of_resource(space, drives)
}

fn on_calls(space: &Space<'_>, sink: &mut Sink) -> WorldReport {
    let called = Called::new(space);
    for rule in RULES {
        if let Run::Calls(check) | Run::Both(_, check) = rule.run {
            check(&called, sink);
        }
    }
    WorldReport::of_volume(space)
}
