//! The `wakes` of a state: the changes that lead out of it, and the passing of time.

use std::collections::BTreeSet;

use crate::findings::Findings;
use crate::graph::Graph;
use crate::syntax::Pred;
use crate::worlds::{NodePlace, World};

impl Graph<'_> {
    /// Reports a settled world if no change of the inputs in `wakes` can lead out of it.
    pub(crate) fn wakes(&self, found: &mut Findings) {
        let worlds = self.worlds;
        for (number, state) in worlds.life.states.iter().enumerate() {
            let Some(wakes) = &state.wakes else { continue };
            if wakes.iter().any(|name| name == "self") {
                if !state.goal && wakes.iter().all(|name| name == "self") {
                    self.ways_out(number, found);
                }
                continue;
            }
            if self.left(number, wakes).contains(&false) {
                found.report("LC065", &state.name);
            }
        }
    }

    /// Reports a state if time leads out of a settled world and its `wakes` does not name the clock, or if it names the clock in vain.
    pub(crate) fn ticks(&self, found: &mut Findings) {
        let life = self.worlds.life;
        let Some(now) = life.clock().map(str::to_owned) else {
            return;
        };
        for (number, state) in life.states.iter().enumerate() {
            let Some(wakes) = &state.wakes else { continue };
            let left = self.left(number, std::slice::from_ref(&now));
            if !wakes.contains(&now) {
                if !state.goal && self.goes_on(number, &now) {
                    found.report("LC102", &state.name);
                }
            } else if wakes.iter().any(|name| *name != now)
                && !left.is_empty()
                && !left.contains(&true)
            {
                found.report("LC101", &state.name);
            }
        }
    }

    /// Returns true if a change of one input may lead on from a settled world of a state. It leads on to a goal, or to a world with work to do.
    fn goes_on(&self, number: usize, input: &str) -> bool {
        let worlds = self.worlds;
        let here = Some(NodePlace::State(number));
        let (changes, wishes) = self.readers(&BTreeSet::from([input.to_owned()]));
        let is_on = |end: usize| {
            let is_goal = self.state(end).is_some_and(|state| state.goal);
            worlds.states[end] != here && (is_goal || !self.is_at_rest(end))
        };
        let mut resting = self.live.iter();
        resting.any(|at| {
            let rests = worlds.states[*at] == here && self.is_at_rest(*at);
            let before = &worlds.all[*at];
            let ends = worlds.changes(before, &changes, &[]);
            let ends = ends
                .iter()
                .filter(|end| worlds.stays_itself(&wishes, before, end))
                .filter(|end| self.is_of_time(input, &wishes, (before, end)))
                .filter_map(|end| worlds.all.get_index_of(end));
            rests && ends.into_iter().any(is_on)
        })
    }

    /// Returns true if time alone may lead from one world to another. It does so through a fact,
    /// never makes a true one false, and alters a wish only if it has a say in it.
    fn is_of_time(&self, clock: &str, wishes: &[usize], (from, to): (&World, &World)) -> bool {
        let (worlds, life) = (self.worlds, self.worlds.life);
        let timed = life
            .facts
            .iter()
            .filter(|fact| fact.from.iter().any(|one| one == clock));
        let timed: Vec<(usize, bool)> = timed
            .filter_map(|fact| Some((worlds.var(&fact.name)?, fact.domain == ["false", "true"])))
            .collect();
        let (no, yes) = (worlds.find_value("false"), worlds.find_value("true"));
        let is_answered = |var: usize| {
            let asked = |world: &&&World| worlds.unasked(var, world).is_none();
            [from, to].iter().all(|world| asked(&world))
        };
        let recovers = |(var, is_flag): &(usize, bool)| {
            *is_flag && (from[*var], to[*var]) == (yes, no) && is_answered(*var)
        };
        timed.iter().any(|(var, _)| from[*var] != to[*var])
            && !timed.iter().any(recovers)
            && wishes
                .iter()
                .all(|var| from[*var] == to[*var] || self.says_something(clock, *var, (from, to)))
    }

    /// Returns true if the clock may alter the wish for an object: the choice of the builder, what
    /// the builder reads, or the policy under which the object is retained.
    fn says_something(&self, clock: &str, var: usize, (before, after): (&World, &World)) -> bool {
        let (worlds, life) = (self.worlds, self.worlds.life);
        let name = &worlds.vars[var].name;
        let retain = life.input(name).and_then(|input| input.retain.as_ref());
        let retain = retain.map(|retain| worlds.test(retain));
        if retain.is_some_and(|test| worlds.holds(&test, before) != worlds.holds(&test, after)) {
            return true;
        }
        let chosen = [before, after].map(|world| worlds.builder(var, world));
        match chosen {
            [Some(one), Some(other)] if one == other => {
                let from = &life.effects[one].from;
                from.iter()
                    .any(|name| self.alters(clock, name, (before, after)))
            }
            _ => true,
        }
    }

    /// Returns true if the clock may alter an argument of a builder.
    fn alters(&self, clock: &str, name: &str, (from, to): (&World, &World)) -> bool {
        let (worlds, life) = (self.worlds, self.worlds.life);
        let turns = |pred: &Pred| {
            let test = worlds.test(pred);
            worlds.holds(&test, from) != worlds.holds(&test, to)
        };
        if let Some(value) = life.value(name) {
            let until = value.mint.as_ref().and_then(|mint| mint.until.as_ref());
            let mut from_names = value.from.iter();
            return value.given.iter().chain(until).any(turns)
                || from_names.any(|one| self.alters(clock, one, (from, to)));
        }
        let found = life.input(name).into_iter().chain(life.members(name));
        found.into_iter().any(|input| {
            let moves = worlds.reach.closures(&input.lookup()).contains(clock);
            moves || input.given.as_ref().is_some_and(turns)
        })
    }

    /// The questions that a change of one of these inputs may answer anew, and those of them about
    /// an object of which it alters only the wish.
    fn readers(&self, inputs: &BTreeSet<String>) -> (Vec<usize>, Vec<usize>) {
        let worlds = self.worlds;
        let changes = |var: &usize| {
            let reads = worlds.reach.reads.get(&worlds.vars[*var].name);
            reads.is_some_and(|reads| !reads.is_disjoint(inputs))
        };
        let all: Vec<usize> = (0..worlds.vars.len()).filter(changes).collect();
        let name = |var: &usize| &worlds.vars[*var].name;
        let alters = |var: &usize| worlds.reach.alters_the_wish(name(var), inputs);
        let wishes = all.iter().copied().filter(alters).collect();
        (all, wishes)
    }

    /// Returns for each settled world of a state true if a change of one of these inputs may lead out of the state.
    fn left(&self, number: usize, inputs: &[String]) -> Vec<bool> {
        let worlds = self.worlds;
        let (changes, _) = self.readers(&inputs.iter().cloned().collect());
        let here = Some(NodePlace::State(number));
        let leaves = |at: &usize| {
            let ends = worlds.changes(&worlds.all[*at], &changes, &[]);
            let mut ends = ends.iter();
            ends.any(|end| worlds.allowed(end) && worlds.classify(end) != here)
        };
        let rests = |at: &&usize| worlds.states[**at] == here && self.is_at_rest(**at);
        self.live.iter().filter(rests).map(leaves).collect()
    }
}
