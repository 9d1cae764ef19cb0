//! The `until` of a stage of the teardown queries nothing that its effect changes, and nothing that
//! a promise brings about. Running the effect could never end the stage.
//!
//! ```text
//! teardown { drain until volume == Detached; }    // refused: `drain` writes the node, and nobody promises anything of the volume
//! teardown { drain until served == No; detach until volume == Detached; }
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::VarId;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC141",
    name: "until_out_of_reach",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let promises = lifecycle.promises.iter();
    let promised: BTreeSet<VarId> = promises
        .flat_map(|promise| promise.sets.iter().flatten())
        .map(|assign| assign.var)
        .collect();
    for step in &lifecycle.steps {
        let effect = &lifecycle.effects[step.effect.0];
        let sets = effect.sets.iter().flatten().map(|assign| assign.var);
        let sets: BTreeSet<VarId> = sets.collect();
        let affected = context.frames.affected(step.effect);
        let asked = step.until.vars();
        let changes =
            |var: &VarId| affected.contains(var) || sets.contains(var) || promised.contains(var);
        if asked.iter().any(changes) {
            continue;
        }
        let facts = asked.iter().map(|var| &lifecycle.vars[var.0].name);
        let facts: Vec<String> = facts.map(|name| format!("`{name}`")).collect();
        let target = &lifecycle.inputs[effect.target.0].name;
        let name = &effect.name;
        let message = format!(
            "step `{name}` is over by {}, which neither `{name}` nor a promise changes",
            facts.join(", ")
        );
        let help = format!(
            "read the result of writing `{target}`, or declare the promise that brings it about"
        );
        sink.push(
            RULE.finding(step.until.span, name.to_string(), message)
                .help(help),
        );
    }
}
