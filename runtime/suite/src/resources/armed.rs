//! Faults at the writes of each lifecycle of a run: planned before, and counted for each lifecycle
//! separately.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::harness::Harness;
use super::moves::{Fault, Planned};
use super::run::Share;
use super::wire::Wire;
use crate::faults::{Faults, Plan};

impl Harness {
    /// Returns the lines of a lifecycle: the lower one, which breaks requests, and the upper one,
    /// which holds writes.
    fn lines_of(&self, member: usize) -> (&Faults, &Arc<Wire>) {
        match member.checked_sub(1) {
            None => (&self.faults, &self.wire),
            Some(n) => self.companions[n].lines(),
        }
    }

    /// Returns the wires between each lifecycle and the cluster.
    pub(crate) fn all_wires(&self) -> Vec<Arc<Wire>> {
        let all = 0..=self.companions.len();
        all.map(|member| Arc::clone(self.lines_of(member).1))
            .collect()
    }

    /// From now on the writes of each lifecycle are counted from 1, and these go wrong.
    pub(crate) fn arm(&self, planned: &[Planned]) {
        for member in 0..=self.companions.len() {
            let own = planned.iter().filter(|planned| planned.of == member);
            let own: Vec<Planned> = own.cloned().collect();
            let (faults, wire) = self.lines_of(member);
            let base = faults.writes();
            let text: Vec<String> = own.iter().filter_map(|one| on_line(one, base)).collect();
            if !text.is_empty() {
                let plan: Plan = text
                    .join(" ")
                    .parse()
                    .expect("faults are chosen from a list");
                faults.add(plan);
            }
            wire.arm(own);
        }
    }

    /// Disables all remaining faults. Returns true if an operation around a write was still
    /// pending.
    pub(crate) fn disarm(&self) -> bool {
        let mut left = false;
        for member in 0..=self.companions.len() {
            let (faults, wire) = self.lines_of(member);
            faults.clear();
            left |= wire.arm(Vec::new());
        }
        left
    }

    /// How much each lifecycle has sent so far.
    pub(crate) fn sent(&self) -> Vec<usize> {
        let all = 0..=self.companions.len();
        all.map(|member| self.lines_of(member).0.writes()).collect()
    }

    /// How much each has written since it was armed, when it had sent so much.
    pub(crate) fn shares(&self, before: &[usize]) -> Vec<Share> {
        let share = |member: usize| {
            let (faults, wire) = self.lines_of(member);
            Share {
                writes: wire.writes(),
                sent: faults.writes() - before.get(member).copied().unwrap_or_default(),
            }
        };
        (0..=self.companions.len()).map(share).collect()
    }

    /// Returns the objects that each lifecycle wrote, with their desired content. The writes of the
    /// first lifecycle take precedence.
    pub(crate) fn all_wrote(&self) -> BTreeMap<String, (usize, Value)> {
        let mut all = BTreeMap::new();
        for (member, wire) in self.all_wires().into_iter().enumerate() {
            for (path, body) in wire.wrote() {
                all.entry(path).or_insert((member, body));
            }
        }
        all
    }

    /// The objects that any lifecycle wrote, as its last write left them, by path and field manager.
    pub(crate) fn all_left(&self) -> BTreeMap<(String, String), Value> {
        let wires = self.all_wires().into_iter();
        wires.flat_map(|wire| wire.left()).collect()
    }
}

/// Returns the fault that breaks requests, in the syntax of plans.
fn on_line(planned: &Planned, base: usize) -> Option<String> {
    match &planned.fault {
        Fault::Line(what) => Some(format!("w{}:{what}", base + planned.at)),
        Fault::Before(_) | Fault::After(_) | Fault::LoseLease => None,
    }
}
