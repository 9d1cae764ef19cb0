//! Items conflict with `kstatus;`, by which tools such as `helm` and `kubectl` detect that an
//! object is done. It writes `status.observedGeneration` and the conditions `Reconciling` and
//! `Stalled`, so no other item has these names. Conditions that are not declared may appear, so
//! there is no `implicit in ..`. A waiting tool takes the phase `Ready` for the end. Therefore each
//! goal has this phase, and no other state has it.
//!
//! ```text
//! kstatus; condition Stalled { .. }                     // refused: the condition is written already, from the phase
//! kstatus; .. goal Off when !wanted => Pending;         // refused: who waits for it would wait for ever
//! kstatus; .. goal Off when !wanted => Ready;
//! ```

use proc_macro2::{Ident, Span};

use crate::ast::{Kind, Lifecycle, State};
use crate::errors::{Diagnostic, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC122",
    name: "misfit_kstatus",
    group: Group::Status,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every name and state by itself.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let Some(span) = ast.kstatus else {
        return;
    };
    if ast.kind == Kind::Volume {
        let message = "`kstatus` is not for a volume, which has no status";
        let found = RULE.finding(span, "kstatus", message);
        sink.push(found.help("leave it out: a call is answered, so no client waits for an object"));
        return;
    }
    if let Some(implicit) = &ast.implicit {
        let message = "`kstatus` writes conditions that are not declared, but `implicit in ..` declares that there are none";
        let found = RULE.finding(span, "kstatus", message);
        let found = found.note(implicit.span, "only declared types may appear by this line");
        sink.push(found.help("leave out one of the two"));
    }
    for condition in &ast.conditions {
        if ["Reconciling", "Stalled"].contains(&condition.name.to_string().as_str()) {
            sink.push(taken(&condition.name, "condition", span));
        }
    }
    for field in &ast.fields {
        let bare = field.name.to_string().replace('_', "").to_lowercase();
        if bare == "observedgeneration" {
            sink.push(taken(&field.name, "field", span));
        }
    }
    for state in &ast.states {
        state_of(state, span)
            .into_iter()
            .for_each(|found| sink.push(found));
    }
}

/// It is written already.
fn taken(name: &Ident, what: &str, kstatus: Span) -> Diagnostic {
    let message = format!("{what} `{name}` is written by `kstatus` already");
    RULE.finding(name.span(), name.to_string(), message)
        .note(kstatus, "this line writes it from the phase")
        .help(format!("leave out the {what}, or give it another name"))
}

/// Reports a state if its phase makes a waiting tool finish before a goal, or keep waiting at a
/// goal.
fn state_of(state: &State, kstatus: Span) -> Option<Diagnostic> {
    let (name, phase) = (state.name.to_string(), state.phase.as_ref()?);
    let (what, help) = match (state.goal, phase.to_string().as_str()) {
        (true, "Pending" | "Error") => (
            format!("is a goal and {phase}: who waits for it would never be done"),
            "write `=> Ready`, or leave out `goal`",
        ),
        (false, "Ready") => (
            "is Ready and no goal: who waits for the object would be done too early".to_owned(),
            "write `goal` before it, or give it another phase",
        ),
        _ => return None,
    };
    let message = format!("state `{name}` {what}");
    let found = RULE.finding(phase.span(), name, message);
    Some(
        found
            .note(kstatus, "tools read the phase by this line")
            .help(help),
    )
}
