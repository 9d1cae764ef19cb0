//! Moves between worlds: our one effect with its outcomes, and the promises of the environment.

use std::collections::BTreeSet;

use crate::broken::Rule;
use crate::findings::Findings;
use crate::minted::expiring;
use crate::worlds::{Act, Test, Value, World, Worlds};

/// Move of this operator in a world, by the id of the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Claim(Option<usize>),
    Run(usize),
    Release,
}

/// A change that the environment makes by itself.
pub(crate) struct ExternalMove {
    /// Repeats itself once for each member of a set, so it proves no loop.
    pub(crate) again: bool,
    pub(crate) when: Test,
    pub(crate) sets: Vec<Vec<(usize, Value)>>,
}

type Forced<'a> = &'a [(usize, Value)];

impl Worlds<'_> {
    /// Returns the first enabled effect, or on deletion the undo of the last acquired fact.
    pub(crate) fn policy(&self, world: &World) -> Option<Move> {
        let deleting = self.is_deleting(world);
        let aside = self.is_ignored(world) || self.is_suspended(world);
        if (self.is_seized(world) || self.is_due(world)) && !deleting && !aside {
            return Some(Move::Claim(None));
        }
        if let Some(decided) = self.torn_down(world).filter(|_| deleting) {
            return decided;
        }
        let order: Vec<usize> = if deleting && !self.forgets(Rule::OffWhenDeleting) {
            self.undoes()
        } else {
            (0..self.acts.len()).collect()
        };
        for at in order {
            let act = &self.acts[at];
            let waits = deleting && act.frees.iter().any(|var| self.is_held(*var, world[*var]));
            if waits && !self.enabled(act, world) && !self.forgets(Rule::UndoesWait) {
                return None;
            }
            if self.enabled(act, world) {
                let unclaimed = self.claimed.is_some_and(|claimed| world[claimed] == 0);
                let first = unclaimed && !deleting && act.claims;
                if first && self.forgets(Rule::ClaimFirst) {
                    return None;
                }
                return Some(if first {
                    Move::Claim(Some(at))
                } else {
                    Move::Run(at)
                });
            }
        }
        (deleting && !self.is_left(world)).then_some(Move::Release)
    }

    fn undoes(&self) -> Vec<usize> {
        let mut order: Vec<usize> = Vec::new();
        let named = self.acts.iter().filter_map(|act| act.undo.as_ref());
        let numbers = named.filter_map(|undo| self.acts.iter().position(|act| act.name == *undo));
        let mut numbers: Vec<usize> = numbers.collect();
        if !self.forgets(Rule::ReverseOrder) {
            numbers.reverse();
        }
        for number in numbers {
            if !order.contains(&number) {
                order.push(number);
            }
        }
        order
    }

    /// Returns all assignments that agree with `forced`, have any value for `chosen` and otherwise
    /// equal `from`.
    pub(crate) fn changes(&self, from: &World, chosen: &[usize], forced: Forced<'_>) -> Vec<World> {
        let mut all = Vec::new();
        let mut world = vec![Value::MAX; self.vars.len()];
        self.change(0, from, chosen, forced, &mut world, &mut all);
        all
    }

    fn change(
        &self,
        at: usize,
        from: &World,
        chosen: &[usize],
        forced: Forced<'_>,
        world: &mut World,
        all: &mut Vec<World>,
    ) {
        let Some(&var) = self.order.get(at) else {
            all.push(world.clone());
            return;
        };
        let only = self.only_value(var, from, chosen, forced, world);
        for &value in self.vars[var].values(&only) {
            world[var] = value;
            self.change(at + 1, from, chosen, forced, world, all);
        }
    }

    /// The one value that the variable may have, unless it may have any.
    fn only_value(
        &self,
        var: usize,
        from: &World,
        chosen: &[usize],
        forced: Forced<'_>,
        world: &World,
    ) -> Option<Value> {
        if let Some(other) = self.unasked(var, world) {
            return Some(other);
        }
        if let Some((_, value)) = forced.iter().find(|(forced, _)| *forced == var) {
            return Some(*value);
        }
        let was_asked = self.unasked(var, from).is_none() || self.forgets(Rule::GivenAnew);
        if self.vars[var].is_refusal() {
            return Some(if was_asked { from[var] } else { 0 });
        }
        (was_asked && !chosen.contains(&var)).then(|| from[var])
    }

    /// Returns the alternatives that a write may establish.
    pub(crate) fn alternatives(&self, act: &Act) -> Vec<Vec<(usize, Value)>> {
        let mut all = act.sets.clone();
        if all.is_empty()
            && let Some(on) = act.on
        {
            let words: &[&str] = match (act.verb.as_str(), act.each) {
                ("apply", true) => &["Surplus", "Draining", "Foreign", "Current"],
                ("apply", false) if self.may_lack(on) => &["Current", "Terminating"],
                ("apply", false) => &["Current"],
                ("adopt", _) => &["Stale", "Current"],
                ("create", _) => &["New"],
                ("note", _) if self.is_set(on) => &["Surplus", "Draining", "Foreign", "Current"],
                ("note", _) => &["Terminating", "Made"],
                (_, false) if self.is_once(on) => &["Terminating", "Gone"],
                (_, true) => &["Draining", "Foreign", "Current"],
                (_, false) => &["Terminating", "Absent"],
            };
            let fits = |value: &Value| self.vars[on].answers.contains(value);
            all = words
                .iter()
                .map(|word| self.find_value(word))
                .filter(fits)
                .map(|value| vec![(on, value)])
                .collect();
        }
        if self.forgets(Rule::EffectAlternatives) {
            all.truncate(1);
        }
        all
    }

    /// Returns true if a note leads to a world that still lacks members of its set.
    pub(crate) fn leaves_more(&self, act: &Act, before: &World, after: &World) -> bool {
        let behind = self.find_value("Behind");
        let on = act.on.filter(|on| act.verb == "note" && self.is_set(*on));
        on.is_some_and(|on| {
            let set = [(on, behind)];
            let ends = self.changes(before, &self.reached(act), &set);
            ends.contains(after) && self.stays_itself(&act.wishes, before, after)
        })
    }

    /// Returns the effect that decides how an object is to be: the first one that is meant and has
    /// its arguments.
    pub(crate) fn builder(&self, var: usize, world: &World) -> Option<usize> {
        self.acts.iter().position(|act| {
            let builds = act.verb == "apply" && !act.each && act.on == Some(var);
            builds
                && act.when.as_ref().is_none_or(|when| self.holds(when, world))
                && self.has_arguments(act, world)
        })
    }

    fn is_set(&self, var: usize) -> bool {
        let input = self.life.input(&self.vars[var].name);
        input.is_some_and(|input| input.many)
    }

    /// Returns true if the object of an input exists only sometimes.
    fn may_lack(&self, var: usize) -> bool {
        let input = self.life.input(&self.vars[var].name);
        input.is_some_and(|input| input.wanted_by.is_some())
    }

    /// Returns the alternatives of a write in a world. A write that creates deletes nothing.
    fn alternatives_in(&self, act: &Act, world: &World) -> Vec<Vec<(usize, Value)>> {
        let mut all = self.alternatives(act);
        let absent = self.find_value("Absent");
        let gone = |on: &usize| self.may_lack(*on) && world[*on] == absent;
        if let Some(on) = act.on.filter(gone) {
            let deleted = (on, self.find_value("Terminating"));
            all.retain(|alternative| !alternative.contains(&deleted));
        }
        all
    }

    fn is_once(&self, var: usize) -> bool {
        self.life.creates(&self.vars[var].name)
    }

    /// Returns the worlds in which an effect may end, a refusal included.
    pub(crate) fn outcomes(
        &self,
        act: &Act,
        world: &World,
        found: &mut Findings,
    ) -> BTreeSet<usize> {
        let alternatives = self.alternatives_in(act, world);
        let mut ends: Vec<World> = Vec::new();
        for forced in &alternatives {
            if act.verb == "call" {
                let keepers = expiring(self.life).into_iter();
                let keepers: Vec<usize> = keepers.filter_map(|name| self.var(name)).collect();
                let exact = self.changes(world, &keepers, forced);
                if !exact.iter().any(|end| self.allowed(end)) {
                    found.report("LC013", &act.name);
                }
            }
            let set = |var: &usize| forced.iter().any(|(other, _)| other == var);
            let chosen: Vec<usize> = self
                .reached(act)
                .into_iter()
                .filter(|var| !set(var))
                .collect();
            let all = self.changes(world, &chosen, forced).into_iter();
            let wishes: Vec<usize> = act.wishes.iter().copied().filter(|var| !set(var)).collect();
            ends.extend(all.filter(|end| self.stays_itself(&wishes, world, end)));
        }
        let set: Vec<usize> = alternatives.iter().flatten().map(|(var, _)| *var).collect();
        ends.retain(|end| self.allowed(end) && self.acquires_only(&set, world, end));
        let is_note = ["record", "noted"].contains(&act.own.as_str());
        let refusable = act.verb != "delete" && !is_note && !self.forgets(Rule::Refusal);
        if refusable {
            ends.extend(self.changes(world, &[], &[(act.refused, 1)]));
        }
        ends.iter()
            .filter_map(|end| self.all.get_index_of(end))
            .collect()
    }

    /// Returns true if a predicate that holds before a write may no longer hold after it.
    pub(crate) fn ends_once(&self, act: &Act, world: &World, holds: &Test) -> bool {
        let reached = self.reached(act);
        self.alternatives(act).iter().any(|forced| {
            let ends = self.changes(world, &reached, forced);
            let mut ends = ends.iter().filter(|end| self.allowed(end));
            let set = |var: &usize| forced.iter().any(|(other, _)| other == var);
            let wishes: Vec<usize> = act.wishes.iter().copied().filter(|var| !set(var)).collect();
            ends.any(|end| self.stays_itself(&wishes, world, end) && !self.holds(holds, end))
        })
    }

    fn reached(&self, act: &Act) -> Vec<usize> {
        let mut all = act.affected.clone();
        if self.forgets(Rule::Frame) {
            all.retain(|var| Some(*var) == act.on);
        }
        if self.forgets(Rule::PollStays) && act.own == "poll" {
            all.extend(act.on);
        }
        if self.forgets(Rule::PartReach) && act.own == "part" {
            let name = act.on.map_or("", |on| self.vars[on].name.as_str());
            let through = |var: &usize| {
                self.reach
                    .reads
                    .get(&self.vars[*var].name)
                    .is_some_and(|reads| reads.contains(name))
            };
            all.extend((0..self.vars.len()).filter(through));
        }
        all
    }

    /// Returns true if the verdicts of which only the wish was altered stay, or stay verdicts on
    /// the likeness to the wish.
    pub(crate) fn stays_itself(&self, wishes: &[usize], before: &World, after: &World) -> bool {
        let alike = ["Stale", "Current"].map(|word| self.find_value(word));
        let stays = |var: &usize| {
            let pair = [before[*var], after[*var]];
            let asked = [before, after].map(|world| self.unasked(*var, world).is_none());
            asked.contains(&false)
                || pair[0] == pair[1]
                || pair.iter().all(|value| alike.contains(value))
        };
        self.forgets(Rule::WishesOnly) || wishes.iter().all(stays)
    }

    /// Returns true if the effect acquires only facts that it sets.
    fn acquires_only(&self, set: &[usize], before: &World, after: &World) -> bool {
        (0..self.vars.len()).all(|var| {
            set.contains(&var) || self.is_held(var, before[var]) || !self.is_taken(var, after[var])
        })
    }

    /// The declared promises and those that every lifecycle has.
    pub(crate) fn vows(&self) -> Vec<ExternalMove> {
        let mut vows = Vec::new();
        for promise in &self.life.promises {
            let number = |pair: &(String, String)| {
                (
                    self.var(&pair.0).expect("names were checked before"),
                    self.find_value(&pair.1),
                )
            };
            let mut sets: Vec<Vec<(usize, Value)>> = promise
                .sets
                .iter()
                .map(|assign| assign.iter().map(number).collect())
                .collect();
            if self.forgets(Rule::PromiseAlternatives) {
                sets.truncate(1);
            }
            vows.push(ExternalMove {
                again: false,
                when: self.test(&promise.when),
                sets,
            });
        }
        for input in &self.life.inputs {
            let Some(var) = self.var(&input.name) else {
                continue;
            };
            let is = |word: &str| Test::Is(var, vec![self.find_value(word)]);
            let to = |words: &[&str]| {
                words
                    .iter()
                    .map(|word| vec![(var, self.find_value(word))])
                    .collect()
            };
            let mut vow = |again: bool, when: &str, sets: &[&str]| {
                vows.push(ExternalMove {
                    again,
                    when: is(when),
                    sets: to(sets),
                });
            };
            let once = self.life.creates(&input.name);
            match (input.own.as_str(), input.many) {
                ("owned", true) if once => {
                    vow(false, "Draining", &["Foreign", "Current"]);
                    vow(true, "New", &["Behind"]);
                }
                ("owned", false) if once => vow(false, "Terminating", &["Gone"]),
                ("owned" | "shared", true) | ("group", _) if !self.forgets(Rule::Drains) => {
                    vow(false, "Draining", &["Foreign", "Current"]);
                    vow(true, "Draining", &["Behind"]);
                }
                ("owned", false) if input.wanted_by.is_some() => {
                    vow(false, "Terminating", &["Absent", "Current"]);
                }
                ("owned" | "shared", false) if !self.forgets(Rule::Terminates) => {
                    vow(false, "Terminating", &["Absent"])
                }
                ("poll", _) if !self.forgets(Rule::Answers) => vow(false, "Unknown", &["Known"]),
                _ => {}
            }
        }
        vows
    }

    /// Returns the worlds that a promise leads to, except the world itself.
    pub(crate) fn promise_targets(&self, vow: &ExternalMove, at: usize) -> BTreeSet<usize> {
        let world = &self.all[at];
        if !self.holds(&vow.when, world) {
            return BTreeSet::new();
        }
        let ends = vow
            .sets
            .iter()
            .flat_map(|forced| self.changes(world, &[], forced));
        ends.filter_map(|end| self.all.get_index_of(&end))
            .filter(|end| *end != at)
            .collect()
    }
}
