//! A minted value is renewed in a world in which the renewal does not end the need for it. It would
//! be renewed in the next reconcile as well, and so without end. The predicate in `until` must read
//! the object that keeps the value, and must report after the write that the new value is good.
//!
//! ```text
//! due: { No, Yes } from self, now;
//! mint password: Password in secret until due == Yes;      // refused: a new password is as due as the old one
//!
//! due: { No, Yes } from secret, now;
//! ```

use std::ops::ControlFlow;

use crate::errors::Sink;
use crate::model::{EffectId, Pred, ValueId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::witness::show;
use crate::space::world::Change;

pub(super) const RULE: Rule = Rule {
    code: "LC154",
    name: "endless_rotation",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::World,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    let lifecycle = space.lifecycle;
    for (at, effect) in lifecycle.effects.iter().enumerate() {
        if effect.verb != Verb::Apply {
            continue;
        }
        for (value, mint) in lifecycle.minted_in(effect.target) {
            if let Some(until) = &mint.until {
                rotates(space, EffectId(at), value, until, sink);
            }
        }
    }
}

fn rotates(space: &Space<'_>, id: EffectId, value: ValueId, until: &Pred, sink: &mut Sink) {
    let (lifecycle, worlds) = (space.lifecycle, &space.worlds);
    let effect = &lifecycle.effects[id.0];
    let expired = worlds.indexes().map(|world| worlds.get(world));
    let mut expired =
        expired.filter(|world| world.holds(until) && space.permissions.enabled(id, *world));
    let endless = expired.find(|world| {
        effect.sets.iter().all(|alternative| {
            let mut change = Change::from(*world, lifecycle);
            for var in space.frames.affected(id) {
                space.touch(&mut change, id, *var);
            }
            for assign in alternative {
                change.force(assign.var, assign.value);
            }
            let ended = worlds.walk(&change, &mut |_, end| match end.holds(until) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            });
            ended.is_continue()
        })
    });
    if let Some(world) = endless {
        let value = &lifecycle.values[value.0];
        let (name, keeper) = (value.name.to_string(), &value.from[0].name);
        let message = format!(
            "with `{}` `{name}` is made anew, and `{}` does not end that",
            show(lifecycle, world, until.vars().into_iter()),
            effect.name
        );
        let help = format!("use a fact that reads the creation time from `{keeper}`");
        sink.push(RULE.finding(until.span, name, message).help(help));
    }
}
