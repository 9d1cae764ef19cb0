//! A `call` has no `sets`. Its effect lies outside Kubernetes, so only its own clauses declare the
//! facts that it establishes.
//!
//! ```text
//! put: call store key meta.uid;                               // refused
//! put: call store sets { bucket = Current } key meta.uid;
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC018",
    name: "empty_call",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for effect in &context.lifecycle.effects {
        if effect.verb != Verb::Call || effect.sets_written {
            continue;
        }
        sink.push(
            RULE.finding(
                effect.name.span(),
                effect.name.to_string(),
                format!(
                    "effect `{}` is a `call` but does not declare what it establishes",
                    effect.name
                ),
            )
            .help("write `sets { fact = Value }`, and `or { .. }` for each other outcome"),
        );
    }
}
