//! A call meets a world in which it has no outcome. No precondition, target or refusal applies, no
//! effect of its `by` is enabled, and nothing is promised. Its caller would wait in vain and retry
//! for ever without a reason.
//!
//! ```text
//! NodeStageVolume -> staged by stage;                                        // refused: what if `stage` is refused?
//! NodeStageVolume -> staged by stage { refused(stage) => INTERNAL; }
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::{Answer, CallDrive, Called};
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC080",
    name: "call_without_outcome",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    for drive in &called.drives {
        if let Some(example) = drive.stuck.first() {
            sink.push(diagnose(called, drive, *example));
        }
    }
}

fn diagnose(called: &Called<'_>, drive: &CallDrive<'_>, example: usize) -> Diagnostic {
    let (space, name) = (called.space, &drive.call.name);
    let stuck = |world: usize| drive.stuck.binary_search(&world).is_ok();
    let claim = Claim {
        about: drive.worlds.clone(),
        bad: &stuck,
        expected: drive.vars(space),
    };
    let witness = minimal(space, &claim, example);
    let message = match drive.answers[example] {
        Answer::Run(effect) => format!(
            "`{name}` in `{witness}` has no outcome: effect `{}` can end nowhere, for a `never` rules out all that it may bring about",
            space.lifecycle.effects[effect.0].name
        ),
        Answer::Precondition(..) | Answer::Done | Answer::Refusal(_) | Answer::Wait => format!(
            "`{name}` in `{witness}` has no outcome: run an effect, refuse with a code, or wait for a promise"
        ),
    };
    RULE.finding(name.span(), name.to_string(), message).help(format!(
        "name in `by` the effect that leads out of there, write `{witness} => CODE;`, or promise what the environment does by itself"
    ))
}
