//! A `call` establishes a world that a `never` rules out. A `never` is a fact about the world. An
//! effect that would break it is either permitted too early (narrow its `when`), or has a wrong
//! `sets`.
//!
//! ```text
//! never published && !staged;
//! publish: call mounts sets { published = true } ..;       // refused: also runs while `!staged`
//! publish: call mounts when staged sets { published = true } ..;
//! ```

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Assign, Effect, EffectId, Lifecycle, VarId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::witness::{fact, show};
use crate::space::world::{Change, World};

pub(super) const RULE: Rule = Rule {
    code: "LC013",
    name: "broken_never",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    for (position, effect) in space.lifecycle.effects.iter().enumerate() {
        if effect.verb == Verb::Call {
            sink_first(space, EffectId(position), effect, sink);
        }
    }
}

fn sink_first(space: &Space<'_>, id: EffectId, effect: &Effect, sink: &mut Sink) {
    let mut fine = BTreeSet::new();
    for world in space.worlds.indexes().map(|world| space.worlds.get(world)) {
        if !space.permissions.enabled(id, world) {
            continue;
        }
        for alternative in &effect.sets {
            let mut change = Change::from(world, space.lifecycle);
            // The renewal of a value changes the verdict on its keeper, too.
            for var in expiring(space.lifecycle) {
                change.free(var);
            }
            for assign in alternative {
                change.force(assign.var, assign.value);
            }
            if fine.contains(&change) {
                continue;
            }
            if !is_allowed(space, &change) {
                sink.push(diagnose(space, effect, world, alternative));
                return;
            }
            fine.insert(change);
        }
    }
}

/// Returns the verdicts on the keepers of values that are renewed.
fn expiring(lifecycle: &Lifecycle) -> impl Iterator<Item = VarId> {
    let mints = lifecycle.values.iter().filter_map(|v| v.mint.as_ref());
    let expiring = mints.filter(|mint| mint.until.is_some());
    expiring.filter_map(|mint| lifecycle.inputs[mint.keeper.0].var)
}

/// Returns true if a change leads to a combination that no `never` rules out, even if no such world
/// is ever observed.
fn is_allowed(space: &Space<'_>, change: &Change) -> bool {
    space
        .worlds
        .walk(change, &mut |_, _| ControlFlow::Break(()))
        .is_break()
}

fn diagnose(space: &Space<'_>, effect: &Effect, world: World<'_>, set: &[Assign]) -> Diagnostic {
    let lifecycle = space.lifecycle;
    let mut nevers = lifecycle.nevers.iter().filter(|never| {
        let asked = never.pred.vars();
        set.iter().any(|assign| asked.contains(&assign.var))
    });
    let never = nevers.next().or(lifecycle.nevers.first());
    let mut vars: BTreeSet<VarId> = set.iter().map(|assign| assign.var).collect();
    vars.extend(never.iter().flat_map(|never| never.pred.vars()));
    let after = vars.iter().map(|var| {
        let forced = set.iter().find(|assign| assign.var == *var);
        fact(
            lifecycle,
            *var,
            forced.map_or(world.value(*var), |assign| assign.value),
        )
    });
    let message = format!(
        "effect `{}` leads from `{}` to `{}`, which a `never` rules out",
        effect.name,
        show(lifecycle, world, vars.iter().copied()),
        after.collect::<Vec<_>>().join(" && ")
    );
    let diagnostic = RULE.finding(effect.name.span(), effect.name.to_string(), message);
    let diagnostic = match never {
        Some(never) => diagnostic.note(never.span, "it is ruled out here"),
        None => diagnostic,
    };
    diagnostic.help("narrow its `when`, or list everything that the call establishes in `sets`")
}
