//! A `call` has no `key`. After a crash it is unknown if the call ran. Only a call that is
//! idempotent under a key may run again.
//!
//! ```text
//! put: call store sets { bucket = Current };                  // refused
//! put: call store sets { bucket = Current } key meta.uid;
//! ```

use crate::errors::Sink;
use crate::model::{Kind, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC045",
    name: "missing_key",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let example = match context.lifecycle.kind {
        Kind::Resource => "key meta.uid",
        Kind::Volume => "key request.volume_id",
    };
    for effect in &context.lifecycle.effects {
        if effect.verb != Verb::Call || effect.key.is_some() {
            continue;
        }
        sink.push(
            RULE.finding(effect.name.span(),
                effect.name.to_string(),
                format!(
                    "effect `{}` is a `call` without `key`: a crash after it would repeat or lose it",
                    effect.name
                ),
            )
            .help(format!("write `{example}`, or the `record` that names what it makes")),
        );
    }
}
