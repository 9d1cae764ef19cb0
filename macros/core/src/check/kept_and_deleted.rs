//! A retained object stays when its owner is deleted, and so does an adopted one. An undo runs
//! exactly then. An object that is both is deleted with its owner regardless of its policy. Leave
//! out the `retain`, or the deletion. If the object is to be deleted only sometimes, use `retain
//! when ..`: otherwise it is deleted with its owner anyway.
//!
//! ```text
//! data: owned Claim by name meta.name retain;  ..  wipe: delete data ..;      // refused, where `wipe` is the `undo` of an effect
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC134",
    name: "kept_and_deleted",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let undos = lifecycle.effects.iter();
    for effect in undos.filter(|e| e.is_undo && e.verb == Verb::Delete) {
        let target = &lifecycle.inputs[effect.target.0];
        let mut adopts = lifecycle.effects.iter();
        let adopts = adopts.find(|e| e.keeps && e.target == effect.target);
        let policy = target.retain.as_ref().map(|policy| policy.span);
        let Some(span) = policy.or(adopts.map(|e| e.target_span)) else {
            continue;
        };
        let (name, kept) = (effect.name.to_string(), &target.name);
        let message =
            format!("`{name}` deletes `{kept}` with its owner, and `{kept}` is to stay then");
        let found = RULE.finding(effect.target_span, name, message);
        let found = found.note(span, "this declares that it stays".to_owned());
        let help = "leave out `retain`, write `adopt .. without retain`, or let the undo release something else";
        sink.push(found.help(help));
    }
}
