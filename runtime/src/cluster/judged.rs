//! Check that an observation may follow the write before it. Knows neither the loop nor the memory
//! of an object.

use super::observe::Observed;
use super::store::Name;
use crate::machine::ir::{Effect, Lifecycle, Mode, Source, Verb};
use crate::machine::world::World;

/// Effect whose result no reconciliation has observed yet.
#[derive(Clone, Debug)]
pub struct Awaited {
    pub effect: usize,
    /// World from which the write left.
    pub before: World,
    /// Version of everything read at that time, except for the effect's own changes:
    /// [`Observed::read`].
    pub besides: u64,
    /// The object and the version that it got; the object is gone without one. Of a call nothing.
    pub wrote: Option<(Name, Option<String>)>,
}

/// Verdict of an observation on the write before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something else changed, too: nothing is known.
    Open,
    /// The write had a declared result.
    Declared,
    /// It did not, and why.
    Undeclared(String),
}

/// Compares the result of a write with its declaration, if nothing else has happened. Everything
/// else that is read must be unchanged (`besides`), and the written object must have exactly the
/// version of the write. The brake judges an apply that does not make its target Current, because
/// it reports the responsible party.
pub fn judged(ir: &Lifecycle, awaited: &Awaited, observed: &Observed, besides: u64) -> Verdict {
    let effect = &ir.effects[awaited.effect];
    let reads_itself = effect.from.contains(&Source::Input(effect.target));
    let is_alone = observed.failure.is_none() && awaited.besides == besides;
    // Of a set, one member was written.
    let is_one = !effect.each && !reads_itself && !effect.sets.is_empty();
    if !is_alone || !is_one || !shows(ir, effect, awaited, observed) {
        return Verdict::Open;
    }
    let world = &observed.observation.world;
    if effect.verb == Verb::Apply && !target_is_set(ir, effect, world) {
        return Verdict::Open;
    }
    match ir.not_an_outcome(effect, &awaited.before, world) {
        None => Verdict::Declared,
        Some(why) => Verdict::Undeclared(why),
    }
}

fn target_is_set(ir: &Lifecycle, effect: &Effect, world: &World) -> bool {
    let Some(var) = ir.inputs[effect.target].var else {
        return true;
    };
    let mut assigned = effect.sets.iter().flat_map(|all| all.iter());
    let is_named = assigned.clone().any(|(of, _)| *of == var);
    !is_named || assigned.any(|&(of, value)| of == var && world.get(var) == value)
}

/// Returns true if an observation shows exactly the written version, and no later change of it.
fn shows(ir: &Lifecycle, effect: &Effect, awaited: &Awaited, observed: &Observed) -> bool {
    let Some((name, version)) = &awaited.wrote else {
        return effect.verb == Verb::Call;
    };
    let observation = &observed.observation;
    if matches!(ir.inputs[effect.target].mode, Mode::Record | Mode::Noted) {
        return observation.subject().meta.resource_version == *version;
    }
    let mut objects = observation.objects(effect.target).iter();
    let live = objects.find(|object| Name::from_meta(&object.meta) == *name);
    live.map(|live| &live.meta.resource_version) == version.as_ref().map(|_| version)
}
