//! When an effect is permitted: the author's `when`, the builder's inputs, room for the write, life and refusals, and that we are to do anything at all.

use crate::model::{
    Effect, EffectId, InputId, Kind, Lifecycle, Mode, Origin, Pred, Source, State, ValueSet, VarId,
    Verb,
};
use crate::space::world::World;

/// The guards of all effects.
#[derive(Debug)]
pub struct Permissions<'a> {
    effects: Vec<Permission<'a>>,
    /// Where we leave the object alone: another controller manages it, or somebody asked for that.
    set_aside: Vec<&'a Pred>,
    /// Where what is held stays although the object is being deleted.
    holds_deletion: Vec<&'a Pred>,
    deleting: Option<VarId>,
    claimed: Option<VarId>,
    volume: bool,
}

#[derive(Debug)]
struct Permission<'a> {
    effect: &'a Effect,
    /// Values with which an input cannot be given to the builder.
    missing: Vec<(VarId, ValueSet)>,
    /// What the target and the values in `from` are given by.
    given: Vec<&'a Pred>,
    room: Room,
    /// Held facts that it gives back, with the values that need no giving back.
    frees: Vec<(VarId, ValueSet)>,
    acquires: bool,
    /// Effects that stand before it and build the same.
    rivals: Vec<EffectId>,
}

/// Where there is something to write.
#[derive(Debug)]
enum Room {
    /// The target's own fact has one of these values.
    Target(Option<VarId>, ValueSet),
    /// Something differs from what the call would establish, and the target can be seen.
    Call {
        establishes: Vec<(VarId, usize)>,
        unseen: Option<(VarId, ValueSet)>,
    },
}

impl<'a> Permissions<'a> {
    /// The guards of a lifecycle.
    pub fn of(lifecycle: &'a Lifecycle) -> Self {
        let of_object = |wanted: fn(&Origin) -> bool| {
            let found = lifecycle.vars.iter().position(|var| wanted(&var.origin));
            found.map(VarId)
        };
        Self {
            effects: lifecycle
                .effects
                .iter()
                .map(|effect| Permission::of(lifecycle, effect))
                .collect(),
            set_aside: whens(lifecycle, State::is_set_aside),
            holds_deletion: whens(lifecycle, |state| state.even_deleting),
            deleting: of_object(|origin| matches!(origin, Origin::Deleting)),
            claimed: of_object(|origin| matches!(origin, Origin::Claimed)),
            volume: lifecycle.kind == Kind::Volume,
        }
    }

    /// Whether the object is being deleted; never without a held fact.
    pub fn deleting(&self, world: World<'_>) -> bool {
        self.deleting.is_some_and(|var| world.value(var) == 1)
    }

    /// Whether our finalizer is there, if we have one at all.
    pub fn claimed(&self, world: World<'_>) -> bool {
        self.claimed.is_none_or(|var| world.value(var) == 1)
    }

    /// Whether the object is suspended so that a deletion waits, too.
    pub fn holds_deletion(&self, world: World<'_>) -> bool {
        self.holds_deletion.iter().any(|when| world.holds(when))
    }

    /// The variable of our finalizer.
    pub fn claim(&self) -> Option<VarId> {
        self.claimed
    }

    /// Whether the effect may make something ours.
    pub fn acquires(&self, effect: EffectId) -> bool {
        self.effects[effect.0].acquires
    }

    /// Whether the author's predicates on the effect, or on what it is built from, ask a variable.
    pub fn asks(&self, effect: EffectId, var: VarId) -> bool {
        let permission = &self.effects[effect.0];
        let when = permission.effect.when.iter();
        let mut preds = when.chain(permission.given.iter().copied());
        preds.any(|pred| pred.vars().contains(&var))
    }

    /// Whether the effect may run here.
    pub fn enabled(&self, effect: EffectId, world: World<'_>) -> bool {
        let refused = self.effects[effect.0].effect.refused;
        world.value(refused) == 0 && self.would_run(effect, world)
    }

    /// Whether the effect gives back something that is held here, or may be.
    pub fn has_to_free(&self, effect: EffectId, world: World<'_>) -> bool {
        let mut frees = self.effects[effect.0].frees.iter();
        frees.any(|(var, free)| !free.contains(world.value(*var)))
    }

    /// Whether the effect may run here, were it not refused. Of several that build one object, the first that is permitted decides.
    pub fn would_run(&self, effect: EffectId, world: World<'_>) -> bool {
        let mut rivals = self.effects[effect.0].rivals.iter();
        self.is_permitted(effect, world) && !rivals.any(|rival| self.is_permitted(*rival, world))
    }

    /// Whether nothing but an earlier effect that builds the same, or a refusal, keeps the effect from running here.
    pub fn is_permitted(&self, effect: EffectId, world: World<'_>) -> bool {
        let permission = &self.effects[effect.0];
        if !permission.ready(world) || !permission.room.is_there(world) {
            return false;
        }
        let effect = permission.effect;
        let deleting = self.deleting(world);
        if effect.is_undo && deleting {
            let mut frees = permission.frees.iter();
            return self.claimed(world)
                && !self.holds_deletion(world)
                && frees.any(|(var, free)| !free.contains(world.value(*var)));
        }
        if self.set_aside.iter().any(|when| world.holds(when)) {
            return false;
        }
        let in_life = !effect.is_undo || effect.when.is_some() || self.volume;
        !deleting && in_life && effect.when.as_ref().is_none_or(|when| world.holds(when))
    }
}

/// The predicates of the states of a kind.
fn whens(lifecycle: &Lifecycle, wanted: fn(&State) -> bool) -> Vec<&Pred> {
    let states = lifecycle.states.iter().filter(|state| wanted(state));
    states.map(|state| &state.when).collect()
}

impl<'a> Permission<'a> {
    fn of(lifecycle: &'a Lifecycle, effect: &'a Effect) -> Self {
        let target = &lifecycle.inputs[effect.target.0];
        let mut missing = Vec::new();
        let mut given: Vec<&Pred> = target.given.iter().collect();
        let mut needed = |input: InputId| {
            let input = &lifecycle.inputs[input.0];
            if let (Some(var), false) = (input.var, input.many) {
                let gone = ["Absent", "Unnamed", "Unknown", "Terminating", "Foreign"];
                missing.push((var, named(lifecycle, var, &gone)));
            }
        };
        effect.owner(lifecycle).into_iter().for_each(&mut needed);
        for one in &effect.from {
            match one.source {
                Source::Input(input) => needed(input),
                Source::Value(value) => given.extend(&lifecycle.values[value.0].given),
                Source::This | Source::Request | Source::Fact(_) => {}
            }
        }
        let free = |var: VarId| lifecycle.vars[var.0].held.map(|held| (var, held.free));
        Self {
            effect,
            missing,
            given,
            room: Room::of(lifecycle, effect),
            frees: effect
                .frees(lifecycle)
                .into_iter()
                .filter_map(free)
                .collect(),
            acquires: !effect.acquires(lifecycle).is_empty(),
            rivals: effect.rivals(lifecycle).collect(),
        }
    }

    fn ready(&self, world: World<'_>) -> bool {
        let missing = |(var, values): &(VarId, ValueSet)| values.contains(world.value(*var));
        !self.missing.iter().any(missing) && self.given.iter().all(|given| world.holds(given))
    }
}

impl Room {
    fn of(lifecycle: &Lifecycle, effect: &Effect) -> Self {
        let target = &lifecycle.inputs[effect.target.0];
        let values: &[&str] = match (effect.verb, effect.each, target.mode) {
            (Verb::Call, _, _) => return Self::of_call(lifecycle, effect),
            (Verb::Apply, true, _) => &["Behind"],
            (Verb::Apply, false, Mode::Part) => &["Stale"],
            (Verb::Apply, false, _) => &["Absent", "Stale"],
            (Verb::Delete, true, _) => &["Surplus"],
            (Verb::Delete, false, _) => &["Stale", "Current"],
        };
        let values = target.var.map(|var| named(lifecycle, var, values));
        Self::Target(target.var, values.unwrap_or_default())
    }

    fn of_call(lifecycle: &Lifecycle, effect: &Effect) -> Self {
        let target = &lifecycle.inputs[effect.target.0];
        let polled = (target.mode == Mode::Poll).then_some(target.var).flatten();
        Self::Call {
            establishes: effect
                .sets
                .first()
                .into_iter()
                .flatten()
                .map(|assign| (assign.var, assign.value))
                .collect(),
            unseen: polled.map(|var| (var, named(lifecycle, var, &["Unknown"]))),
        }
    }

    fn is_there(&self, world: World<'_>) -> bool {
        match self {
            Self::Target(var, values) => var.is_some_and(|var| values.contains(world.value(var))),
            Self::Call {
                establishes,
                unseen,
            } => {
                establishes
                    .iter()
                    .any(|(var, value)| world.value(*var) != *value)
                    && unseen.is_none_or(|(var, values)| !values.contains(world.value(var)))
            }
        }
    }
}

/// Those of a variable's values that have one of these names.
pub(super) fn named(lifecycle: &Lifecycle, var: VarId, names: &[&str]) -> ValueSet {
    let values = lifecycle.vars[var.0].values.iter().enumerate();
    let named = values.filter(|(_, value)| names.contains(&value.as_str()));
    ValueSet(named.fold(0, |set, (value, _)| set | ValueSet::one(value).0))
}
