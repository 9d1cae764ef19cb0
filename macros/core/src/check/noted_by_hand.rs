//! A `record of` created objects is written by an effect of the author. The language itself records
//! each created object right after its creation, by an effect named `note_` and the input. A record
//! that anyone else writes would cause objects to be made again, or not at all. Anything else that
//! must be remembered has a `record` of its own.
//!
//! ```text
//! made: record of job; effects { create job; apply made; }       // refused
//! last: record Version; effects { create job; apply last from job when ended == Good; }
//! ```

use crate::ast::{Lifecycle, Mode, Verb};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC157",
    name: "noted_by_hand",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every effect that is written.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    for effect in ast.effects.iter().filter(|e| e.verb != Verb::Note) {
        let mut records = ast.inputs.iter().filter(|i| i.mode == Mode::Noted);
        let Some(record) = records.find(|input| input.name == effect.target) else {
            continue;
        };
        let (name, target) = (effect.name(), &record.name);
        let message = format!(
            "effect `{name}` may not write `{target}`: created objects are recorded automatically"
        );
        let found = RULE.finding(effect.target.span(), name.to_string(), message);
        sink.push(
            found.help("leave it out; declare a `record` of its own for anything else to remember"),
        );
    }
}
