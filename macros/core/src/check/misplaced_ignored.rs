//! An `Ignored` state is for objects that another controller manages: it enables no effect, writes
//! no status, and is settled. Therefore it is no goal, has neither `wakes` nor `overdue`, and does
//! not query the outcome of our own writes. It precedes every state of ours, because ownership of
//! an object is decided before its condition.
//!
//! ```text
//! NoClass when !class => Error wakes class; Elsewhere when keeper == Other => Ignored;   // refused: what is not ours would be told of its class
//! Elsewhere when keeper == Other => Ignored; NoClass when !class => Error wakes class;
//! ```

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};

use crate::ast::{Kind, Lifecycle, Pred, PredKind, State};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC055",
    name: "misplaced_ignored",
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
    let ours = ast.states.iter().position(|state| !is_ignored(state));
    for (at, state) in ast.states.iter().enumerate() {
        if is_ignored(state) {
            alone(state, &named, sink);
            if let Some(above) = ours.filter(|ours| *ours < at) {
                let above = &ast.states[above].name;
                let what = format!(
                    "is below `{above}`: objects owned by another controller would report that state"
                );
                sink.push(misplaced(
                    state,
                    state.name.span(),
                    &what,
                    "move it to the top",
                ));
            }
        }
    }
}

pub(super) fn is_ignored(state: &State) -> bool {
    state.phase.as_ref().is_some_and(|phase| phase == "Ignored")
}

fn alone(state: &State, named: &Named<'_>, sink: &mut Sink) {
    let name = state.name.span();
    if state.goal {
        let what = "is a goal: nothing is wanted of what another controller manages";
        sink.push(misplaced(state, name, what, "leave out `goal`"));
    }
    if let Some(wakes) = &state.wakes {
        let span = wakes.first().map_or(name, |first| first.span());
        let what = "has `wakes`: it is settled, and reconciled when its facts change";
        sink.push(misplaced(state, span, what, "leave out `wakes`"));
    }
    if state.overdue.is_some() {
        let what = "has `overdue`: nothing is expected there, and no user would see it";
        sink.push(misplaced(state, name, what, "leave out `overdue`"));
    }
    if let Some(span) = refusal(&state.when, named) {
        let what = "reads whether a write was refused: the operator writes nothing to objects that it does not own";
        sink.push(misplaced(
            state,
            span,
            what,
            "read only who owns the object",
        ));
    }
}

fn misplaced(state: &State, span: Span, what: &str, help: &str) -> Diagnostic {
    let name = state.name.to_string();
    let message = format!("state `{name}` is Ignored and {what}");
    RULE.finding(span, name, message).help(help)
}

/// Predicate that each name stands for.
pub(super) type Named<'a> = BTreeMap<String, &'a Pred>;

/// The names for predicates.
pub(super) fn named(ast: &Lifecycle) -> Named<'_> {
    let named = ast.derived.iter();
    let named = named.map(|derived| (derived.name.to_string(), &derived.pred));
    named.collect()
}

/// Returns the first place that queries a refusal, directly or through a name that stands for it.
pub(super) fn refusal(pred: &Pred, named: &Named<'_>) -> Option<Span> {
    match &pred.kind {
        PredKind::Refused(_) => Some(pred.span),
        PredKind::There(fact) | PredKind::Is { fact, .. } => {
            means_refusal(fact, named).then_some(pred.span)
        }
        PredKind::All(parts) | PredKind::Any(parts) => {
            parts.iter().find_map(|part| refusal(part, named))
        }
        PredKind::Not(part) => refusal(part, named),
    }
}

/// Returns true if a name stands for a predicate that queries a refusal. Keeps its own stack,
/// because names can refer to names to any depth.
fn means_refusal(name: &Ident, named: &Named<'_>) -> bool {
    let mut seen = BTreeSet::from([name.to_string()]);
    let mut open = vec![name.to_string()];
    while let Some(name) = open.pop() {
        let Some(pred) = named.get(&name) else {
            continue;
        };
        if pred.asks_for_refusal() {
            return true;
        }
        let asked = pred.referenced_facts().into_iter().map(ToString::to_string);
        open.extend(asked.filter(|fact| seen.insert(fact.clone())));
    }
    false
}
