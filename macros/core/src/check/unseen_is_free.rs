//! A held fact counts as released while it is not observed. The finalizer would then be removed
//! although something may still be ours.
//!
//! ```text
//! held bucket: { No | Current } from store given store;                 // refused: unseen is `No`
//! held bucket: { No | Current } from store given store else Unknown;
//! ```
//!
//! A `given` that queries records only may imply that nothing is held: an object that was never
//! recorded was never acquired.

use crate::errors::{Diagnostic, Sink};
use crate::model::{Guard, Lifecycle, Mode, Origin, Var, Verdict};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC047",
    name: "unseen_is_free",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for var in &context.lifecycle.vars {
        for guard in &var.given {
            if frees_unseen(context.lifecycle, var, guard) {
                sink.push(diagnostic(var, guard));
            }
        }
    }
}

fn frees_unseen(lifecycle: &Lifecycle, var: &Var, guard: &Guard) -> bool {
    let free = var
        .held
        .is_some_and(|held| held.free.contains(guard.otherwise));
    let asked = guard.pred.vars();
    let mut origins = asked.iter().map(|var| &lifecycle.vars[var.0].origin);
    free && !origins.all(|origin| match origin {
        Origin::Input(input) => lifecycle.inputs[input.0].mode == Mode::Record,
        Origin::Fact { .. } | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    })
}

fn diagnostic(var: &Var, guard: &Guard) -> Diagnostic {
    let value = &var.values[guard.otherwise];
    let span = guard.otherwise_span.unwrap_or(guard.pred.span);
    RULE.finding(span,
        var.name.to_string(),
        format!(
            "held fact `{}` counts as released (`{value}`) while it is not observed: write `else` with a value that means unknown",
            var.name
        ),
    )
    .help(help(var, guard))
}

/// Returns the help text. Leaves out any advice to write a value that exists already.
fn help(var: &Var, guard: &Guard) -> String {
    let unknown = var.position(Verdict::Unknown);
    let is_free = |value: &usize| var.held.is_some_and(|held| held.free.contains(*value));
    match unknown.filter(is_free) {
        Some(_) if guard.otherwise_span.is_some() => {
            "`Unknown` is left of the bar, where nothing is owned: remove it there, so that only this `else` names it".to_owned()
        }
        Some(_) => {
            "write `else Unknown`, and remove `Unknown` left of the bar, where nothing is owned".to_owned()
        }
        None => "write `else Unknown`".to_owned(),
    }
}
