//! Key by which runs are compared: the worlds of all objects of the lifecycle.

use lifecycle_runtime::machine::ir::{Lifecycle, Phase};
use lifecycle_runtime::machine::world::World;

/// State of one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectState {
    /// Index of the object's lifecycle if several run; 0 is the one under test.
    pub(crate) member: usize,
    pub(crate) name: String,
    /// World of its last reconciliation; `None` if there was none.
    pub(crate) world: Option<World>,
    pub(crate) deleting: bool,
    pub(crate) failed: bool,
}

/// States of all objects, in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorldsKey(pub(crate) Vec<ObjectState>);

impl WorldsKey {
    /// As people read it.
    pub(crate) fn describe(&self, irs: &[&Lifecycle]) -> String {
        if self.0.is_empty() {
            return "no object".to_owned();
        }
        let each = self.0.iter().map(|standing| {
            let (world, ir) = (standing.world.as_ref(), irs[standing.member]);
            let world = world.map_or_else(|| "not observed".to_owned(), |w| w.describe(ir));
            let deleting = if standing.deleting { ", deleting" } else { "" };
            let failed = if standing.failed { ", unreadable" } else { "" };
            let kind = if irs.len() > 1 { ir.name } else { "" };
            let name = format!("{kind} {}", standing.name);
            format!("{}: {world}{deleting}{failed}", name.trim_start())
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// Returns true if a write of one of them was refused, so that it is retried from time to time.
    pub(crate) fn is_refused(&self, irs: &[&Lifecycle]) -> bool {
        let mut worlds = self
            .0
            .iter()
            .filter_map(|s| Some((irs[s.member], s.world.as_ref()?)));
        worlds.any(|(ir, world)| {
            ir.effects
                .iter()
                .any(|effect| world.get(effect.refused) == 1)
        })
    }

    /// Returns the objects except those that were left to another controller. The content of such
    /// an object depends on when it was left.
    pub(crate) fn managed(&self, irs: &[&Lifecycle]) -> Vec<&ObjectState> {
        let is_left = |state: &&ObjectState| {
            let ir = irs[state.member];
            let class = state.world.as_ref().map(|w| ir.classify(w, state.deleting));
            class.is_some_and(|class| ir.phase(class) == Phase::Ignored)
        };
        self.0.iter().filter(|state| !is_left(state)).collect()
    }

    /// Returns true if each of them is suspended in a way that makes its deletion wait.
    pub(crate) fn waits(&self, irs: &[&Lifecycle]) -> bool {
        let mut all = self.0.iter().map(|s| (irs[s.member], s.world.as_ref()));
        all.all(|(ir, world)| world.is_some_and(|world| ir.holds_deletion(world).is_some()))
    }
}
