//! A `teardown` that declares nothing, or something that cannot be done. It belongs to resources
//! alone: in a volume, the call that undoes declares the cleanup. Each effect is at most one stage
//! of the teardown. The world decides when a stage runs and when it is over; the outcome of our own
//! writes does not. Only `abandoned` may query a refusal. Giving up requires something that can be
//! left: a stage of the teardown, or something that is `held`.
//!
//! ```text
//! teardown { drain until refused(drain); }                                      // refused: who drained it then?
//! teardown { drain until served == No; abandoned when refused(drain) "..."; }
//! ```

use proc_macro2::Span;

use super::misplaced_ignored::{Named, named, refusal};
use crate::ast::{Kind, Lifecycle, Step, Teardown};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC140",
    name: "misplaced_teardown",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks the section, and each stage of the teardown by itself.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let Some(teardown) = &ast.teardown else {
        return;
    };
    if ast.kind == Kind::Volume {
        let what = "`teardown` is not allowed in a volume, whose calls undo each other";
        let help =
            "leave it out, and name the releasing effect in the `by` of the call that undoes";
        sink.push(of_section(teardown.span, what, help));
        return;
    }
    let named = named(ast);
    let mut found = Vec::from_iter(of_nothing(ast, teardown));
    for (at, step) in teardown.steps.iter().enumerate() {
        let mut before = teardown.steps[..at].iter();
        let first = before.find(|other| other.effect == step.effect);
        found.extend(first.map(|first| twice(step, first)));
        found.extend(refused(step, &named));
    }
    found.into_iter().for_each(|one| sink.push(one));
}

fn of_section(span: Span, what: &str, help: &str) -> Diagnostic {
    RULE.finding(span, "teardown", what).help(help)
}

/// Reports a section without a stage and without anything to abandon.
fn of_nothing(ast: &Lifecycle, teardown: &Teardown) -> Option<Diagnostic> {
    if ast.taint.everything || !teardown.steps.is_empty() {
        return None;
    }
    let Some(abandoned) = teardown.abandoned.first() else {
        let what = "`teardown` has no step: the object goes at once";
        let help = "name an effect and when it is over, `drain until served == No;`, or leave the section out";
        return Some(of_section(teardown.span, what, help));
    };
    let holds = ast.facts.iter().any(|fact| fact.held.is_some());
    // The held fact may be among the declarations that could not be read.
    let holds = holds || !ast.taint.names.is_empty();
    let what = "`abandoned` gives nothing up: there is no step, and nothing is `held`";
    let help = "name what must be done before the object is deleted, or leave it out";
    (!holds).then(|| of_section(abandoned.word, what, help))
}

fn twice(step: &Step, first: &Step) -> Diagnostic {
    let name = step.effect.to_string();
    let message =
        format!("`{name}` is a step twice: the first is over before anything else is done");
    RULE.finding(step.effect.span(), name, message)
        .note(first.effect.span(), "it is a step here already")
        .help("leave out one of the two; if it is to run again later, let the later step have an effect of its own")
}

fn refused(step: &Step, named: &Named<'_>) -> Option<Diagnostic> {
    let mut asked = step.when.iter().chain([&step.until]);
    let span = asked.find_map(|pred| refusal(pred, named))?;
    let name = step.effect.to_string();
    let message = format!(
        "step `{name}` reads whether a write was refused, which does not show what is left to do"
    );
    let help = "ask what is there outside; what cannot be given back is given up by `abandoned when refused(..) \"why\"`";
    Some(RULE.finding(span, name, message).help(help))
}
