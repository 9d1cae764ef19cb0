//! Teardown of an object: the open stage, the leftovers, and the abandoned resources. Pure.

use super::ir::{Abandoned, Effect, Lifecycle, Step};
use super::world::World;

impl Lifecycle {
    /// Returns the first stage of the teardown that its answers do not show as finished.
    pub fn open_step(&self, world: &World) -> Option<usize> {
        let is_open = |step: &Step| world.evaluate(&step.until, self) != Some(true);
        self.steps.iter().position(is_open)
    }

    /// Returns true if a stage of the teardown is certainly due.
    pub(super) fn is_due(&self, world: &World) -> bool {
        let is_due = |step: &Step| world.evaluate(&step.until, self) == Some(false);
        self.steps.iter().any(is_due)
    }

    /// Returns true if the object cannot be removed yet, because a stage of the teardown is open or
    /// resources are held.
    pub fn is_left(&self, world: &World) -> bool {
        self.open_step(world).is_some() || !self.holds_nothing(world)
    }

    /// Returns the declaration by which the leftovers are abandoned, if there is one. Nothing is
    /// abandoned while a suspended state holds the deletion.
    pub fn abandons(&self, world: &World) -> Option<&Abandoned> {
        let gives_up = |one: &&Abandoned| world.evaluate(&one.when, self) == Some(true);
        let found = self.abandoned.iter().find(gives_up)?;
        let waits = self.holds_deletion(world).is_some();
        (!waits && self.is_left(world)).then_some(found)
    }

    /// Describes the leftovers for users: the open stages of the teardown, and the held resources.
    pub fn leftovers(&self, world: &World) -> String {
        let open = |step: &&Step| world.evaluate(&step.until, self) != Some(true);
        let steps = self.steps.iter().filter(open).map(|step| {
            let (name, until) = (self.effects[step.effect].name, step.until.describe(self));
            format!("`{name}` until `{until}`")
        });
        let held = (0..self.vars.len()).filter(|var| !self.is_free(world, *var));
        let held =
            held.map(|var| format!("`{} == {}`", self.vars[var].name, self.value(world, var)));
        steps.chain(held).collect::<Vec<_>>().join(", ")
    }

    /// Describes the open stage that the deletion waits for, if there is one, with the messages of
    /// the facts that the stage reads.
    pub fn awaited(&self, world: &World, sentences: &[Option<String>]) -> Option<String> {
        let step = &self.steps[self.open_step(world)?];
        let (name, until) = (self.effects[step.effect].name, step.until.describe(self));
        let mut said = format!("`{name}` is not over: it is when `{until}`");
        let mut vars = step.until.vars();
        vars.dedup();
        for sentence in vars.iter().filter_map(|var| sentences[*var].as_deref()) {
            said = format!("{said}; {sentence}");
        }
        Some(said)
    }

    /// Returns true if an effect is due when the object goes. It is the open stage of the teardown;
    /// or no stage is open, and it releases something.
    pub(super) fn is_due_to_go(&self, world: &World, effect: usize) -> bool {
        let Some(step) = self.open_step(world) else {
            return self.effects[effect].is_undo && self.has_to_free(world, effect);
        };
        let step = &self.steps[step];
        let mut when = step.when.iter();
        step.effect == effect && when.all(|when| world.evaluate(when, self) == Some(true))
    }

    /// Returns true if our finalizer must be present before an effect runs. Such an effect may make
    /// something ours, or leave something to do in the teardown.
    pub fn needs_claim(&self, effect: usize) -> bool {
        let effect = &self.effects[effect];
        let mut alternatives = effect.sets.iter();
        self.acquires(effect)
            || alternatives.any(|set| self.steps.iter().any(|step| reopens(effect, set, step)))
    }
}

/// Returns true if the `until` of a teardown stage reads variables that a write changes, and need
/// not hold afterwards.
fn reopens(effect: &Effect, alternative: &[(usize, u8)], step: &Step) -> bool {
    let set = |var: usize| alternative.iter().find(|(other, _)| *other == var);
    let changes = |var: &usize| set(*var).is_some() || effect.affects.contains(var);
    let holds = step
        .until
        .decided(&|var, values| set(var).map(|(_, value)| values >> value & 1 == 1));
    step.until.vars().iter().any(changes) && holds != Some(true)
}
