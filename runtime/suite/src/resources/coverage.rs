//! Coverage of a lifecycle: the items that runs have seen, and those that they never reached.

use std::collections::{BTreeMap, BTreeSet};

use super::contract::class_name;
use lifecycle_runtime::machine::ir::{Edge, Lifecycle, StateId};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;

/// Items that one run or all runs have seen.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Every world that a reconciliation observed.
    pub worlds: BTreeSet<World>,
    /// States by number.
    pub states: BTreeSet<StateId>,
    /// Transitions from one reconciliation to the next, by state indices. Undeclared ones are
    /// recorded only in quiet runs.
    pub edges: BTreeSet<(StateId, StateId)>,
    /// How often an effect ended how.
    pub effects: BTreeMap<(usize, &'static str), u64>,
    /// Promises that were kept.
    pub promises: BTreeSet<usize>,
    /// True if an object was deleted while it was observed.
    pub deleting: bool,
    /// True if a write was refused and no state mentions that.
    pub refused: bool,
    /// Rights that requests have needed, by name.
    pub rights: BTreeSet<String>,
}

impl Coverage {
    pub(crate) fn world(&mut self, ir: &Lifecycle, world: &World, class: Class) {
        if !self.worlds.contains(world) {
            self.worlds.insert(world.clone());
        }
        match class {
            Class::State(_) => self.states.extend(ir.current_states(world, class)),
            Class::Deleting => self.deleting = true,
            Class::Refused { .. } => self.refused = true,
            Class::Contradiction => {}
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.worlds.extend(other.worlds);
        self.states.extend(other.states);
        self.edges.extend(other.edges);
        self.promises.extend(other.promises);
        self.deleting |= other.deleting;
        self.refused |= other.refused;
        self.rights.extend(other.rights);
        for (key, count) in other.effects {
            *self.effects.entry(key).or_default() += count;
        }
    }

    fn saw(&self, edge: &Edge) -> bool {
        self.edges.contains(&(edge.from, edge.to))
    }

    /// Returns the declared items that no run has seen, by name.
    pub fn unseen(&self, ir: &Lifecycle) -> Vec<String> {
        let name = |state: StateId| class_name(ir, Class::State(state));
        let states = ir.states.ids().filter(|s| !self.states.contains(s));
        let mut unseen: Vec<_> = states.map(|s| format!("state {}", name(s))).collect();
        let edges = ir.edges.iter().filter(|edge| !self.saw(edge));
        let text = |edge: &Edge| format!("transition {} -> {}", name(edge.from), name(edge.to));
        unseen.extend(edges.map(text));
        let done = |effect: &usize| self.effects.contains_key(&(*effect, "done"));
        let effects = (0..ir.effects.len()).filter(|e| !done(e));
        unseen.extend(effects.map(|e| format!("effect {}", ir.effects[e].name)));
        let promises = (0..ir.promises.len()).filter(|p| !self.promises.contains(p));
        unseen.extend(promises.map(|p| format!("promise {}", ir.promises[p].name)));
        unseen
    }

    /// Returns the counts of seen items and of all items.
    pub(crate) fn lines(&self, ir: &Lifecycle) -> Vec<String> {
        let edges = ir.edges.iter().filter(|edge| self.saw(edge)).count();
        let done = |effect: &usize| self.effects.contains_key(&(*effect, "done"));
        let effects = (0..ir.effects.len()).filter(done).count();
        vec![
            format!("worlds seen: {}", self.worlds.len()),
            format!("states: {} of {}", self.states.len(), ir.states.len()),
            format!("transitions: {edges} of {}", ir.edges.len()),
            format!("effects: {effects} of {}", ir.effects.len()),
            format!("promises: {} of {}", self.promises.len(), ir.promises.len()),
        ]
    }
}
