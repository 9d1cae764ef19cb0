//! What is done when the object goes: which step is not over, what is left, and what is given up. Pure.

use super::ir::{Abandoned, Effect, Lifecycle, Step};
use super::world::World;

impl Lifecycle {
    /// The step that is not over: the first of which what is asked does not say so.
    pub fn open_step(&self, world: &World) -> Option<usize> {
        let is_open = |step: &Step| world.says(&step.until, self) != Some(true);
        self.steps.iter().position(is_open)
    }

    /// Whether something is to be done when the object goes, for sure.
    pub(super) fn is_due(&self, world: &World) -> bool {
        let is_due = |step: &Step| world.says(&step.until, self) == Some(false);
        self.steps.iter().any(is_due)
    }

    /// Whether the object cannot go yet: a step is not over, or something is held.
    pub fn is_left(&self, world: &World) -> bool {
        self.open_step(world).is_some() || !self.holds_nothing(world)
    }

    /// By what line what is left is given up, if it is. Who wants a deletion to wait wants nothing given up meanwhile.
    pub fn abandons(&self, world: &World) -> Option<&Abandoned> {
        let gives_up = |one: &&Abandoned| world.says(&one.when, self) == Some(true);
        let found = self.abandoned.iter().find(gives_up)?;
        let waits = self.holds_deletion(world).is_some();
        (!waits && self.is_left(world)).then_some(found)
    }

    /// What is left, as people read it: the steps that are not over, and what is held.
    pub fn leftovers(&self, world: &World) -> String {
        let open = |step: &&Step| world.says(&step.until, self) != Some(true);
        let steps = self.steps.iter().filter(open).map(|step| {
            let (name, until) = (self.effects[step.effect].name, step.until.describe(self));
            format!("`{name}` until `{until}`")
        });
        let held = (0..self.vars.len()).filter(|var| !self.is_free(world, *var));
        let held =
            held.map(|var| format!("`{} == {}`", self.vars[var].name, self.value(world, var)));
        steps.chain(held).collect::<Vec<_>>().join(", ")
    }

    /// What the deletion waits for, where it does: the step that is not over, and what the facts say that it asks.
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

    /// Whether it is the turn of an effect when the object goes: it is the step that is not over, or all are and it gives something back.
    pub(super) fn is_due_to_go(&self, world: &World, effect: usize) -> bool {
        let Some(step) = self.open_step(world) else {
            return self.effects[effect].is_undo && self.has_to_free(world, effect);
        };
        let step = &self.steps[step];
        let mut when = step.when.iter();
        step.effect == effect && when.all(|when| world.says(when, self) == Some(true))
    }

    /// Whether our finalizer has to be there before an effect runs: it may make something ours, or leave something to be done when the object goes.
    pub fn needs_claim(&self, effect: usize) -> bool {
        let effect = &self.effects[effect];
        let mut alternatives = effect.sets.iter();
        self.acquires(effect)
            || alternatives.any(|set| self.steps.iter().any(|step| reopens(effect, set, step)))
    }
}

/// Whether the `until` of a step asks what a write changes, and need not hold afterwards.
fn reopens(effect: &Effect, alternative: &[(usize, u8)], step: &Step) -> bool {
    let set = |var: usize| alternative.iter().find(|(other, _)| *other == var);
    let changes = |var: &usize| set(*var).is_some() || effect.affects.contains(var);
    let holds = step
        .until
        .decided(&|var, values| set(var).map(|(_, value)| values >> value & 1 == 1));
    step.until.vars().iter().any(changes) && holds != Some(true)
}
