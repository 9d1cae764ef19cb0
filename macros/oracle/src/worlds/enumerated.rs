//! All worlds, one variable after the other.

use super::{UNSET, World, Worlds};
use crate::broken::Rule;
use crate::syntax::Pred;

impl Worlds<'_> {
    pub(super) fn fill(&mut self, limit: usize) -> Option<()> {
        let mut all = Vec::new();
        let full = self
            .enumerate(
                (0, &self.ends()),
                limit,
                &mut vec![UNSET; self.vars.len()],
                &mut all,
            )
            .is_err();
        if full {
            return None;
        }
        self.all = all
            .into_iter()
            .filter(|world| self.possible(world))
            .collect();
        Some(())
    }

    fn enumerate(
        &self,
        (at, ends): (usize, &[Option<usize>]),
        limit: usize,
        world: &mut World,
        all: &mut Vec<World>,
    ) -> Result<(), ()> {
        let Some(&var) = self.order.get(at) else {
            if self.allowed(world) {
                all.push(world.clone());
            }
            return if all.len() > limit { Err(()) } else { Ok(()) };
        };
        let only = self.unasked(var, world);
        for &value in self.vars[var].values(&only) {
            world[var] = value;
            if self.may_go_on(at, ends, world) {
                self.enumerate((at + 1, ends), limit, world, all)?;
            }
        }
        Ok(())
    }

    /// Returns true if no `never` holds that ends with this variable. Otherwise every continuation
    /// is ruled out, however large.
    fn may_go_on(&self, at: usize, ends: &[Option<usize>], world: &World) -> bool {
        let nevers = ends.iter().zip(&self.nevers);
        let mut decided = nevers.filter(|(end, _)| **end == Some(at));
        self.forgets(Rule::Never) || !decided.any(|(_, test)| self.holds(test, world))
    }

    /// Returns, for each `never`, the position of its last variable in the order.
    fn ends(&self) -> Vec<Option<usize>> {
        let place = |name: &String| {
            let var = self.var(name)?;
            self.order.iter().position(|other| *other == var)
        };
        let end = |never: &Pred| {
            let places: Option<Vec<usize>> = never.atoms().iter().map(place).collect();
            places?.into_iter().max()
        };
        self.life.ruled_out().iter().map(end).collect()
    }
}
