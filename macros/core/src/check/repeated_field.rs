//! A fact reads a field of the request twice, reads it beside the whole request, or reads beside it an input or `let` of the same name: its method gets
//! each once, by that name.
//!
//! ```text
//! fit: { Yes, No } from request, request.capabilities;          // refused: the request has its capabilities
//! fit: { Yes, No } from request.capabilities;
//! ```

use proc_macro2::Ident;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Origin, Source, Use};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC119",
    name: "repeated_field",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for var in &context.lifecycle.vars {
        let Origin::Fact { from, .. } = &var.origin else {
            continue;
        };
        for (at, one) in from.iter().enumerate() {
            if let Source::Field(_) = one.source
                && let Some(other) = clash(from, at)
            {
                sink.push(diagnose(&var.name, one, other));
            }
        }
    }
}

/// Returns the argument that gives the method the same value, or another value of the same name.
fn clash(from: &[Use], at: usize) -> Option<&Use> {
    let one = &from[at];
    let mut others = from.iter().enumerate();
    let found = others.find(|(place, other)| match other.source {
        Source::Field(_) => *place < at && other.source == one.source,
        Source::Request => true,
        Source::Input(_) | Source::Value(_) | Source::This | Source::Fact(_) => {
            other.name == one.name
        }
    });
    found.map(|(_, other)| other)
}

fn diagnose(fact: &Ident, one: &Use, other: &Use) -> Diagnostic {
    let field = &one.name;
    let (message, help) = match other.source {
        Source::Field(_) => (
            format!("fact `{fact}` reads `request.{field}` twice"),
            "leave one of them out".to_owned(),
        ),
        Source::Request => (
            format!("fact `{fact}` reads `request`, and `request.{field}` beside it"),
            format!("leave out `request`, or `request.{field}`, which the request has"),
        ),
        Source::Input(_) | Source::Value(_) | Source::This | Source::Fact(_) => (
            format!("fact `{fact}` reads two things that its method would get as `{field}`"),
            format!("rename `{field}`, which is not of the request"),
        ),
    };
    RULE.finding(field.span(), fact.to_string(), message)
        .note(other.name.span(), "this is the other")
        .help(help)
}
