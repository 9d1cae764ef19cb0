//! What runs are compared by: the worlds of all objects of the lifecycle.

use lifecycle_runtime::machine::ir::{Lifecycle, Phase};
use lifecycle_runtime::machine::world::World;

/// Where one object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectState {
    /// Of which lifecycle it is, where several run: 0 is the one whose suite it is.
    pub(crate) member: usize,
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
    pub(crate) fn describe(&self, irs: &[&Lifecycle]) -> String {
        if self.0.is_empty() {
            return "no object".to_owned();
        }
        let each = self.0.iter().map(|standing| {
            let (world, ir) = (standing.world.as_ref(), irs[standing.member]);
            let world = world.map_or_else(|| "not looked at".to_owned(), |w| w.describe(ir));
            let deleting = if standing.deleting { ", deleting" } else { "" };
            let failed = if standing.failed { ", unreadable" } else { "" };
            let kind = if irs.len() > 1 { ir.name } else { "" };
            let name = format!("{kind} {}", standing.name);
            format!("{}: {world}{deleting}{failed}", name.trim_start())
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// Whether a write of one of them was refused, so that it is tried again from time to time.
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

    /// These objects but for those that were left to another controller: what was made of them by then depends on when that was.
    pub(crate) fn managed(&self, irs: &[&Lifecycle]) -> Vec<&ObjectState> {
        let is_left = |state: &&ObjectState| {
            let ir = irs[state.member];
            let class = state.world.as_ref().map(|w| ir.classify(w, state.deleting));
            class.is_some_and(|class| ir.phase(class) == Phase::Ignored)
        };
        self.0.iter().filter(|state| !is_left(state)).collect()
    }

    /// Whether each of them is suspended so that its deletion waits.
    pub(crate) fn waits(&self, irs: &[&Lifecycle]) -> bool {
        let mut all = self.0.iter().map(|s| (irs[s.member], s.world.as_ref()));
        all.all(|(ir, world)| world.is_some_and(|world| ir.holds_deletion(world).is_some()))
    }
}
