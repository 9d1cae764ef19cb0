//! The list of all rules, alphabetical. A rule is one file here, named for what it forbids; the file's header is what users read about it.
//! Rules read the model and report; they never change it.

pub(crate) mod circular_fact;
pub(crate) mod declared_twice;
mod empty_call;
mod independent_never;
pub(crate) mod infinite_fact;
pub(crate) mod misfit_clause;
mod missing_key;
mod missing_undo;
pub(crate) mod no_phase;
mod read_only_target;
mod sets_out_of_reach;
pub(crate) mod syntax;
pub(crate) mod too_many_values;
mod undo_of_nothing;
pub(crate) mod unknown_name;
pub(crate) mod unobserved_source;
mod unread_input;
mod unseen_is_free;

use crate::errors::Sink;
use crate::model::Lifecycle;
use crate::model::frames::Frames;

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
    rule("circular_fact", "LC066", Stage::Names, Run::Built),
    rule("declared_twice", "LC003", Stage::Names, Run::Built),
    rule(
        "empty_call",
        "LC018",
        Stage::Names,
        Run::Check(empty_call::check),
    ),
    rule(
        "independent_never",
        "LC015",
        Stage::Declaration,
        Run::Check(independent_never::check),
    ),
    rule("infinite_fact", "LC002", Stage::Names, Run::Built),
    rule("misfit_clause", "LC005", Stage::Names, Run::Built),
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
        "read_only_target",
        "LC070",
        Stage::Names,
        Run::Check(read_only_target::check),
    ),
    rule(
        "sets_out_of_reach",
        "LC017",
        Stage::Declaration,
        Run::Check(sets_out_of_reach::check),
    ),
    rule("syntax", "LC000", Stage::Names, Run::Built),
    rule("too_many_values", "LC006", Stage::Names, Run::Built),
    rule(
        "undo_of_nothing",
        "LC044",
        Stage::Declaration,
        Run::Check(undo_of_nothing::check),
    ),
    rule("unknown_name", "LC001", Stage::Names, Run::Built),
    rule("unobserved_source", "LC060", Stage::Names, Run::Built),
    rule(
        "unread_input",
        "LC064",
        Stage::Declaration,
        Run::Check(unread_input::check),
    ),
    rule(
        "unseen_is_free",
        "LC047",
        Stage::Names,
        Run::Check(unseen_is_free::check),
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
