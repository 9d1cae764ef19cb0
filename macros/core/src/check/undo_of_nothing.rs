//! An effect names an `undo` but acquires nothing that is `held`. Undo effects run on deletion for
//! held facts, so this one would never run.
//!
//! ```text
//! facts   { entry: { No, Current } from router; }       // write `held entry: { No | Current } ..`
//! effects { ensure: call router sets { entry = Current } undo remove key meta.uid; }
//! ```

use crate::errors::Sink;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC044",
    name: "undo_of_nothing",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for effect in &lifecycle.effects {
        let Some((undo, span)) = effect.undo else {
            continue;
        };
        if !effect.acquires(lifecycle).is_empty() {
            continue;
        }
        let undo = &lifecycle.effects[undo.0].name;
        sink.push(
            RULE.finding(span,
                effect.name.to_string(),
                format!(
                    "effect `{}` names an `undo` but acquires nothing that is `held`: the undo would never run on deletion",
                    effect.name
                ),
            )
            .help(format!(
                "declare what it acquires as `held`, or leave out `undo {undo}`; garbage collection removes what is `owned` or `shared`"
            )),
        );
    }
}
