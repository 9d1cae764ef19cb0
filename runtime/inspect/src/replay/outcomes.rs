//! Check that the observation after a recorded write is allowed by the declaration of this version.

use std::collections::BTreeMap;

use lifecycle_runtime::cluster::judged::{Awaited, Verdict, judged};
use lifecycle_runtime::cluster::observe::Observed;
use lifecycle_runtime::machine::ir::{Effect, Lifecycle};
use lifecycle_runtime::machine::world::World;

use crate::replay::cache::name;
use crate::replay::format::{Ended, Object};

/// A write of an object, and how far it got.
struct Write {
    awaited: Awaited,
    left: bool,
    arrived: bool,
}

/// The last write of each object of each lifecycle.
#[derive(Default)]
pub(crate) struct Outcomes(BTreeMap<(usize, Object), Write>);

impl Outcomes {
    /// Checks the result of the write before a reconciliation, and records the write that the
    /// reconciliation makes. `read` fingerprints all objects read, except those that an effect
    /// changes.
    pub(crate) fn check_outcome(
        &mut self,
        (lifecycle, object): (usize, &Object),
        (ir, observed, next): (&Lifecycle, &Observed, Option<usize>),
        read: impl Fn(Option<&Effect>) -> u64,
    ) -> Option<String> {
        let key = (lifecycle, object.clone());
        let before = self
            .0
            .remove(&key)
            .filter(|write| write.left && write.arrived);
        // Unrecorded parts of a poll's answer may have changed.
        let is_known = observed.polls.is_empty();
        let astray = before.filter(|_| is_known).and_then(|write| {
            let besides = read(Some(&ir.effects[write.awaited.effect]));
            match judged(ir, &write.awaited, observed, besides) {
                Verdict::Undeclared(why) => Some(why),
                Verdict::Declared | Verdict::Open => None,
            }
        });
        if let Some(effect) = next {
            let world: World = observed.observation.world.clone();
            let awaited = Awaited {
                effect,
                before: world,
                besides: read(Some(&ir.effects[effect])),
                wrote: None,
            };
            let write = Write {
                awaited,
                left: false,
                arrived: false,
            };
            self.0.insert(key, write);
        }
        astray
    }

    /// A write of an object left.
    pub(crate) fn left(&mut self, object: &Object, what: &str) {
        for (_, write) in self.0.iter_mut().filter(|((_, of), _)| of == object) {
            write.left = what == "effect" || what == "call";
        }
    }

    /// A write of an object ended.
    pub(crate) fn record_end(&mut self, object: &Object, ended: &Ended) {
        for (_, write) in self.0.iter_mut().filter(|((_, of), _)| of == object) {
            let wrote = ended.target.as_ref();
            write.arrived = ended.how == "done" && write.left;
            write.awaited.wrote = wrote.map(|target| (name(target), ended.version.clone()));
        }
    }

    /// Forgets the writes, because their consequences are not known any more.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}
