//! Whether a write led where the declaration says, as far as that can be known: nothing else may have happened in between.

use tokio::time::Instant;

use super::ruled_out::RuledOut;
use crate::cluster::observe::Observed;
use crate::cluster::store::Name;
use crate::machine::backoff::Backoff;
use crate::machine::ir::{Effect, Lifecycle, Mode, Source, Verb};
use crate::machine::world::World;

/// An effect whose outcome no look has shown yet.
#[derive(Clone, Debug)]
pub(crate) struct Awaited {
    pub(crate) effect: usize,
    /// Where it left.
    pub(crate) before: World,
    /// All that was read then, but for what it changes: [`Observed::read`].
    pub(crate) besides: u64,
    /// The object and the version that it got; the object is gone without one. Of a call nothing.
    pub(crate) wrote: Option<(Name, Option<String>)>,
}

/// An effect that led where it must not.
struct Astray {
    effect: usize,
    why: String,
    times: u32,
    until: Instant,
    /// All that was read when that was seen: once it changes, there is another chance.
    seen: u64,
}

/// What is remembered of the outcomes of one object's effects.
#[derive(Default)]
pub(crate) struct Outcomes {
    sent: Option<Awaited>,
    awaited: Option<Awaited>,
    astray: Option<Astray>,
}

impl Outcomes {
    /// An effect leaves.
    pub(crate) fn leaves(&mut self, sent: Awaited) {
        self.awaited = None;
        self.sent = Some(sent);
    }

    /// The effect that left last ended well.
    pub(crate) fn arrived(&mut self, wrote: Option<(Name, Option<String>)>) {
        self.awaited = self.sent.take().map(|sent| Awaited { wrote, ..sent });
    }

    /// Until when an effect has to wait that led where it must not.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.astray.as_ref().map(|astray| astray.until)
    }

    /// Looks at what the last write led to. `read` numbers all that was read, but for what an effect changes.
    pub(crate) fn look(
        &mut self,
        ir: &Lifecycle,
        observed: &Observed,
        read: impl Fn(Option<&Effect>) -> u64,
        (now, random): (Instant, u64),
    ) -> Option<RuledOut> {
        if let Some(awaited) = self.awaited.take() {
            let besides = read(Some(&ir.effects[awaited.effect]));
            let before = self.astray.take_if(|a| a.effect == awaited.effect);
            self.astray = match judged(ir, &awaited, observed, besides) {
                Verdict::Open => before,
                Verdict::Declared => None,
                Verdict::Undeclared(why) => {
                    let times = 1 + before.map_or(0, |before| before.times);
                    Some(Astray {
                        effect: awaited.effect,
                        why,
                        times,
                        until: now + Backoff::OBJECT.after(times, random),
                        seen: read(None),
                    })
                }
            };
        }
        let astray = self.astray.as_ref().filter(|astray| astray.until > now)?;
        // What a provider answers right after a call may be from before it; so it is called once more before that counts.
        let counts = ir.effects[astray.effect].verb != Verb::Call || astray.times > 1;
        (counts && astray.seen == read(None)).then(|| RuledOut::Outcome(astray.why.clone()))
    }
}

/// What a look says about the write before it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// Something else changed, too: nothing is known.
    Open,
    /// It led where the declaration says.
    Declared,
    /// It did not, and why.
    Undeclared(String),
}

/// Holds what a write led to against its declaration, where the write is all that happened: everything else that is read is as before (`besides`), and
/// what was written is in the very version that it got. That an apply does not make its target Current is judged by the brake, which tells whose doing it is.
fn judged(ir: &Lifecycle, awaited: &Awaited, observed: &Observed, besides: u64) -> Verdict {
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
