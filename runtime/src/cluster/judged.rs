//! Whether what a look shows may follow the write before it. Knows neither the loop nor what is remembered.

use super::observe::Observed;
use super::store::Name;
use crate::machine::ir::{Effect, Lifecycle, Mode, Source, Verb};
use crate::machine::world::World;

/// An effect whose outcome no look has shown yet.
#[derive(Clone, Debug)]
pub struct Awaited {
    pub effect: usize,
    /// Where it left.
    pub before: World,
    /// All that was read then, but for what it changes: [`Observed::read`].
    pub besides: u64,
    /// The object and the version that it got; the object is gone without one. Of a call nothing.
    pub wrote: Option<(Name, Option<String>)>,
}

/// What a look says about the write before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something else changed, too: nothing is known.
    Open,
    /// It led where the declaration says.
    Declared,
    /// It did not, and why.
    Undeclared(String),
}

/// Holds what a write led to against its declaration, where the write is all that happened: everything else that is read is as before (`besides`), and
/// what was written is in the very version that it got. That an apply does not make its target Current is judged by the brake, which tells whose doing it is.
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

/// Whether a look shows exactly what was written, and no later change of it.
fn shows(ir: &Lifecycle, effect: &Effect, awaited: &Awaited, observed: &Observed) -> bool {
    let Some((name, version)) = &awaited.wrote else {
        return effect.verb == Verb::Call;
    };
    let observation = &observed.observation;
    if matches!(ir.inputs[effect.target].mode, Mode::Record | Mode::Noted) {
        return observation.subject().meta.resource_version == *version;
    }
    let mut objects = observation.objects(effect.target).iter();
    let live = objects.find(|object| Name::of(&object.meta) == *name);
    live.map(|live| &live.meta.resource_version) == version.as_ref().map(|_| version)
}
