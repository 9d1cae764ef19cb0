//! Declared outcomes of one write: the worlds that may follow it, and those that may not.

use super::ir::{Effect, Lifecycle, Origin, Verb};
use super::verdict::Verdict;
use super::world::World;

impl Lifecycle {
    /// Why a world is a contradiction: the `never` that holds, or that no state takes it.
    pub fn contradiction(&self, world: &World) -> String {
        match self.nevers.iter().find(|never| world.holds(never)) {
            Some(never) => format!("`never {}` cannot be and is", never.describe(self)),
            None => "no state takes this world".to_owned(),
        }
    }

    /// Why a world cannot follow another by this effect, as far as nothing else happened in between; `None` if it can.
    pub fn not_an_outcome(&self, effect: &Effect, before: &World, after: &World) -> Option<String> {
        let fits = |alternative: &&&[(usize, u8)]| {
            let mut all = alternative.iter();
            all.all(|&(var, value)| after.get(var) == value)
        };
        // One write of a set repairs one member; the worst of the others may stay as bad as it was.
        let mut assigned = effect.sets.iter().flat_map(|a| a.iter());
        let stays = effect.each && assigned.all(|&(var, _)| before.get(var) == after.get(var));
        let missing = self.still_missing(effect, after);
        let alternative: &[(usize, u8)] = match effect.sets.iter().find(fits) {
            Some(alternative) => alternative,
            None if stays || missing.is_some() => &[],
            None => {
                return Some(format!(
                    "`{}` sets {}, but led to {}",
                    effect.name,
                    alternatives(self, effect.sets),
                    after.describe(self)
                ));
            }
        };
        let is_set = |var: usize| alternative.iter().any(|&(v, _)| v == var);
        let moved = (0..self.vars.len()).find(|&var| {
            before.get(var) != after.get(var)
                && !is_set(var)
                && missing != Some(var)
                && !effect.affects.contains(&var)
                && !matches!(self.vars[var].origin, Origin::Refused(_))
        })?;
        Some(format!(
            "`{}` changed `{}` from {} to {}, which does not read what it writes",
            effect.name,
            self.vars[moved].name,
            self.value(before, moved),
            self.value(after, moved)
        ))
    }

    /// Returns the variable of a recorded set if members of it are missing, which are created next.
    fn still_missing(&self, effect: &Effect, after: &World) -> Option<usize> {
        let shown = &self.inputs[self.noted_in(effect.target)?];
        let var = shown.var.filter(|_| shown.many)?;
        let is_behind = self.verdict_in(after, var) == Some(Verdict::Behind);
        (effect.verb == Verb::Note && is_behind).then_some(var)
    }
}

/// Describes the declared outcomes of an effect or a promise for users: `{ service = Current } or {
/// service = Taken }`.
pub fn alternatives(lifecycle: &Lifecycle, sets: &[&[(usize, u8)]]) -> String {
    let set = |&(var, value): &(usize, u8)| {
        let declared = &lifecycle.vars[var];
        let value = declared.values[usize::from(value)];
        format!("{} = {value}", declared.name)
    };
    let alternative = |all: &&[(usize, u8)]| {
        let pairs: Vec<_> = all.iter().map(set).collect();
        format!("{{ {} }}", pairs.join(", "))
    };
    let all: Vec<_> = sets.iter().map(alternative).collect();
    all.join(" or ")
}
