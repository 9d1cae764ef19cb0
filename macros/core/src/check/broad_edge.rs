//! `_ ->` declares an edge from every state, so it may only lead to failures: to states with the
//! phase Error. For every other state, `transitions` lists the states from which it is entered.
//! Several sources are written `A | B -> C`.
//!
//! ```text
//! transitions { _ -> Ready; }                              // refused: name the states that lead to `Ready`
//! transitions { Applying | Provisioning -> Ready; _ -> Failed; }
//! ```

use crate::errors::Sink;
use crate::model::{Kind, Phase};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC032",
    name: "broad_edge",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for one in lifecycle.transitions.iter().flat_map(|all| &all.anywhere) {
        let state = &lifecycle.states[one.to.0];
        let phase = match (state.phase, lifecycle.kind) {
            // A phase that is missing was reported.
            (Some(Phase::Error), _) | (None, Kind::Resource) => continue,
            (Some(phase), _) => format!("the phase of `{}` is {phase:?}", state.name),
            (None, Kind::Volume) => "a state of a volume has no phase".to_owned(),
        };
        let edge = format!("_ -> {}", state.name);
        let message = format!("`{edge}` leads from every state, and {phase}, not Error");
        let help = format!(
            "name the states that lead to it: `A | B -> {};`",
            state.name
        );
        sink.push(RULE.finding(one.span, edge, message).help(help));
    }
}
