//! Witnesses: the facts of a world that matter to a finding, as users write them.

use std::collections::BTreeSet;

use crate::model::{Lifecycle, Origin, Pred, PredKind, VarId};
use crate::space::Space;
use crate::space::world::World;

/// Claim of a finding about some worlds. `bad` decides if a world is affected, and `about` lists
/// the worlds that the claim ranges over.
pub struct Claim<'a> {
    pub about: Vec<usize>,
    pub bad: &'a dyn Fn(usize) -> bool,
    /// The facts that a reader expects, kept where others would do as well.
    pub expected: BTreeSet<VarId>,
}

/// Returns a minimal set of facts of a world such that the claim holds in every world that shares
/// them.
pub fn minimal(space: &Space<'_>, claim: &Claim<'_>, world: usize) -> String {
    let kept = essential(space, claim, world);
    show(space.lifecycle, space.worlds.get(world), kept)
}

/// Returns the variables of such a minimal set.
pub fn essential(space: &Space<'_>, claim: &Claim<'_>, world: usize) -> BTreeSet<VarId> {
    let at = space.worlds.get(world);
    let differences = differences(space, claim, world);
    let mut kept: BTreeSet<VarId> = space.worlds.order().iter().copied().collect();
    for var in dispensable_first(space, claim, at) {
        kept.remove(&var);
        if differences
            .iter()
            .any(|row| !kept.iter().any(|var| differs(row, *var)))
        {
            kept.insert(var);
        }
    }
    // If the claim holds in all worlds it covers, name the facts that a reader expects.
    for fallback in [
        claim.expected.clone(),
        space.worlds.order().iter().copied().collect(),
    ] {
        if !kept.is_empty() {
            break;
        }
        kept = fallback
            .into_iter()
            .filter(|var| at.is_asked(*var))
            .collect();
    }
    kept
}

/// Some facts of a world: `class == Present && refused(apply_service)`.
pub fn show(
    lifecycle: &Lifecycle,
    world: World<'_>,
    vars: impl IntoIterator<Item = VarId>,
) -> String {
    let facts = vars
        .into_iter()
        .map(|var| fact(lifecycle, var, world.value(var)));
    facts.collect::<Vec<_>>().join(" && ")
}

/// One fact with a value, as a predicate is written.
pub fn fact(lifecycle: &Lifecycle, var: VarId, value: usize) -> String {
    let declared = &lifecycle.vars[var.0];
    let name = match &declared.origin {
        Origin::Refused(_) => format!("refused({})", declared.name),
        Origin::Fact { boolean: false, .. } | Origin::Input(_) => {
            return format!("{} == {}", declared.name, declared.values[value]);
        }
        Origin::Fact { .. } | Origin::Deleting | Origin::Claimed => declared.name.to_string(),
    };
    match declared.values[value].as_str() {
        "true" => name,
        "false" => format!("!{name}"),
        // Only an `else` can give a bool another value.
        other => format!("{name} == {other}"),
    }
}

/// Returns true if a predicate holds for values, one for each variable, that need not be those of a
/// world.
pub fn holds(pred: &Pred, values: &[usize]) -> bool {
    match &pred.kind {
        PredKind::Is { var, values: any } => any.contains(values[var.0]),
        PredKind::All(parts) => parts.iter().all(|part| holds(part, values)),
        PredKind::Any(parts) => parts.iter().any(|part| holds(part, values)),
        PredKind::Not(part) => !holds(part, values),
    }
}

/// Returns, for each world in which the claim does not hold, the set of variables in which it
/// differs from the given one. Equal sets occur once.
fn differences(space: &Space<'_>, claim: &Claim<'_>, world: usize) -> BTreeSet<Vec<u64>> {
    let at = space.worlds.get(world);
    let width = space.lifecycle.vars.len();
    let mut rows = BTreeSet::new();
    let mut row = vec![0; width.div_ceil(64)];
    for other in claim.about.iter().filter(|other| !(claim.bad)(**other)) {
        let other = space.worlds.get(*other);
        row.fill(0);
        for var in (0..width).filter(|var| other.value(VarId(*var)) != at.value(VarId(*var))) {
            row[var / 64] |= 1 << (var % 64);
        }
        if !rows.contains(&row) {
            rows.insert(row.clone());
        }
    }
    rows
}

fn differs(row: &[u64], var: VarId) -> bool {
    row[var.0 / 64] >> (var.0 % 64) & 1 == 1
}

/// Returns the least informative facts first: absent refusals, facts that are not evaluated, and
/// unexpected ones. Inputs come before the facts that imply them.
fn dispensable_first(space: &Space<'_>, claim: &Claim<'_>, at: World<'_>) -> Vec<VarId> {
    let mut vars = space.worlds.order().to_vec();
    vars.sort_by_key(|var| match space.lifecycle.vars[var.0].origin {
        _ if claim.expected.contains(var) => 3,
        _ if !at.is_asked(*var) => 0,
        Origin::Refused(_) if at.value(*var) == 0 => 0,
        Origin::Claimed => 1,
        Origin::Refused(_) | Origin::Input(_) | Origin::Fact { .. } | Origin::Deleting => 2,
    });
    vars
}
