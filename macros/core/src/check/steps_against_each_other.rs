//! Steps of a `teardown` that undo each other: the later one makes the `until` of the earlier one untrue, which then runs again, and so on.
//!
//! ```text
//! teardown { stop until power == Off; wipe until data == Gone && power == On; }       // refused: stopped, started, stopped, ..
//! teardown { wipe until data == Gone; stop until power == Off; }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::errors::Sink;
use crate::model::{EffectId, Step, ValueSet, VarId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::components::Loop;
use crate::space::explored::Explored;

pub(super) const RULE: Rule = Rule {
    code: "LC143",
    name: "steps_against_each_other",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let lifecycle = explored.space.lifecycle;
    let mut first: BTreeMap<Vec<EffectId>, &Loop> = BTreeMap::new();
    for one in &explored.drives.loops {
        let steps: Vec<EffectId> = against(explored, one).into_iter().collect();
        if steps.len() > 1 {
            first.entry(steps).or_insert(one);
        }
    }
    for (steps, one) in first {
        let declared = lifecycle.steps.iter();
        let declared: Vec<_> = declared
            .filter(|step| steps.contains(&step.effect))
            .collect();
        let name = |effect: EffectId| lifecycle.effects[effect.0].name.to_string();
        let mut names: Vec<String> = declared.iter().map(|step| name(step.effect)).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let (last, others) = quoted.split_last().expect("at least two steps");
        let message = format!(
            "steps {} and {last} undo each other, for example {}",
            others.join(", "),
            explored.drives.describe(explored.space, one)
        );
        names.sort();
        let mut found = RULE.finding(declared[0].span, names.join(", "), message);
        for step in declared.iter().skip(1) {
            found = found.note(step.span, "it makes the `until` of the earlier one untrue");
        }
        let open = left_open(explored, &declared);
        let help =
            "let the `until` of the earlier one hold whatever the later one does, or swap the two";
        sink.push(match open {
            Some((note, help)) => found.note(None, note).help(help),
            None => found.help(help),
        });
    }
}

/// Returns a note and a help text for a fact that a later call may change without declaring it. An
/// earlier stage of the teardown is over by that fact.
fn left_open(explored: &Explored<'_>, steps: &[&Step]) -> Option<(String, String)> {
    let lifecycle = explored.space.lifecycle;
    for (at, later) in steps.iter().enumerate() {
        let effect = &lifecycle.effects[later.effect.0];
        let affected = explored.space.frames.affected(later.effect);
        let says = |var: VarId| {
            let mut sets = effect.sets.iter();
            sets.all(|set| set.iter().any(|one| one.var == var))
        };
        for earlier in &steps[..at] {
            let asked = earlier.until.vars();
            let mut open = asked
                .iter()
                .filter(|var| affected.contains(var) && !says(**var));
            let (Some(var), true) = (open.next(), effect.verb == Verb::Call) else {
                continue;
            };
            let declared = &lifecycle.vars[var.0];
            let ends = |value: &usize| {
                let said = |asked: VarId, values: ValueSet| {
                    (asked == *var).then(|| values.contains(*value))
                };
                earlier.until.decided(&said) == Some(true)
            };
            let value = (0..declared.answers).find(ends)?;
            let (name, fact) = (&effect.name, &declared.name);
            let value = &declared.values[value];
            return Some((
                format!(
                    "`sets` of `{name}` does not declare the result for `{fact}`: a call may change every fact that reads its target"
                ),
                format!(
                    "write `{fact} = {value}` in the `sets` of `{name}`, if nothing else comes of it; or let the earlier `until` hold all the same"
                ),
            ));
        }
    }
    None
}

/// The steps that keep a round of a deletion going; none of one in life.
pub(super) fn against(explored: &Explored<'_>, one: &Loop) -> BTreeSet<EffectId> {
    let space = explored.space;
    if space.classes[one.worlds[0] as usize] != Class::Deleting {
        return BTreeSet::new();
    }
    let mut effects = explored.drives.effects_within(space, one);
    effects.retain(|effect| space.lifecycle.effects[effect.0].is_step);
    effects
}
