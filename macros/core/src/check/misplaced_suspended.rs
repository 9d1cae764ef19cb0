//! A `Suspended` state is for objects that somebody asked us to leave alone for a while: nothing is enabled in it and no poll is asked, but it is told.
//! So it says by `wakes` what ends it, is no goal and never overdue, does not ask how our own writes went, and stands above every state that says how
//! the object is; only whose it is comes before. `even deleting` stands behind `Suspended` alone, and only where something is held or there is a `teardown`: else there is nothing that
//! a deletion waits for.
//!
//! ```text
//! Taken when service == Foreign => Error wakes service; Paused when paused => Suspended wakes self;   // refused: who paused it would read that the name is taken
//! Paused when paused => Suspended wakes self; Taken when service == Foreign => Error wakes service;
//! ```

use proc_macro2::Span;

use super::misplaced_ignored::{Named, is_ignored, named, refusal};
use crate::ast::{Kind, Lifecycle, State};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC120",
    name: "misplaced_suspended",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Looks at every state by itself, and at which stand above it.
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
            found.extend(above.map(|above| below(state, &ast.states[above])));
        }
        found.into_iter().for_each(|one| sink.push(one));
    }
}

fn is_suspended(state: &State) -> bool {
    let phase = state.phase.as_ref();
    phase.is_some_and(|phase| phase == "Suspended")
}

/// What only a suspended state may say.
fn of_another_phase(state: &State) -> Option<Diagnostic> {
    let (span, phase) = (state.even_deleting?, state.phase.as_ref()?);
    if is_suspended(state) {
        return None;
    }
    let name = state.name.to_string();
    let message = format!("state `{name}` is {phase} and says `even deleting`");
    let help = "leave out `even deleting`: it stands behind `Suspended`";
    Some(RULE.finding(span, name, message).help(help))
}

/// What it waits for, and what it must not.
fn waits(state: &State) -> Vec<Diagnostic> {
    let name = state.name.span();
    let mut found = Vec::new();
    if state.goal {
        let what = "is a goal: it is left as it is, right or wrong";
        found.push(misplaced(state, name, what, "leave out `goal`"));
    }
    if state.wakes.is_none() {
        let what = "says no `wakes`: only a change of what suspended it can end it";
        let help = "write `=> Suspended wakes self;`, or the input that says so";
        let phase = state.phase.as_ref().map_or(name, |phase| phase.span());
        found.push(misplaced(state, phase, what, help));
    }
    if state.overdue.is_some() {
        let what = "says `overdue`: it lasts until somebody ends it";
        found.push(misplaced(state, name, what, "leave out `overdue`"));
    }
    found
}

/// While nothing is done no write is refused.
fn refused(state: &State, named: &Named<'_>) -> Option<Diagnostic> {
    let span = refusal(&state.when, named)?;
    let what = "asks whether a write of ours was refused: there is none while nothing is done";
    Some(misplaced(
        state,
        span,
        what,
        "ask only who wants it suspended",
    ))
}

/// Only whose it is comes before.
fn below(state: &State, above: &State) -> Diagnostic {
    let what = format!(
        "stands below `{}`: who suspended it would read that instead",
        above.name
    );
    let help = "move it to the top; only `Ignored` states stand above it";
    misplaced(state, state.name.span(), &what, help)
}

/// A deletion can wait only where something is held.
fn deletion(ast: &Lifecycle, state: &State) -> Option<Diagnostic> {
    let even = state.even_deleting?;
    let holds = ast.teardown.is_some() || ast.facts.iter().any(|fact| fact.held.is_some());
    let what = "says `even deleting`, and nothing is `held` or torn down: the object goes at once";
    (!holds).then(|| misplaced(state, even, what, "leave out `even deleting`"))
}

fn misplaced(state: &State, span: Span, what: &str, help: &str) -> Diagnostic {
    let name = state.name.to_string();
    let message = format!("state `{name}` is Suspended and {what}");
    RULE.finding(span, name, message).help(help)
}
