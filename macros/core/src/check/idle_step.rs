//! A stage of the teardown never runs: its `until` already holds when its turn comes, or its effect
//! is never enabled before the stage is over.
//!
//! ```text
//! teardown { unmake until infra == Absent; drain until served == No || infra == Absent; }     // refused: when it is `drain`'s turn the machine is gone
//! teardown { drain until served == No || infra == Absent; unmake until infra == Absent; }
//! ```

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::policy::Choice;

pub(super) const RULE: Rule = Rule {
    code: "LC146",
    name: "idle_step",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for step in &space.lifecycle.steps {
        let open =
            |world: &usize| space.policy.open_step(space.worlds.get(*world)) == Some(step.effect);
        let open: Vec<usize> = space.deleting().filter(open).collect();
        let runs = |world: &usize| space.choices[*world] == Choice::Effect(step.effect);
        let given_up = |world: &usize| space.choices[*world] == Choice::Release;
        // Another rule reports a stage that is always abandoned.
        let is_given_up = !open.is_empty() && open.iter().all(given_up);
        if is_given_up || open.iter().any(runs) {
            continue;
        }
        let name = &space.lifecycle.effects[step.effect.0].name;
        let (why, help) = match open.is_empty() {
            true => (
                "its `until` always holds when its turn comes",
                "turn it round with a step before it, or leave it out",
            ),
            false => (
                "its effect is never enabled when its turn comes",
                "check its `when`, what the effect is made from and whether its target ever needs it, or leave it out",
            ),
        };
        let message = format!("step `{name}` never runs: {why}");
        let found = RULE.finding(step.span, name.to_string(), message);
        sink.push(found.help(help));
    }
}
