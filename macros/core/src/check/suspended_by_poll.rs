//! A suspension must not depend on the answer of a poll, because no poll is queried during a
//! suspension. The answer that suspended the object could never be revoked. Read the decision from
//! the object, or from an object that is watched.
//!
//! ```text
//! frozen: bool from provider given provider;               // refused with `provider: poll Info ..` and the state below
//! frozen: bool from window;                                // `window: ConfigMap by name spec.window` is watched
//! Frozen when frozen => Suspended wakes window;
//! ```

use crate::errors::Sink;
use crate::model::build::polls_behind;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC121",
    name: "suspended_by_poll",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for state in lifecycle.states.iter().filter(|one| one.is_suspended()) {
        let Some(poll) = polls_behind(lifecycle, state.when.vars()).pop_first() else {
            continue;
        };
        let (poll, name) = (&lifecycle.inputs[poll.0].name, state.name.to_string());
        let message = format!(
            "state `{name}` is Suspended by an answer of poll `{poll}`, but a suspended object is not polled"
        );
        sink.push(
            RULE.finding(state.name.span(), name, message)
                .note(poll.span(), "this is the poll")
                .help("ask the object itself, or an object that is watched"),
        );
    }
}
