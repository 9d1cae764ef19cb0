//! A world in which one variable has another value, possible or not. It shows the decision for
//! another answer.

use crate::model::VarId;
use crate::space::world::World;

/// A copy of a world that one value at a time is changed in.
#[derive(Debug)]
pub struct Altered(Vec<u8>);

impl Altered {
    /// The copy, as it is.
    pub fn from_world(world: World<'_>) -> Self {
        Self(world.0.to_vec())
    }

    /// Calls `look` with the world in which a variable has this value, as if it was evaluated.
    /// Everything else is unchanged.
    ///
    /// # Panics
    /// If the value exceeds the 64 values that a domain may have.
    pub fn with_value<T>(
        &mut self,
        var: VarId,
        value: usize,
        look: impl FnOnce(World<'_>) -> T,
    ) -> T {
        let value = u8::try_from(value).expect("a domain has at most 64 values");
        let before = std::mem::replace(&mut self.0[var.0], value);
        let seen = look(World(&self.0));
        self.0[var.0] = before;
        seen
    }
}
