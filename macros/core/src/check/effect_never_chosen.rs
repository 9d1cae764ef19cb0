//! An effect never runs: no world enables it, or an earlier effect is enabled wherever it is. The
//! first enabled effect runs. Among several effects that build one object, the first permitted one
//! is chosen, even if its write was refused. In a volume: no call names the effect in its `by`, or
//! none of these calls ever runs it.
//!
//! ```text
//! apply service; again: apply service;    // refused: `apply_service` is always chosen there
//! remove: delete service when unwanted; apply service;
//! ```

use std::collections::BTreeSet;

use super::setup_without_teardown::is_missed;
use crate::errors::Sink;
use crate::model::EffectId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::{Answer, CallDrive, Called};
use crate::space::explored::Explored;
use crate::space::policy::Choice;

pub(super) const RULE: Rule = Rule {
    code: "LC016",
    name: "effect_never_chosen",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Both(check, in_calls),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let run: BTreeSet<Choice> = space.choices.iter().copied().collect();
    for (position, effect) in space.lifecycle.effects.iter().enumerate() {
        let id = EffectId(position);
        // Another rule reports why a stage of the teardown never runs.
        // An effect of the root belongs to the root, which is checked by itself.
        let is_elsewhere = space.lifecycle.region.is_some() && effect.region.is_none();
        if run.contains(&Choice::Effect(id)) || effect.is_step || is_elsewhere {
            continue;
        }
        let permitted = space.worlds.indexes().filter(|world| {
            let world = space.worlds.get(*world);
            space.permissions.is_permitted(id, world)
        });
        let permitted: Vec<usize> = permitted.collect();
        let chosen = permitted
            .iter()
            .filter_map(|world| space.choices[*world].effect());
        let mut chosen: BTreeSet<EffectId> = chosen.filter(|other| *other != id).collect();
        // Of several that build the same, the first that is permitted is chosen, also where it was refused.
        let rivals = effect.rivals(space.lifecycle);
        chosen.extend(rivals.filter(|_| !permitted.is_empty()));
        let names = chosen
            .iter()
            .map(|other| format!("`{}`", space.lifecycle.effects[other.0].name));
        let (why, help) = if chosen.is_empty() {
            (
                "no world enables it".to_owned(),
                "check its `when`, its `from` and whether its target ever needs it, or remove it",
            )
        } else {
            let names = names.collect::<Vec<_>>().join(", ");
            (
                format!("an earlier effect is always chosen: {names}"),
                "the first enabled effect is run: move it up, or narrow the earlier one with `when`",
            )
        };
        let message = format!("effect `{}` never runs: {why}", effect.name);
        sink.push(
            RULE.finding(effect.name.span(), effect.name.to_string(), message)
                .help(help),
        );
    }
}

/// The same for the calls of a volume.
fn in_calls(called: &Called<'_>, sink: &mut Sink) {
    let lifecycle = called.space.lifecycle;
    for (position, effect) in lifecycle.effects.iter().enumerate() {
        let id = EffectId(position);
        let names = |drive: &&CallDrive<'_>| drive.call.by.iter().any(|(step, _)| *step == id);
        let naming: Vec<&CallDrive<'_>> = called.drives.iter().filter(names).collect();
        let runs = |drive: &&CallDrive<'_>| {
            let mut worlds = drive.worlds.iter();
            worlds.any(|world| drive.answers[*world] == Answer::Run(id))
        };
        // The finding about the undoing call already reports that it has no effect for the held
        // object.
        if naming.iter().any(runs) || naming.is_empty() && is_missed(lifecycle, effect) {
            continue;
        }
        let calls: Vec<String> = naming
            .iter()
            .map(|drive| format!("`{}`", drive.call.name))
            .collect();
        let (why, help) = if naming.is_empty() {
            (
                "no rpc names it".to_owned(),
                "name it in the `by` of the rpc that needs it, or remove it",
            )
        } else {
            (
                format!(
                    "another answer always comes first in {}",
                    calls.join(" and ")
                ),
                "preconditions, target, refusals and earlier effects come first: narrow them, move it up, or remove it",
            )
        };
        let message = format!("effect `{}` never runs: {why}", effect.name);
        let item = effect.name.to_string();
        sink.push(RULE.finding(effect.name.span(), item, message).help(help));
    }
}
