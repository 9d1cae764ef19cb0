//! Whether what followed a recorded write may follow it by the declaration of this version.

use std::collections::BTreeMap;

use lifecycle_runtime::cluster::judged::{Awaited, Verdict, judged};
use lifecycle_runtime::cluster::observe::Observed;
use lifecycle_runtime::machine::ir::{Effect, Lifecycle};
use lifecycle_runtime::machine::world::World;

use crate::cache::name;
use crate::format::{Ended, Object};

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
    /// Looks at what the write before a pass led to, and notes the one that the pass is to do. `read` numbers all that was read, but for what an effect changes.
    pub(crate) fn look(
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
        // What is not written of an answer may have changed.
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
    pub(crate) fn ended(&mut self, object: &Object, ended: &Ended) {
        for (_, write) in self.0.iter_mut().filter(|((_, of), _)| of == object) {
            let wrote = ended.target.as_ref();
            write.arrived = ended.how == "done" && write.left;
            write.awaited.wrote = wrote.map(|target| (name(target), ended.version.clone()));
        }
    }

    /// What follows from a write is not known any more.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}
