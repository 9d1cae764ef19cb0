//! A warning: a refusal of a call never applies. The preconditions are evaluated first, then the
//! target, then the refusals from top to bottom; the first match counts. Alternatively, the call
//! cannot meet such a world, because its request lacks the field that the refusal queries.
//!
//! ```text
//! unknown when volume == Absent;
//! NodePublishVolume -> Published by publish { volume == Absent => UNAVAILABLE; }     // warned: `unknown` has answered before
//! ```

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::{Answer, Called};

pub(super) const RULE: Rule = Rule {
    code: "LC087",
    name: "refusal_never_applies",
    group: Group::Calls,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    for drive in &called.drives {
        let call = drive.call;
        for (position, refusal) in call.refusals.iter().enumerate() {
            let answers = |world: &usize| drive.answers[*world];
            let mut met = drive.worlds.iter();
            if met.any(|world| answers(world) == Answer::Refusal(position)) {
                continue;
            }
            let mut met = drive.worlds.iter();
            let holds = met.find(|world| space.worlds.get(**world).holds(&refusal.when));
            let why = match holds.map(answers) {
                None => "it meets no such world".to_owned(),
                Some(Answer::Precondition(precondition, _)) => {
                    format!(
                        "the precondition `{}` applies before it",
                        precondition.name()
                    )
                }
                Some(Answer::Done) => "its target holds before it".to_owned(),
                Some(Answer::Refusal(other)) => format!("refusal {} applies before it", other + 1),
                Some(Answer::Run(_) | Answer::Wait) => {
                    unreachable!("a refusal applies before effects and waiting")
                }
            };
            let message = format!("`{}`: refusal {} never applies", call.name, position + 1);
            sink.push(
                RULE.finding(refusal.when.span, call.name.to_string(), message)
                    .help(format!("leave it out: {why}")),
            );
        }
    }
}
