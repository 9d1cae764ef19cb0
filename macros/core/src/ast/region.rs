//! A region: a part of a lifecycle with states of its own, which runs beside the other regions.

use proc_macro2::Ident;

use super::{Condition, Lifecycle, State};

/// `region name { .. }`.
#[derive(Clone, Debug)]
pub struct Region {
    pub name: Ident,
    pub doc: String,
    /// Its sections, under the name of the lifecycle.
    pub part: Lifecycle,
}

impl Region {
    /// Returns true if one of its conditions counts for the roll-up of the lifecycle.
    pub fn counts(&self, lifecycle: &Lifecycle) -> bool {
        let from = lifecycle.ready.iter().flat_map(|ready| &ready.from);
        let mut conditions = self.part.conditions.iter();
        let is_named = |condition: &Condition| from.clone().any(|name| *name == condition.name);
        conditions.any(is_named)
    }

    /// Returns the state of this name.
    pub fn state(&self, name: &Ident) -> Option<&State> {
        self.part.states.iter().find(|state| state.name == *name)
    }
}

/// Role of a lifecycle in the composition of regions.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// In a region that is read by itself: the states of the root. In each of them the region
    /// rests.
    pub closed: Vec<State>,
    /// Name of the region, if it is read by itself.
    pub region: Option<Ident>,
    /// True for a region that is read by itself and whose state another region asks.
    pub is_asked: bool,
    /// True for a root that is read by itself. Its last state is the one in which the regions run.
    pub is_root: bool,
}
