//! When an effect is permitted: the author's `when`, the builder's inputs, room for the write, life and refusals, and that we are to do anything at all.

use crate::model::frames::Frames;
use crate::model::{
    Effect, EffectId, InputId, Kind, Lifecycle, Mode, Origin, Pred, Source, State, ValueSet, VarId,
    Verb,
};
use crate::space::world::World;

/// The guards of all effects.
#[derive(Debug)]
pub struct Permissions<'a> {
    lifecycle: &'a Lifecycle,
    effects: Vec<Permission<'a>>,
    /// Where we leave the object alone: another controller manages it, or somebody asked for that.
    set_aside: Vec<&'a Pred>,
    /// Where what is held stays although the object is being deleted.
    holds_deletion: Vec<&'a Pred>,
    deleting: Option<VarId>,
    claimed: Option<VarId>,
    volume: bool,
}

/// What an undo lacks.
#[derive(Clone, Copy, Debug)]
pub enum Kept<'a> {
    /// Its target, or a value that it is built from, is given by this.
    Given(&'a Pred),
    /// An input is not there, or cannot be seen.
    Missing(VarId),
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
    /// Whether our finalizer has to be there before.
    claims: bool,
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
        let frames = (!lifecycle.steps.is_empty()).then(|| Frames::of(lifecycle));
        let effects = (0..lifecycle.effects.len()).map(EffectId);
        Self {
            lifecycle,
            effects: effects
                .map(|effect| Permission::of(lifecycle, effect, frames.as_ref()))
                .collect(),
            set_aside: whens(lifecycle, State::is_set_aside),
            holds_deletion: whens(lifecycle, |state| state.even_deleting),
            deleting: of_object(|origin| matches!(origin, Origin::Deleting)),
            claimed: of_object(|origin| matches!(origin, Origin::Claimed)),
            volume: lifecycle.kind == Kind::Volume,
        }
    }

    /// Whether the object is being deleted; never without a held fact or a teardown.
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

    /// Whether our finalizer has to be there before the effect runs: it may make something ours, or leave something to be done when the object goes.
    pub fn claims(&self, effect: EffectId) -> bool {
        self.effects[effect.0].claims
    }

    /// Whether the effect may make something ours.
    pub fn acquires(&self, effect: EffectId) -> bool {
        let effect = self.effects[effect.0].effect;
        !effect.takes(self.lifecycle).is_empty()
    }

    /// The step of the teardown that is not over: the first of which what is asked does not say so.
    pub fn open_step(&self, world: World<'_>) -> Option<usize> {
        let mut steps = self.lifecycle.steps.iter();
        steps.position(|step| world.says(&step.until, self.lifecycle) != Some(true))
    }

    /// Whether something is to be done when the object goes, for sure.
    pub fn is_due(&self, world: World<'_>) -> bool {
        let mut steps = self.lifecycle.steps.iter();
        steps.any(|step| world.says(&step.until, self.lifecycle) == Some(false))
    }

    /// Whether what is left is given up.
    pub fn abandons(&self, world: World<'_>) -> bool {
        let mut abandoned = self.lifecycle.abandoned.iter();
        abandoned.any(|one| world.says(&one.when, self.lifecycle) == Some(true))
    }

    /// Whether we leave the object alone.
    pub fn sets_aside(&self, world: World<'_>) -> bool {
        self.set_aside.iter().any(|when| world.holds(when))
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

    /// Whether it is the effect's turn when the object goes: it is the step that is not over, or all are and it gives something back.
    fn is_due_to_go(&self, effect: EffectId, world: World<'_>) -> bool {
        let Some(step) = self.open_step(world) else {
            return self.effects[effect.0].effect.is_undo && self.has_to_free(effect, world);
        };
        let step = &self.lifecycle.steps[step];
        let mut when = step.when.iter();
        step.effect == effect && when.all(|when| world.says(when, self.lifecycle) == Some(true))
    }

    /// Whether nothing but its `when` keeps an effect of the object's life from running here.
    pub fn is_kept_off(&self, effect: EffectId, world: World<'_>) -> bool {
        let permission = &self.effects[effect.0];
        let declared = permission.effect;
        let fails = declared
            .when
            .as_ref()
            .is_some_and(|when| !world.holds(when));
        let is_free = world.value(declared.refused) == 0
            && !declared.is_undo
            && !self.deleting(world)
            && !self.set_aside.iter().any(|when| world.holds(when));
        fails && is_free && permission.ready(world) && permission.room.is_there(world)
    }

    /// What keeps an undo from running although it would have something to give back: a predicate that does not hold, or an input that is not there.
    pub fn keeps_undo(&self, undo: EffectId, world: World<'_>) -> Option<Kept<'a>> {
        let permission = &self.effects[undo.0];
        let missing = |(var, values): &&(VarId, ValueSet)| values.contains(world.value(*var));
        let mut given = permission.given.iter();
        if let Some(given) = given.find(|given| !world.holds(given)) {
            return Some(Kept::Given(given));
        }
        if let Some((var, _)) = permission.missing.iter().find(missing) {
            return Some(Kept::Missing(*var));
        }
        match &permission.room {
            Room::Call {
                unseen: Some((var, values)),
                ..
            } if values.contains(world.value(*var)) => Some(Kept::Missing(*var)),
            Room::Call { .. } | Room::Target(..) => None,
        }
    }

    /// Whether nothing but an earlier effect that builds the same, or a refusal, keeps the effect from running here.
    pub fn is_permitted(&self, effect: EffectId, world: World<'_>) -> bool {
        let permission = &self.effects[effect.0];
        if !permission.ready(world) || !permission.room.is_there(world) {
            return false;
        }
        let declared = permission.effect;
        let deleting = self.deleting(world);
        if deleting && (declared.is_undo || declared.is_step) {
            return self.claimed(world)
                && !self.holds_deletion(world)
                && self.is_due_to_go(effect, world);
        }
        if self.sets_aside(world) {
            return false;
        }
        let effect = declared;
        let goes = effect.is_undo || effect.is_step;
        let in_life = !goes || effect.when.is_some() || self.volume;
        !deleting && in_life && effect.when.as_ref().is_none_or(|when| world.holds(when))
    }
}

/// The predicates of the states of a kind.
fn whens(lifecycle: &Lifecycle, wanted: fn(&State) -> bool) -> Vec<&Pred> {
    let states = lifecycle.states.iter().filter(|state| wanted(state));
    states.map(|state| &state.when).collect()
}

impl<'a> Permission<'a> {
    fn of(lifecycle: &'a Lifecycle, id: EffectId, frames: Option<&Frames>) -> Self {
        let effect = &lifecycle.effects[id.0];
        let target = &lifecycle.inputs[effect.target.0];
        let affected = frames.map(|frames| frames.affected(id));
        let mut missing = Vec::new();
        // Of what is not looked at nothing is known to be noted.
        let noted = lifecycle.noted_in(effect.target);
        let noted = noted.and_then(|of| lifecycle.inputs[of.0].given.as_ref());
        let mut given: Vec<&Pred> = target.given.iter().chain(noted).collect();
        let mut needed = |input: InputId| {
            let input = &lifecycle.inputs[input.0];
            if let (Some(var), false) = (input.var, input.many) {
                let gone = [
                    "Absent",
                    "Unnamed",
                    "Unknown",
                    "Terminating",
                    "Foreign",
                    "Adoptable",
                    "Gone",
                ];
                missing.push((var, named(lifecycle, var, &gone)));
            }
        };
        effect.owner(lifecycle).into_iter().for_each(&mut needed);
        for one in &effect.from {
            match one.source {
                Source::Input(input) => needed(input),
                Source::Value(value) => given.extend(&lifecycle.values[value.0].given),
                Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => {}
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
            claims: !effect.takes(lifecycle).is_empty() || effect.may_reopen(lifecycle, affected),
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
            (Verb::Note, ..) => return Self::of_note(lifecycle, effect),
            (Verb::Create, true, _) => &["Behind"],
            (Verb::Create, false, _) => &["Absent"],
            (Verb::Delete, false, _) if target.noted.is_some() => &["Made"],
            (Verb::Apply, true, _) => &["Behind"],
            (Verb::Apply, false, Mode::Part) => &["Stale"],
            (Verb::Apply, false, _) => &["Absent", "Stale"],
            (Verb::Delete, true, _) => &["Surplus"],
            (Verb::Delete, false, _) => &["Stale", "Current"],
            (Verb::Adopt, ..) => &["Adoptable"],
        };
        let values = target.var.map(|var| named(lifecycle, var, values));
        Self::Target(target.var, values.unwrap_or_default())
    }

    /// There is something to note where something is new.
    fn of_note(lifecycle: &Lifecycle, effect: &Effect) -> Self {
        let of = lifecycle.noted_in(effect.target);
        let var = of.and_then(|of| lifecycle.inputs[of.0].var);
        let values = var.map(|var| named(lifecycle, var, &["New"]));
        Self::Target(var, values.unwrap_or_default())
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
