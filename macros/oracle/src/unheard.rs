//! Waits in vain: a promise of facts that only an object reports that is created once and gone.

use std::collections::{BTreeMap, BTreeSet};

use crate::drive::Mover;
use crate::findings::Findings;
use crate::graph::Graph;
use crate::syntax::{Life, Promise};

impl Graph<'_> {
    /// Reports a promise that only an already deleted object could report as kept.
    pub(crate) fn unheard(
        &self,
        moves: &BTreeMap<usize, BTreeMap<Mover, BTreeSet<usize>>>,
        found: &mut Findings,
    ) {
        let life = self.worlds.life;
        for (number, promise) in life.promises.iter().enumerate() {
            for input in life
                .inputs
                .iter()
                .filter(|one| life.noted(&one.name).is_some())
            {
                let Some(var) = self.worlds.var(&input.name).filter(|_| !input.many) else {
                    continue;
                };
                let gone = self.worlds.find_value("Gone");
                let waits = |at: &&usize| {
                    let counts = moves[at].contains_key(&Mover::Vow(number));
                    counts && self.worlds.all[**at][var] == gone
                };
                if is_said_by(life, promise, &input.name) && self.live.iter().any(|at| waits(&at)) {
                    found.report("LC158", &promise.name);
                }
            }
        }
    }
}

/// Returns true if only this input reports the promised facts.
fn is_said_by(life: &Life, promise: &Promise, input: &str) -> bool {
    let mut sets = promise.sets.iter().flatten();
    sets.all(|(name, _)| {
        let from = life.fact(name).map_or(&[][..], |fact| fact.from.as_slice());
        let mut others = from.iter().filter(|one| *one != "self");
        from.iter().any(|one| one == input) && others.all(|one| one == input)
    })
}
