//! A world in which one variable has another value, whether or not it could be: what a decision would be, were the answer another one.

use crate::model::VarId;
use crate::space::world::World;

/// A copy of a world that one value at a time is changed in.
#[derive(Debug)]
pub struct Altered(Vec<u8>);

impl Altered {
    /// The copy, as it is.
    pub fn of(world: World<'_>) -> Self {
        Self(world.0.to_vec())
    }

    /// The world with this value of a variable, as if it had been asked; everything else is as in the world itself.
    ///
    /// # Panics
    /// If the value is no value of a domain, of which there are at most 64.
    pub fn with<T>(&mut self, var: VarId, value: usize, look: impl FnOnce(World<'_>) -> T) -> T {
        let value = u8::try_from(value).expect("a domain has at most 64 values");
        let before = std::mem::replace(&mut self.0[var.0], value);
        let seen = look(World(&self.0));
        self.0[var.0] = before;
        seen
    }
}
