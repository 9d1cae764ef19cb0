//! The list of all rules, alphabetical. A rule is one file here, named for what it forbids; the file's header is what users read about it.
//! Rules read the model and report; they never change it.

mod acquire_before_record;
mod broken_never;
mod call_without_outcome;
pub(crate) mod circular_fact;
mod clause_never_applies;
mod condition_without_value;
mod dead_end;
pub(crate) mod declared_twice;
mod effect_never_chosen;
mod effect_repeats_itself;
mod effects_against_each_other;
mod empty_call;
mod endless_call;
mod endless_deletion;
mod endless_round;
mod error_without_reason;
mod half_capability;
mod independent_never;
pub(crate) mod infinite_fact;
pub(crate) mod misfit_clause;
pub(crate) mod misplaced_ignored;
mod missing_key;
mod missing_undo;
pub(crate) mod no_phase;
mod phase_against_conditions;
mod read_only_target;
mod record_overwritten;
mod refusal_never_applies;
mod sets_out_of_reach;
mod setup_without_teardown;
mod state_without_world;
pub(crate) mod syntax;
pub(crate) mod too_many_values;
mod too_many_worlds;
mod unbounded_wait;
mod uncaused_edge;
mod undeclared_edge;
mod undo_of_nothing;
pub(crate) mod unknown_name;
mod unlisted_code;
pub(crate) mod unobserved_source;
mod unread_input;
mod unseen_by_call;
mod unseen_is_free;
mod useless_wakes;
mod work_in_goal;
mod world_without_state;

use crate::errors::Sink;
use crate::model::frames::Frames;
use crate::model::{Kind, Lifecycle};
use crate::space::Space;
use crate::space::calls::Called;
use crate::space::drives::Drives;
use crate::space::explored::Explored;
use crate::space::permission::Permissions;

/// What a rule may look at.
pub struct Context<'a> {
    pub lifecycle: &'a Lifecycle,
    pub frames: &'a Frames,
}

/// When a rule runs: a stage runs only if the stages before it found no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// While tokens are parsed and names are resolved. Its checks look at one declaration at a time, for others may have been left out.
    Names,
    /// On declarations that all resolved.
    Declaration,
    /// On all worlds.
    World,
    /// On the moves between worlds.
    Graph,
}

/// How a rule is found to be broken.
#[derive(Clone, Copy)]
pub enum Run {
    /// By the parser or the resolver themselves.
    Built,
    /// By a function that reports all violations.
    Check(fn(&Context<'_>, &mut Sink)),
    /// By a function that looks at all worlds.
    Worlds(fn(&Space<'_>, &mut Sink)),
    /// By a function that looks at the drives of a resource.
    Drives(fn(&Explored<'_>, &mut Sink)),
    /// By a function that looks at the calls of a volume.
    Calls(fn(&Called<'_>, &mut Sink)),
    /// By two functions, for the drives of a resource and for the calls of a volume.
    Both(fn(&Explored<'_>, &mut Sink), fn(&Called<'_>, &mut Sink)),
}

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What it forbids; also the name of its file.
    pub name: &'static str,
    pub code: &'static str,
    pub stage: Stage,
    pub run: Run,
}

/// All rules, by name.
pub const RULES: &[Rule] = &[
    rule(
        "acquire_before_record",
        "LC048",
        Stage::Graph,
        Run::Drives(acquire_before_record::check),
    ),
    rule(
        "broken_never",
        "LC013",
        Stage::Graph,
        Run::Worlds(broken_never::check),
    ),
    rule(
        "call_without_outcome",
        "LC080",
        Stage::Graph,
        Run::Calls(call_without_outcome::check),
    ),
    rule("circular_fact", "LC066", Stage::Names, Run::Built),
    rule(
        "clause_never_applies",
        "LC054",
        Stage::Graph,
        Run::Drives(clause_never_applies::check),
    ),
    rule(
        "condition_without_value",
        "LC052",
        Stage::Graph,
        Run::Drives(condition_without_value::check),
    ),
    rule(
        "dead_end",
        "LC021",
        Stage::Graph,
        Run::Drives(dead_end::check),
    ),
    rule("declared_twice", "LC003", Stage::Names, Run::Built),
    rule(
        "effect_never_chosen",
        "LC016",
        Stage::Graph,
        Run::Both(effect_never_chosen::check, effect_never_chosen::in_calls),
    ),
    rule(
        "effect_repeats_itself",
        "LC024",
        Stage::Graph,
        Run::Drives(effect_repeats_itself::check),
    ),
    rule(
        "effects_against_each_other",
        "LC023",
        Stage::Graph,
        Run::Drives(effects_against_each_other::check),
    ),
    rule(
        "empty_call",
        "LC018",
        Stage::Names,
        Run::Check(empty_call::check),
    ),
    rule(
        "endless_call",
        "LC085",
        Stage::Graph,
        Run::Calls(endless_call::check),
    ),
    rule(
        "endless_deletion",
        "LC040",
        Stage::Graph,
        Run::Drives(endless_deletion::check),
    ),
    rule(
        "endless_round",
        "LC022",
        Stage::Graph,
        Run::Drives(endless_round::check),
    ),
    rule(
        "error_without_reason",
        "LC053",
        Stage::Graph,
        Run::Drives(error_without_reason::check),
    ),
    rule(
        "half_capability",
        "LC083",
        Stage::Declaration,
        Run::Check(half_capability::check),
    ),
    rule(
        "independent_never",
        "LC015",
        Stage::Declaration,
        Run::Check(independent_never::check),
    ),
    rule("infinite_fact", "LC002", Stage::Names, Run::Built),
    rule("misfit_clause", "LC005", Stage::Names, Run::Built),
    rule("misplaced_ignored", "LC055", Stage::Names, Run::Built),
    rule(
        "missing_key",
        "LC045",
        Stage::Names,
        Run::Check(missing_key::check),
    ),
    rule(
        "missing_undo",
        "LC041",
        Stage::Declaration,
        Run::Check(missing_undo::check),
    ),
    rule("no_phase", "LC050", Stage::Names, Run::Built),
    rule(
        "phase_against_conditions",
        "LC051",
        Stage::Graph,
        Run::Drives(phase_against_conditions::check),
    ),
    rule(
        "read_only_target",
        "LC070",
        Stage::Names,
        Run::Check(read_only_target::check),
    ),
    rule(
        "record_overwritten",
        "LC049",
        Stage::Graph,
        Run::Drives(record_overwritten::check),
    ),
    rule(
        "refusal_never_applies",
        "LC087",
        Stage::Graph,
        Run::Calls(refusal_never_applies::check),
    ),
    rule(
        "sets_out_of_reach",
        "LC017",
        Stage::Declaration,
        Run::Check(sets_out_of_reach::check),
    ),
    rule(
        "setup_without_teardown",
        "LC084",
        Stage::Graph,
        Run::Calls(setup_without_teardown::check),
    ),
    rule(
        "state_without_world",
        "LC012",
        Stage::Graph,
        Run::Worlds(state_without_world::check),
    ),
    rule("syntax", "LC000", Stage::Names, Run::Built),
    rule("too_many_values", "LC006", Stage::Names, Run::Built),
    rule("too_many_worlds", "LC091", Stage::World, Run::Built),
    rule(
        "unbounded_wait",
        "LC088",
        Stage::Graph,
        Run::Calls(unbounded_wait::check),
    ),
    rule(
        "uncaused_edge",
        "LC031",
        Stage::Graph,
        Run::Drives(uncaused_edge::check),
    ),
    rule(
        "undeclared_edge",
        "LC030",
        Stage::Graph,
        Run::Drives(undeclared_edge::check),
    ),
    rule(
        "undo_of_nothing",
        "LC044",
        Stage::Declaration,
        Run::Check(undo_of_nothing::check),
    ),
    rule("unknown_name", "LC001", Stage::Names, Run::Built),
    rule(
        "unlisted_code",
        "LC081",
        Stage::Declaration,
        Run::Check(unlisted_code::check),
    ),
    rule("unobserved_source", "LC060", Stage::Names, Run::Built),
    rule(
        "unread_input",
        "LC064",
        Stage::Declaration,
        Run::Check(unread_input::check),
    ),
    rule(
        "unseen_by_call",
        "LC086",
        Stage::Graph,
        Run::Calls(unseen_by_call::check),
    ),
    rule(
        "unseen_is_free",
        "LC047",
        Stage::Names,
        Run::Check(unseen_is_free::check),
    ),
    rule(
        "useless_wakes",
        "LC065",
        Stage::Graph,
        Run::Drives(useless_wakes::check),
    ),
    rule(
        "work_in_goal",
        "LC025",
        Stage::Graph,
        Run::Drives(work_in_goal::check),
    ),
    rule(
        "world_without_state",
        "LC011",
        Stage::World,
        Run::Worlds(world_without_state::check),
    ),
];

const fn rule(name: &'static str, code: &'static str, stage: Stage, run: Run) -> Rule {
    Rule {
        name,
        code,
        stage,
        run,
    }
}

/// Runs all rules of a stage.
pub fn run(stage: Stage, context: &Context<'_>, sink: &mut Sink) {
    for rule in RULES.iter().filter(|rule| rule.stage == stage) {
        if let Run::Check(check) = rule.run {
            check(context, sink);
        }
    }
}

/// Explores all worlds and runs the rules of the last two stages: those about drives for a resource, those about calls for a volume.
pub fn explore(context: &Context<'_>, sink: &mut Sink) {
    let permissions = Permissions::of(context.lifecycle);
    let space = match Space::of(context.lifecycle, context.frames, &permissions) {
        Ok(space) => space,
        Err(too_many) => return too_many_worlds::check(context.lifecycle, too_many, sink),
    };
    on_worlds(Stage::World, &space, sink);
    if sink.has_errors() {
        return;
    }
    on_worlds(Stage::Graph, &space, sink);
    match context.lifecycle.kind {
        Kind::Resource => on_drives(&space, sink),
        Kind::Volume => on_calls(&space, sink),
    }
}

fn on_worlds(stage: Stage, space: &Space<'_>, sink: &mut Sink) {
    for rule in RULES.iter().filter(|rule| rule.stage == stage) {
        if let Run::Worlds(check) = rule.run {
            check(space, sink);
        }
    }
}

fn on_drives(space: &Space<'_>, sink: &mut Sink) {
    let drives = &Drives::of(space);
    let explored = Explored { space, drives };
    for rule in RULES {
        if let Run::Drives(check) | Run::Both(check, _) = rule.run {
            check(&explored, sink);
        }
    }
}

fn on_calls(space: &Space<'_>, sink: &mut Sink) {
    let called = Called::of(space);
    for rule in RULES {
        if let Run::Calls(check) | Run::Both(_, check) = rule.run {
            check(&called, sink);
        }
    }
}
