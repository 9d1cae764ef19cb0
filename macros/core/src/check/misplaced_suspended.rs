//! A `Suspended` state is for objects that a user wants left alone for a while: it enables no
//! effect and queries no poll, but its status is written. Therefore it declares with `wakes` the
//! change that ends it. It is no goal, is never overdue, and does not query the outcome of our own
//! writes. It precedes every state that describes the object, and only ownership precedes it. `even
//! deleting` follows `Suspended` alone, and requires a held fact or a `teardown`: otherwise a
//! deletion has nothing to wait for.
//!
//! ```text
//! Taken when service == Foreign => Error wakes service; Paused when paused => Suspended wakes self;   // refused: who paused it would read that the name is taken
//! Paused when paused => Suspended wakes self; Taken when service == Foreign => Error wakes service;
//! ```

use proc_macro2::Span;

use super::misplaced_ignored::{Named, is_ignored, named, refusal};
use crate::ast::{Kind, Lifecycle, State};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC120",
    name: "misplaced_suspended",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every state by itself, and the states that precede it.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    if ast.kind == Kind::Volume {
        return;
    }
    let named = named(ast);
    let is_other = |state: &State| !is_suspended(state) && !is_ignored(state);
    let ours = ast.states.iter().position(is_other);
    for (at, state) in ast.states.iter().enumerate() {
        let mut found = Vec::from_iter(of_another_phase(state));
        if is_suspended(state) {
            found.extend(waits(state));
            found.extend(deletion(ast, state));
            found.extend(refused(state, &named));
            let above = ours.filter(|ours| *ours < at);
            found.extend(above.map(|above| order_diagnostic(state, &ast.states[above])));
        }
        found.into_iter().for_each(|one| sink.push(one));
    }
}

fn is_suspended(state: &State) -> bool {
    let phase = state.phase.as_ref();
    phase.is_some_and(|phase| phase == "Suspended")
}

/// Reports a clause that only a suspended state may have.
fn of_another_phase(state: &State) -> Option<Diagnostic> {
    let (span, phase) = (state.even_deleting?, state.phase.as_ref()?);
    if is_suspended(state) {
        return None;
    }
    let name = state.name.to_string();
    let message = format!("state `{name}` is {phase} but has `even deleting`");
    let help = "leave out `even deleting`: it is allowed only after `Suspended`";
    Some(RULE.finding(span, name, message).help(help))
}

/// Reports a suspended state that is a goal, has no `wakes`, or is overdue.
fn waits(state: &State) -> Vec<Diagnostic> {
    let name = state.name.span();
    let mut found = Vec::new();
    if state.goal {
        let what = "is a goal: it is left as it is, right or wrong";
        found.push(misplaced(state, name, what, "leave out `goal`"));
    }
    if state.wakes.is_none() {
        let what = "has no `wakes`: it ends only when the cause of the suspension changes";
        let help = "write `=> Suspended wakes self;`, or name the input that suspends it";
        let phase = state.phase.as_ref().map_or(name, |phase| phase.span());
        found.push(misplaced(state, phase, what, help));
    }
    if state.overdue.is_some() {
        let what = "has `overdue`: it lasts until a user or another controller ends it";
        found.push(misplaced(state, name, what, "leave out `overdue`"));
    }
    found
}

/// While nothing is done no write is refused.
fn refused(state: &State, named: &Named<'_>) -> Option<Diagnostic> {
    let span = refusal(&state.when, named)?;
    let what = "reads whether a write was refused: the operator writes nothing while suspended";
    Some(misplaced(
        state,
        span,
        what,
        "ask only who wants it suspended",
    ))
}

/// Reports a suspended state below a state that does not decide ownership.
fn order_diagnostic(state: &State, above: &State) -> Diagnostic {
    let what = format!(
        "is below `{}`: the user who suspended it would see that state instead",
        above.name
    );
    let help = "move it to the top; only `Ignored` states come before it";
    misplaced(state, state.name.span(), &what, help)
}

/// Reports an `even deleting` without a held fact or a teardown: a deletion has nothing to wait
/// for.
fn deletion(ast: &Lifecycle, state: &State) -> Option<Diagnostic> {
    let even = state.even_deleting?;
    let holds = ast.teardown.is_some() || ast.facts.iter().any(|fact| fact.held.is_some());
    let what =
        "has `even deleting`, but nothing is `held` or torn down: the object is deleted at once";
    (!holds).then(|| misplaced(state, even, what, "leave out `even deleting`"))
}

fn misplaced(state: &State, span: Span, what: &str, help: &str) -> Diagnostic {
    let name = state.name.to_string();
    let message = format!("state `{name}` is Suspended and {what}");
    RULE.finding(span, name, message).help(help)
}
