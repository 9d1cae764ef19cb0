//! Warnings that worlds and moves show: what is told too early, promised although we do it, or done while a person is waited for.

use std::collections::{BTreeMap, BTreeSet};

use crate::drive::Mover;
use crate::findings::Found;
use crate::graph::Graph;
use crate::moves::Move;
use crate::worlds::Act;

type Moves = BTreeMap<usize, BTreeMap<Mover, BTreeSet<usize>>>;

impl Graph<'_> {
    /// What is called Ready while the outside is still to move it. Promises that move nothing anywhere do not count.
    pub(crate) fn too_early(&self, moves: &Moves, found: &mut Found) {
        let worlds = self.worlds;
        let vows = worlds.vows();
        let counts = |number: usize| {
            let mut movers = moves.values().flat_map(BTreeMap::keys);
            movers.any(|mover| *mover == Mover::Vow(number))
        };
        let declared = 0..worlds.life.promises.len();
        let declared: Vec<usize> = declared.filter(|number| counts(*number)).collect();
        for &at in &self.live {
            let ready = self
                .state(at)
                .filter(|state| state.phase.as_deref() == Some("Ready"));
            let Some(state) = ready.filter(|_| self.policy[at].is_none()) else {
                continue;
            };
            let ready = worlds.life.ready.as_ref();
            if ready.is_some_and(|ready| matches!(self.unmet(ready, at), Ok(Some(_)))) {
                continue;
            }
            let is_news = |end: &usize| self.tells_otherwise(at, *end);
            let leads_on = |number: &usize| worlds.kept(&vows[*number], at).iter().any(is_news);
            if declared.iter().any(leads_on) {
                found.say("LC163", &state.name);
            }
        }
    }

    /// Whether another state, or another clause, is told there.
    fn tells_otherwise(&self, one: usize, other: usize) -> bool {
        let mut conditions = 0..self.worlds.life.conditions.len();
        self.worlds.states[one] != self.worlds.states[other]
            || conditions.any(|number| self.clause(number, one) != self.clause(number, other))
    }

    /// What is promised and nobody but we do.
    pub(crate) fn own_work(&self, moves: &Moves, found: &mut Found) {
        for (number, promise) in self.worlds.life.promises.iter().enumerate() {
            let mut sets = promise.sets.iter().flatten();
            if sets.any(|(name, value)| value == "Current" && self.is_ours(name))
                || self.is_done_there(number, moves)
            {
                found.say("LC166", &promise.name);
            }
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        let life = self.worlds.life;
        let ours = |own: &str| ["owned", "shared", "part", "record"].contains(&own);
        let input = life
            .input(name)
            .filter(|input| ours(&input.own) && !input.many);
        let mut effects = life.effects.iter();
        input.is_some() && effects.any(|effect| effect.verb == "apply" && effect.on == name)
    }

    /// Whether an effect runs that may do the same, wherever a promise moves something.
    fn is_done_there(&self, number: usize, moves: &Moves) -> bool {
        let worlds = self.worlds;
        let vow = &worlds.vows()[number];
        let mut due = moves
            .iter()
            .filter(|(_, moves)| moves.contains_key(&Mover::Vow(number)));
        let does = |act: &Act, wanted: &Vec<(usize, u8)>| {
            let mut own = worlds.alternatives(act).into_iter();
            own.any(|own| wanted.iter().all(|one| own.contains(one)))
        };
        let is_done = |at: usize| match self.policy[at] {
            Some(Move::Run(act) | Move::Claim(Some(act))) => vow
                .sets
                .iter()
                .all(|wanted| does(&worlds.acts[act], wanted)),
            Some(Move::Claim(None) | Move::Release) | None => false,
        };
        let some = due.clone().next().is_some();
        some && due.all(|(at, _)| is_done(*at))
    }

    /// What is written while nothing helps but that the owner edits the object.
    pub(crate) fn beside_a_person(&self, found: &mut Found) {
        for &at in &self.live {
            let Some(Move::Run(act) | Move::Claim(Some(act))) = self.policy[at] else {
                continue;
            };
            let act = &self.worlds.acts[act];
            let alone = |wakes: &Vec<String>| wakes.iter().all(|name| name == "self");
            let Some(state) = self.state(at) else {
                continue;
            };
            let waits = state.phase.as_deref() == Some("Error")
                && state.wakes.as_ref().is_some_and(alone)
                && !state.when.atoms().iter().any(|name| name.starts_with('?'));
            let is_note = act.own == "record";
            if waits && !act.is_undo && !is_note && act.verb != "delete" {
                found.say("LC169", &state.name);
            }
        }
    }
}
