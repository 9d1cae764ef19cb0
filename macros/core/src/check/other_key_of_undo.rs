//! A warning: an undo releases under another key than the effect acquired under. It queries an
//! object that was never made, gets a not-found answer, and the acquired object stays for ever.
//!
//! ```text
//! put: call store sets { entry = Yes } undo drop key meta.uid; drop: call store sets { entry = No } key meta.name;    // warned
//! put: call store sets { entry = Yes } undo drop key meta.uid; drop: call store sets { entry = No } key meta.uid;
//! ```

use crate::errors::Sink;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC161",
    name: "other_key_of_undo",
    group: Group::Deletion,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for effect in &context.lifecycle.effects {
        let Some((undo, _)) = effect.undo else {
            continue;
        };
        let undo = &context.lifecycle.effects[undo.0];
        let (Some(made), Some(given)) = (&effect.key, &undo.key) else {
            continue;
        };
        let (made, given) = (&made.path, &given.path);
        if made.to_string() == given.to_string() {
            continue;
        }
        let (name, undo) = (&effect.name, &undo.name);
        let message = format!(
            "effect `{name}` acquires under the key `{made}`, but its undo `{undo}` releases under `{given}`"
        );
        sink.push(
            RULE.finding(given.root().span(), name.to_string(), message)
                .note(made.root().span(), "this is the key of what is made")
                .help(format!("write `key {made}` in `{undo}`")),
        );
    }
}
