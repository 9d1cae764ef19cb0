//! What runs are compared by: the worlds of all objects of the lifecycle.

use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::machine::world::World;

/// Where one object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectState {
    pub(crate) name: String,
    /// What its last pass saw; nothing if there was none.
    pub(crate) world: Option<World>,
    pub(crate) deleting: bool,
    pub(crate) failed: bool,
}

/// Where all objects are, in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorldsKey(pub(crate) Vec<ObjectState>);

impl WorldsKey {
    /// As people read it.
    pub(crate) fn describe(&self, ir: &Lifecycle) -> String {
        if self.0.is_empty() {
            return "no object".to_owned();
        }
        let each = self.0.iter().map(|standing| {
            let world = standing.world.as_ref();
            let world = world.map_or_else(|| "not looked at".to_owned(), |w| w.describe(ir));
            let deleting = if standing.deleting { ", deleting" } else { "" };
            let failed = if standing.failed { ", unreadable" } else { "" };
            format!("{}: {world}{deleting}{failed}", standing.name)
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// Whether a write of one of them was refused, so that it is tried again from time to time.
    pub(crate) fn is_refused(&self, ir: &Lifecycle) -> bool {
        let worlds = self.0.iter().filter_map(|s| s.world.as_ref());
        let mut pairs = worlds.flat_map(|w| ir.effects.iter().map(move |e| w.get(e.refused)));
        pairs.any(|refused| refused == 1)
    }

    /// Whether each of them is suspended so that its deletion waits.
    pub(crate) fn waits(&self, ir: &Lifecycle) -> bool {
        let mut worlds = self.0.iter().map(|s| s.world.as_ref());
        worlds.all(|world| world.is_some_and(|world| ir.holds_deletion(world).is_some()))
    }
}
