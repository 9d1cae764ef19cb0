//! When an effect is permitted: the author's `when`, the builder's inputs, room for the write, life and refusals, and that we are to do anything at all.

use crate::model::frames::Frames;
use crate::model::{
    Effect, EffectId, InputId, Kind, Lifecycle, Mode, Origin, Pred, Source, State, ValueSet, VarId,
    Verb, Verdict,
};
use crate::space::world::World;

/// The guards of all effects.
#[derive(Debug)]
pub struct Permissions<'a> {
    lifecycle: &'a Lifecycle,
    effects: Vec<Permission<'a>>,
    /// Predicates under which we leave the object alone: another controller manages it, or a user
    /// requested it.
    set_aside: Vec<&'a Pred>,
    /// Predicates under which held facts stay although the object is being deleted.
    holds_deletion: Vec<&'a Pred>,
    deleting: Option<VarId>,
    claimed: Option<VarId>,
    volume: bool,
}

/// Obstacle to an undo.
#[derive(Clone, Copy, Debug)]
pub enum Obstacle<'a> {
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
    /// Predicates of the `given` clauses of the target and of the values in `from`.
    given: Vec<&'a Pred>,
    room: Room,
    /// Held facts that it releases, with the values that need no release.
    frees: Vec<(VarId, ValueSet)>,
    /// True if our finalizer must be present before.
    claims: bool,
    /// Effects that stand before it and build the same.
    rivals: Vec<EffectId>,
}

/// Condition under which a write is due.
#[derive(Debug)]
enum Room {
    /// The target's own fact has one of these values.
    Target(Option<VarId>, ValueSet),
    /// A fact differs from the result of the call, and the target is observable.
    Call {
        establishes: Vec<(VarId, usize)>,
        unseen: Option<(VarId, ValueSet)>,
    },
}

impl<'a> Permissions<'a> {
    /// The guards of a lifecycle.
    pub fn new(lifecycle: &'a Lifecycle) -> Self {
        let of_object = |wanted: fn(&Origin) -> bool| {
            let found = lifecycle.vars.iter().position(|var| wanted(&var.origin));
            found.map(VarId)
        };
        let frames = (!lifecycle.steps.is_empty()).then(|| Frames::new(lifecycle));
        let effects = (0..lifecycle.effects.len()).map(EffectId);
        Self {
            lifecycle,
            effects: effects
                .map(|effect| Permission::new(lifecycle, effect, frames.as_ref()))
                .collect(),
            set_aside: whens(lifecycle, State::is_set_aside),
            holds_deletion: whens(lifecycle, |state| state.even_deleting),
            deleting: of_object(|origin| matches!(origin, Origin::Deleting)),
            claimed: of_object(|origin| matches!(origin, Origin::Claimed)),
            volume: lifecycle.kind == Kind::Volume,
        }
    }

    /// Returns true if the object is being deleted. Always false without a held fact or a teardown.
    pub fn deleting(&self, world: World<'_>) -> bool {
        self.deleting.is_some_and(|var| world.value(var) == 1)
    }

    /// Returns true if our finalizer is present, or if we have none at all.
    pub fn claimed(&self, world: World<'_>) -> bool {
        self.claimed.is_none_or(|var| world.value(var) == 1)
    }

    /// Returns true if the object is suspended so that a deletion waits, too.
    pub fn holds_deletion(&self, world: World<'_>) -> bool {
        self.holds_deletion.iter().any(|when| world.holds(when))
    }

    /// The variable of our finalizer.
    pub fn claim(&self) -> Option<VarId> {
        self.claimed
    }

    /// Returns true if our finalizer must be present before the effect runs. The effect may make
    /// something ours, or leave a stage of the teardown open.
    pub fn claims(&self, effect: EffectId) -> bool {
        self.effects[effect.0].claims
    }

    /// Returns true if the effect may acquire something.
    pub fn acquires(&self, effect: EffectId) -> bool {
        let effect = self.effects[effect.0].effect;
        !effect.takes(self.lifecycle).is_empty()
    }

    /// Returns the stage of the teardown that is not over: the first with an `until` that evaluated
    /// facts do not confirm.
    pub fn open_step(&self, world: World<'_>) -> Option<usize> {
        let mut steps = self.lifecycle.steps.iter();
        steps.position(|step| world.try_evaluate(&step.until, self.lifecycle) != Some(true))
    }

    /// Returns true if a stage of the teardown is certainly open.
    pub fn is_due(&self, world: World<'_>) -> bool {
        let mut steps = self.lifecycle.steps.iter();
        steps.any(|step| world.try_evaluate(&step.until, self.lifecycle) == Some(false))
    }

    /// Returns true if the remainder of the deletion is given up.
    pub fn abandons(&self, world: World<'_>) -> bool {
        let mut abandoned = self.lifecycle.abandoned.iter();
        abandoned.any(|one| world.try_evaluate(&one.when, self.lifecycle) == Some(true))
    }

    /// Returns true if we leave the object alone.
    pub fn sets_aside(&self, world: World<'_>) -> bool {
        self.set_aside.iter().any(|when| world.holds(when))
    }

    /// Returns true if the author's predicates on the effect, or on its sources, read a variable.
    pub fn depends_on(&self, effect: EffectId, var: VarId) -> bool {
        let permission = &self.effects[effect.0];
        let when = permission.effect.when.iter();
        let mut preds = when.chain(permission.given.iter().copied());
        preds.any(|pred| pred.vars().contains(&var))
    }

    /// Returns true if everything that the builder of the effect needs is there.
    pub fn can_build(&self, effect: EffectId, world: World<'_>) -> bool {
        self.effects[effect.0].ready(world)
    }

    /// Returns true if the effect may run here.
    pub fn enabled(&self, effect: EffectId, world: World<'_>) -> bool {
        let refused = self.effects[effect.0].effect.refused;
        world.value(refused) == 0 && self.would_run(effect, world)
    }

    /// Returns true if the effect cleans up something that is, or may be, held here.
    pub fn has_to_free(&self, effect: EffectId, world: World<'_>) -> bool {
        let mut frees = self.effects[effect.0].frees.iter();
        frees.any(|(var, free)| !free.contains(world.value(*var)))
    }

    /// Returns true if the effect may run here unless it is refused. If several effects build one
    /// object, the first permitted effect decides.
    pub fn would_run(&self, effect: EffectId, world: World<'_>) -> bool {
        let mut rivals = self.effects[effect.0].rivals.iter();
        self.is_permitted(effect, world) && !rivals.any(|rival| self.is_permitted(*rival, world))
    }

    /// Returns true if it is the effect's turn during a deletion. Either it is the open stage of
    /// the teardown, or all stages are over and it cleans something up.
    fn is_due_to_go(&self, effect: EffectId, world: World<'_>) -> bool {
        let Some(step) = self.open_step(world) else {
            return self.effects[effect.0].effect.is_undo && self.has_to_free(effect, world);
        };
        let step = &self.lifecycle.steps[step];
        let mut when = step.when.iter();
        step.effect == effect
            && when.all(|when| world.try_evaluate(when, self.lifecycle) == Some(true))
    }

    /// Returns true if only its `when` prevents an effect from running here, outside a deletion.
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

    /// Returns the obstacle to an undo that has something to clean up: a predicate that does not
    /// hold, or an input that is missing.
    pub fn keeps_undo(&self, undo: EffectId, world: World<'_>) -> Option<Obstacle<'a>> {
        let permission = &self.effects[undo.0];
        let missing = |(var, values): &&(VarId, ValueSet)| values.contains(world.value(*var));
        let mut given = permission.given.iter();
        if let Some(given) = given.find(|given| !world.holds(given)) {
            return Some(Obstacle::Given(given));
        }
        if let Some((var, _)) = permission.missing.iter().find(missing) {
            return Some(Obstacle::Missing(*var));
        }
        match &permission.room {
            Room::Call {
                unseen: Some((var, values)),
                ..
            } if values.contains(world.value(*var)) => Some(Obstacle::Missing(*var)),
            Room::Call { .. } | Room::Target(..) => None,
        }
    }

    /// Returns true if at most an earlier effect that builds the same object, or a refusal,
    /// prevents the effect from running here.
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
    let states = lifecycle.all_states().filter(|state| wanted(state));
    states.map(|state| &state.when).collect()
}

impl<'a> Permission<'a> {
    fn new(lifecycle: &'a Lifecycle, id: EffectId, frames: Option<&Frames>) -> Self {
        let effect = &lifecycle.effects[id.0];
        let target = &lifecycle.inputs[effect.target.0];
        let affected = frames.map(|frames| frames.affected(id));
        let mut missing = Vec::new();
        // Nothing is recorded of an input that is not observed.
        let noted = lifecycle.noted_in(effect.target);
        let noted = noted.and_then(|of| lifecycle.inputs[of.0].given.as_ref());
        let mut given: Vec<&Pred> = target.given.iter().chain(noted).collect();
        let mut needed = |input: InputId| {
            let input = &lifecycle.inputs[input.0];
            if let (Some(var), false) = (input.var, input.many) {
                let gone = lifecycle.vars[var.0].value_set(|verdict| !verdict.is_usable());
                missing.push((var, gone));
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
            room: Room::for_effect(lifecycle, effect),
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
    fn for_effect(lifecycle: &Lifecycle, effect: &Effect) -> Self {
        let target = &lifecycle.inputs[effect.target.0];
        let values: &[Verdict] = match (effect.verb, effect.each, target.mode) {
            (Verb::Call, _, _) => return Self::of_call(lifecycle, effect),
            (Verb::Note, ..) => return Self::of_note(lifecycle, effect),
            (Verb::Create, true, _) => &[Verdict::Behind],
            (Verb::Create, false, _) => &[Verdict::Absent],
            (Verb::Delete, false, _) if target.noted.is_some() => &[Verdict::Made],
            (Verb::Apply, true, _) => &[Verdict::Behind],
            (Verb::Apply, false, Mode::Part) => &[Verdict::Stale],
            (Verb::Apply, false, _) => &[Verdict::Absent, Verdict::Stale],
            (Verb::Delete, true, _) => &[Verdict::Surplus],
            (Verb::Delete, false, _) => &[Verdict::Stale, Verdict::Current],
            (Verb::Adopt, ..) => &[Verdict::Adoptable],
        };
        Self::of_target(lifecycle, target.var, values)
    }

    /// Returns the permission to record: a record is due if a created object is new.
    fn of_note(lifecycle: &Lifecycle, effect: &Effect) -> Self {
        let of = lifecycle.noted_in(effect.target);
        let var = of.and_then(|of| lifecycle.inputs[of.0].var);
        Self::of_target(lifecycle, var, &[Verdict::New])
    }

    fn of_target(lifecycle: &Lifecycle, var: Option<VarId>, verdicts: &[Verdict]) -> Self {
        let values = var.map(|var| named(lifecycle, var, verdicts));
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
            unseen: polled.map(|var| (var, named(lifecycle, var, &[Verdict::Unknown]))),
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

fn named(lifecycle: &Lifecycle, var: VarId, verdicts: &[Verdict]) -> ValueSet {
    lifecycle.vars[var.0].value_set(|verdict| verdicts.contains(&verdict))
}
