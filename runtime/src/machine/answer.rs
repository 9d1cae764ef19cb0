//! Answer to a call of a volume in a world: preconditions, target, refusals, effects, waiting, in
//! this order. Also validates a request by itself.

use super::ir::{Call, Lifecycle, Target};
use super::policy::Class;
use super::world::World;

/// The one thing that a call does in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A precondition of the interface applies, by position in the call.
    Precondition(usize),
    /// The target holds.
    Done,
    /// One of its own refusals applies, by position.
    Refusal(usize),
    /// Run this effect, and look again.
    Effect(usize),
    /// Nothing can be done except wait for a promise.
    Wait,
    /// A world that a `never` rules out, or that no state takes: the declaration is wrong about the world.
    Contradiction,
}

/// Defect of a request by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A required field is missing or empty.
    Missing(&'static str),
    /// A field has more bytes than the interface allows.
    TooLong {
        /// The field.
        field: &'static str,
        /// How many bytes it may have.
        limit: usize,
    },
}

impl Lifecycle {
    /// Returns the answer to a call, by position, in this world.
    pub fn answer(&self, world: &World, call: usize) -> Answer {
        let class = self.classify(world, false);
        if class == Class::Contradiction {
            return Answer::Contradiction;
        }
        let call = &self.calls[call];
        if let Some(precondition) = call
            .preconditions
            .iter()
            .position(|one| world.holds(&one.when))
        {
            return Answer::Precondition(precondition);
        }
        if reached(&call.target, world, class) {
            return Answer::Done;
        }
        let mut refusals = call.refusals.iter();
        if let Some(refusal) = refusals.position(|refusal| world.holds(&refusal.when)) {
            return Answer::Refusal(refusal);
        }
        let mut steps = call.by.iter().copied();
        let step = steps.find(|&effect| self.enabled(world, effect, false));
        step.map_or(Answer::Wait, Answer::Effect)
    }

    /// Returns true if the target of a call, by position, is already reached.
    pub fn is_at_target(&self, world: &World, call: usize) -> bool {
        let class = self.classify(world, false);
        reached(&self.calls[call].target, world, class)
    }

    /// Returns true if the request contains an unsupported capability: the same precondition for
    /// all calls.
    pub fn unfit(&self, world: &World) -> bool {
        let mut preconditions = self.calls.iter().flat_map(|call| call.preconditions);
        preconditions.any(|one| one.name == "unfit" && world.holds(&one.when))
    }
}

fn reached(target: &Target, world: &World, class: Class) -> bool {
    match target {
        Target::Nothing => true,
        Target::State(state) => class == Class::State(*state),
        Target::Pred(target) => world.holds(target),
    }
}

impl Call {
    /// Validates a request, and returns its first defect. `size` returns the number of bytes of a
    /// field; zero if it is missing or empty.
    pub fn misfit(&self, size: impl Fn(&str) -> usize) -> Option<Misfit> {
        self.fields.iter().find_map(|field| {
            let size = size(field.name);
            if field.required && size == 0 {
                return Some(Misfit::Missing(field.name));
            }
            let limit = field.limit.filter(|limit| size > *limit)?;
            let field = field.name;
            Some(Misfit::TooLong { field, limit })
        })
    }
}
