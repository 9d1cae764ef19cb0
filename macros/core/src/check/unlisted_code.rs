//! A call answers with a code that the Container Storage Interface does not list for it, or does
//! not declare when it must answer with a listed one.
//!
//! The preconditions `unfit`, `unknown`, `in_use`, `elsewhere`, `unstaged` and `differs` stand for
//! the codes that the interface demands. Each precondition of a declared call must be decided, by
//! `when` or by `never` with the reason. Teardown never evaluates `unknown`: an object that does
//! not exist has been released.
//!
//! ```text
//! NodePublishVolume -> Published by publish { !claim => OUT_OF_RANGE; }      // refused: a caller cannot know what that means here
//! NodePublishVolume -> Published by publish { !claim => UNAVAILABLE; }
//! ```

use proc_macro2::Span;

use crate::csi::{Code, Demands, Precondition, Rpc, VERSION};
use crate::errors::Sink;
use crate::model::{Call, Lifecycle};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC081",
    name: "unlisted_code",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for call in &lifecycle.calls {
        let waits = call.within.iter().map(|within| (within.code, within.span));
        let refusals = call.refusals.iter().map(|one| (one.code, one.code_span));
        for (code, span) in waits.chain(refusals) {
            unlisted(call, code, span, sink);
        }
    }
    for precondition in Precondition::ALL {
        undecided(lifecycle, *precondition, sink);
    }
}

fn unlisted(call: &Call, code: Code, span: Span, sink: &mut Sink) {
    let demands = call.rpc.demands();
    let listed = demands.listed();
    if listed.contains(&code) {
        return;
    }
    let (name, code_name) = (call.rpc.name(), code.name());
    let shunned = demands.shunned.iter().find(|(other, _)| *other == code);
    let message = match shunned {
        Some((_, why)) => format!("`{name}` must not answer `{code_name}`: {why}"),
        None => format!("CSI does not list `{code_name}` for `{name}`"),
    };
    let known: Vec<String> = listed
        .iter()
        .map(|code| format!("`{}`", code.name()))
        .collect();
    sink.push(RULE.finding(span, name, message).help(format!(
        "it may answer {} (csi {VERSION}, \"{}\")",
        known.join(", "),
        demands.section
    )));
}

/// Reports an undecided precondition once, at the first call that evaluates it.
fn undecided(lifecycle: &Lifecycle, precondition: Precondition, sink: &mut Sink) {
    let decided = lifecycle
        .preconditions
        .iter()
        .any(|one| one.precondition == precondition);
    let stages = declares(lifecycle, Rpc::NodeStageVolume);
    if decided || (precondition == Precondition::Unstaged && !stages) {
        return;
    }
    let mut calls = lifecycle.calls.iter().filter_map(|call| {
        let demands: &Demands = call.rpc.demands();
        Some((call, demands, demands.code_of(precondition)?))
    });
    if let Some((call, demands, code)) = calls.next() {
        let (name, precondition) = (call.rpc.name(), precondition.name());
        let message = format!(
            "`{name}` must answer {} when the volume is `{precondition}`: write `{precondition} when ..` or `{precondition} never \"..\"` (csi {VERSION}, \"{}\")",
            code.name(),
            demands.section
        );
        sink.push(RULE.finding(call.name.span(), name, message));
    }
}

fn declares(lifecycle: &Lifecycle, rpc: Rpc) -> bool {
    lifecycle.calls.iter().any(|call| call.rpc == rpc)
}
