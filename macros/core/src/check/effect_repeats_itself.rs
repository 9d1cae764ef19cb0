//! An effect may leave every fact unchanged and stay enabled, so it would run for ever. Declare its
//! certain results in `sets`, and require their absence in `when`.
//!
//! ```text
//! put: call store when entry == Stale sets { entry = Current } or { entry = Stale } ..;     // refused: the second may repeat for ever
//! put: call store when entry == Stale sets { entry = Current } or { entry = Taken } ..;
//! ```

use std::collections::BTreeMap;

use super::work_in_goal::{undos_in_life, unsaid_target};
use crate::errors::Sink;
use crate::model::EffectId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC024",
    name: "effect_repeats_itself",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_effect: BTreeMap<EffectId, Vec<usize>> = BTreeMap::new();
    for one in explored.live_loops().filter(|one| one.worlds.len() == 1) {
        let world = one.worlds[0] as usize;
        if let Some(effect) = space.choices[world].effect() {
            by_effect.entry(effect).or_default().push(world);
        }
    }
    for (id, worlds) in by_effect {
        let effect = &space.lifecycle.effects[id.0];
        let bad = |world: usize| worlds.contains(&world);
        let runs = |world: &usize| space.choices[*world].effect() == Some(id);
        let claim = Claim {
            about: space.live().filter(runs).collect(),
            bad: &bad,
            expected: effect.when.iter().flat_map(|when| when.vars()).collect(),
        };
        let message = format!(
            "effect `{}` stays enabled after itself with the same facts, for example `{}`: it would run for ever",
            effect.name,
            minimal(space, &claim, worlds[0])
        );
        let help = unsaid_target(space.lifecycle, [id]).unwrap_or_else(|| {
            "let every alternative of `sets` change something that its `when` reads".to_owned()
        });
        let found = RULE
            .finding(effect.name.span(), effect.name.to_string(), message)
            .help(help);
        sink.push(undos_in_life(found, [effect]));
    }
}
