//! A promise is claimed in a state twice. That a keeper has its states, and does something in them, rustc finds out: they are another lifecycle's.
//!
//! ```text
//! follows claimed by Site in Ready | Ready: ..             // refused
//! follows claimed by Site in Starting | Ready: ..
//! ```

use crate::errors::Sink;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC180",
    name: "repeated_claim",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for promise in &context.lifecycle.promises {
        let states = promise.claim.iter().flat_map(|claim| &claim.states);
        let states: Vec<_> = states.collect();
        for (at, state) in states.iter().enumerate() {
            let Some(first) = states[..at].iter().find(|first| first == &state) else {
                continue;
            };
            let name = &promise.name;
            let message = format!("promise `{name}` is claimed in `{state}` twice");
            sink.push(
                RULE.finding(state.span(), name.to_string(), message)
                    .note(first.span(), "first claimed here")
                    .help("leave one of them out, or name the state that was meant"),
            );
        }
    }
}
