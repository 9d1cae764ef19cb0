//! A record is overwritten while something may be held under its old value. The held object could
//! then not be found again to release it. Release first: permit the write only if nothing is held.
//!
//! ```text
//! apply handle;                                            // refused: also when it is Stale and `bucket == Current`
//! apply handle when handle == Absent || bucket == No;
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{EffectId, InputId, Lifecycle, Mode, VarId, Verb, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::policy::Choice;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC049",
    name: "record_overwritten",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let lifecycle = space.lifecycle;
    for (position, effect) in lifecycle.effects.iter().enumerate() {
        let input = &lifecycle.inputs[effect.target.0];
        let (Verb::Apply, Mode::Record, Some(record)) = (effect.verb, input.mode, input.var) else {
            continue;
        };
        let under = held_under(lifecycle, effect.target);
        let id = EffectId(position);
        let runs = |world: &usize| space.choices[*world] == Choice::Effect(id);
        let stale = lifecycle.vars[record.0].position(Verdict::Stale);
        let bad = |world: usize| {
            let world = space.worlds.get(world);
            let held = space.policy.still_held(world);
            Some(world.value(record)) == stale && held.iter().any(|var| under.contains(var))
        };
        let Some(example) = space
            .worlds
            .indexes()
            .filter(runs)
            .find(|world| bad(*world))
        else {
            continue;
        };
        let claim = Claim {
            about: space.worlds.indexes().filter(runs).collect(),
            bad: &bad,
            expected: under.iter().copied().chain([record]).collect(),
        };
        let message = format!(
            "effect `{}` overwrites the record with `{}`, although something may still be owned under the old one",
            effect.name,
            minimal(space, &claim, example)
        );
        sink.push(
            RULE.finding(effect.name.span(), effect.name.to_string(), message)
                .help("permit it in `when` only where the record is absent or nothing is owned under it"),
        );
    }
}

/// Returns the held facts that calls with this key decide.
fn held_under(lifecycle: &Lifecycle, key: InputId) -> BTreeSet<VarId> {
    let effects = lifecycle.effects.iter();
    let keyed =
        effects.filter(|effect| effect.key.as_ref().is_some_and(|by| by.input == Some(key)));
    let set = keyed
        .flat_map(|effect| effect.sets.iter().flatten())
        .map(|assign| assign.var);
    set.filter(|var| lifecycle.vars[var.0].held.is_some())
        .collect()
}
