//! `abandoned` that gives nothing up, for it never holds where anything is left, or everything, for it always does: then no step is ever done, and nothing
//! is given back.
//!
//! ```text
//! abandoned when token in { Absent, Present } "..."     // refused: whatever there is, nothing would be given back
//! abandoned when token == Absent "..."
//! ```

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;

pub(super) const RULE: Rule = Rule {
    code: "LC145",
    name: "idle_abandonment",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    for abandoned in &space.lifecycle.abandoned {
        let left = space.deleting().map(|world| space.worlds.get(world));
        let left = left.filter(|world| space.policy.is_left(*world));
        let holds = left.map(|world| world.holds(&abandoned.when));
        let (held, not): (Vec<bool>, Vec<bool>) = holds.partition(|holds| *holds);
        let (message, help) = if held.is_empty() {
            let message = "`abandoned` never holds where anything is left: nothing is given up";
            (
                message,
                "ask what keeps the object from giving back what it has, or leave it out",
            )
        } else if not.is_empty() {
            let message = "`abandoned` holds wherever anything is left: nothing is ever released";
            (
                message,
                "ask only for what makes it impossible to give anything back",
            )
        } else {
            continue;
        };
        sink.push(
            RULE.finding(abandoned.when.span, "abandoned", message)
                .help(help),
        );
    }
}
