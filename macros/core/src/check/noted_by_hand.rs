//! A `record of` what is created is written by an effect. What was made notes the language itself, right after it was made, by an effect that is called `note_` and the input; what
//! somebody else wrote there would have things made again, or not at all. What else is to be remembered has a `record` of its own.
//!
//! ```text
//! made: record of job; effects { create job; apply made; }       // refused
//! last: record Version; effects { create job; apply last from job when ended == Good; }
//! ```

use crate::ast::{Lifecycle, Mode, Verb};
use crate::errors::Sink;
use crate::rule::{Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC157",
    name: "noted_by_hand",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Looks at every effect that is written.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    for effect in ast.effects.iter().filter(|e| e.verb != Verb::Note) {
        let mut records = ast.inputs.iter().filter(|i| i.mode == Mode::Noted);
        let Some(record) = records.find(|input| input.name == effect.target) else {
            continue;
        };
        let (name, target) = (effect.name(), &record.name);
        let message =
            format!("effect `{name}` may not write `{target}`: what was made is noted by itself");
        let found = RULE.finding(effect.target.span(), name.to_string(), message);
        sink.push(
            found.help("leave it out; what else is to be remembered has a `record` of its own"),
        );
    }
}
