//! An effect acquires something under a key that may not be recorded yet. After a crash right
//! behind the call, the acquired object could not be found again. Require `== Current` of the
//! record in `when`.
//!
//! ```text
//! put: call store when bucket == No sets { bucket = Current } undo drop key handle;         // refused: `handle` may be Absent or Stale
//! put: call store when handle == Current && bucket == No sets { bucket = Current } undo drop key handle;
//! ```

use crate::errors::Sink;
use crate::model::{EffectId, Mode, Verb, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::policy::Choice;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC048",
    name: "acquire_before_record",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    for (position, effect) in space.lifecycle.effects.iter().enumerate() {
        let id = EffectId(position);
        let input = effect.key.as_ref().and_then(|key| key.input);
        let Some(input) = input.map(|input| &space.lifecycle.inputs[input.0]) else {
            continue;
        };
        let (Mode::Record, Verb::Call, Some(record)) = (input.mode, effect.verb, input.var) else {
            continue;
        };
        if !space.permissions.acquires(id) {
            continue;
        }
        let runs = |world: &usize| space.choices[*world] == Choice::Effect(id);
        let current = space.lifecycle.vars[record.0].position(Verdict::Current);
        let bad = |world: usize| Some(space.worlds.get(world).value(record)) != current;
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
            expected: [record].into(),
        };
        let message = format!(
            "effect `{}` may run with `{}`, before its key `{}` is recorded",
            effect.name,
            minimal(space, &claim, example),
            input.name
        );
        let span = effect
            .when
            .as_ref()
            .map_or(effect.name.span(), |when| when.span);
        sink.push(
            RULE.finding(span, effect.name.to_string(), message)
                .help(format!("require `{} == Current` in its `when`", input.name)),
        );
    }
}
