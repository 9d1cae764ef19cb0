//! Meaning of a lifecycle while it runs: the place of a world, the action taken there, and the
//! worlds that it may lead to. For tests that compare a driver with the language instead of with
//! its own tables.

pub mod calls;
mod readings;
mod told;
pub mod truth;

use std::collections::{BTreeMap, BTreeSet};

use crate::answer::readable;
use crate::drive::rests_at;
use crate::findings::Findings;
use crate::moves::{ExternalMove, Move};
use crate::syntax::Life;
use crate::worlds::{LIMIT, NodePlace, World, Worlds};

/// A world by name: facts and built-in facts as they are called, `deleting`, `claimed`, and `?effect` for its refusal.
pub type Named = BTreeMap<String, String>;

/// Place of a world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorldClass {
    /// The object is being deleted.
    Deleting,
    /// A write was refused that no state mentions.
    Refused,
    /// In the state of this name.
    State(String),
}

/// Action taken in a world.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The finalizer is put on.
    Claim,
    /// The effect of this name runs.
    Run(String),
    /// The finalizer is taken away.
    Release,
    /// Nothing.
    Rest,
}

/// Facts, with their values, that the environment may bring about in a world.
pub type FactChanges = Vec<(String, String)>;

/// A condition with its status and reason, if it is written at all.
pub type ReportedCondition = (String, Option<(String, String)>);

/// The meaning of one lifecycle without findings.
pub struct Meaning<'a> {
    worlds: &'a Worlds<'a>,
    vows: Vec<ExternalMove>,
}

/// Runs something with the meaning of a text; `None` where it cannot be read, or has too many worlds.
pub fn with_meaning<T>(text: &str, run: impl FnOnce(&Meaning<'_>) -> T) -> Option<T> {
    readable(text, LIMIT, |worlds| {
        run(&Meaning {
            worlds,
            vows: worlds.vows(),
        })
    })
}

impl Meaning<'_> {
    pub(crate) fn life(&self) -> &Life {
        self.worlds.life
    }

    /// The world with these values; `None` where a fact is missing or has no such value.
    fn numbered(&self, named: &Named) -> Option<World> {
        let value = |var: &crate::worlds::Var| Some(self.worlds.find_value(named.get(&var.name)?));
        self.worlds.vars.iter().map(value).collect()
    }

    fn named(&self, world: &World) -> Named {
        let pairs = self.worlds.vars.iter().zip(world);
        let pairs = pairs.map(|(var, value)| (var.name.clone(), self.worlds.spell(*value)));
        pairs.collect()
    }

    /// Returns true if the checker accounted for this world.
    pub fn knows(&self, named: &Named) -> bool {
        let world = self.numbered(named);
        world.is_some_and(|world| self.worlds.all.contains(&world))
    }

    /// Returns the place of the world.
    pub fn classify(&self, named: &Named) -> Option<WorldClass> {
        let place = self.worlds.classify(&self.numbered(named)?)?;
        Some(match place {
            NodePlace::Deleting => WorldClass::Deleting,
            NodePlace::Refused => WorldClass::Refused,
            NodePlace::State(state) => WorldClass::State(self.life().states[state].name.clone()),
        })
    }

    /// Returns the action taken in the world.
    pub fn step(&self, named: &Named) -> Step {
        let chosen = self.numbered(named).map(|world| self.worlds.policy(&world));
        match chosen.flatten() {
            None => Step::Rest,
            Some(Move::Claim(_)) => Step::Claim,
            Some(Move::Run(act)) => Step::Run(self.worlds.acts[act].name.clone()),
            Some(Move::Release) => Step::Release,
        }
    }

    /// Returns true if the environment may leave the world as it is forever.
    pub fn is_at_rest(&self, named: &Named) -> bool {
        let Some(world) = self.numbered(named) else {
            return false;
        };
        self.worlds.policy(&world).is_none() && rests_at(self.worlds, self.worlds.classify(&world))
    }

    /// Returns true if the world is a goal.
    pub fn is_goal(&self, named: &Named) -> bool {
        let place = self.numbered(named).and_then(|w| self.worlds.classify(&w));
        matches!(place, Some(NodePlace::State(state)) if self.life().states[state].goal)
    }

    /// Returns true if something is certainly ours and our finalizer is missing.
    pub fn is_seized(&self, named: &Named) -> bool {
        self.numbered(named)
            .is_some_and(|world| self.worlds.is_seized(&world))
    }

    /// Returns true if an action may lead from one world to the other.
    pub fn leads(&self, from: &Named, step: &Step, to: &Named) -> bool {
        let (Some(before), Some(after)) = (self.numbered(from), self.numbered(to)) else {
            return false;
        };
        match step {
            Step::Rest | Step::Release => before == after,
            Step::Claim => {
                let mut claimed = before;
                self.worlds.claimed.iter().for_each(|var| claimed[*var] = 1);
                claimed == after
            }
            Step::Run(name) => {
                let act = self.worlds.acts.iter().find(|act| act.name == *name);
                let ends = act.map(|act| {
                    let mut found = Findings::default();
                    self.worlds.outcomes(act, &before, &mut found)
                });
                // A record of a set is incomplete: a missing member is created next.
                let more = act.is_some_and(|act| self.worlds.leaves_more(act, &before, &after));
                let at = self.worlds.all.get_index_of(&after);
                more || at.is_some_and(|at| ends.is_some_and(|ends| ends.contains(&at)))
            }
        }
    }

    /// Returns true if one world may become the other without any action: a poll is answered for
    /// the first time, or a refusal is old.
    pub fn ripens(&self, from: &Named, to: &Named) -> bool {
        let is_false = |name: &String| to.get(name).is_some_and(|said| said == "false");
        let answered = self.newly_answered(from, to);
        let forgotten =
            |name: &String| name.starts_with('?') && (is_false(name) || !answered.is_empty());
        let mut changed = from
            .iter()
            .filter(|(name, value)| to.get(*name) != Some(*value));
        changed.all(|(name, _)| self.reads(name, &answered) || forgotten(name))
    }

    /// Returns true if one world may become the other by the passing of time alone. Time may also
    /// answer a poll or make a refusal old.
    pub fn passes(&self, from: &Named, to: &Named) -> bool {
        let mut told = self.newly_answered(from, to);
        let life = self.life();
        told.extend(
            life.inputs
                .iter()
                .filter(|i| i.own == "clock")
                .map(|i| &i.name),
        );
        let mut changed = from
            .iter()
            .filter(|(name, value)| to.get(*name) != Some(*value));
        changed.all(|(name, _)| name.starts_with('?') || self.reads(name, &told))
    }

    /// The second world as it would be if no poll had been answered for the first time since the first one.
    pub fn unripe(&self, from: &Named, to: &Named) -> Named {
        let answered = self.newly_answered(from, to);
        let before = |(name, value): (&String, &String)| {
            let value = from
                .get(name)
                .filter(|_| self.reads(name, &answered))
                .unwrap_or(value);
            (name.clone(), value.clone())
        };
        to.iter().map(before).collect()
    }

    /// Polls that were answered for the first time.
    fn newly_answered(&self, from: &Named, to: &Named) -> Vec<&String> {
        let said = |world: &Named, name: &String, value: &str| {
            world.get(name).is_some_and(|said| said == value)
        };
        let polls = self
            .life()
            .inputs
            .iter()
            .filter(|input| input.own == "poll");
        let is_new = |name: &&String| said(from, name, "Unknown") && said(to, name, "Known");
        polls.map(|input| &input.name).filter(is_new).collect()
    }

    /// Returns true if a fact depends on one of these inputs.
    fn reads(&self, fact: &str, inputs: &[&String]) -> bool {
        let reads = self.worlds.reach.reads.get(fact);
        reads.is_some_and(|reads| inputs.iter().any(|input| reads.contains(*input)))
    }

    /// Returns every way in which the environment keeps a promise in a world. Each leads to another
    /// world.
    pub fn promised(&self, named: &Named) -> Vec<FactChanges> {
        let Some(at) = self
            .numbered(named)
            .and_then(|w| self.worlds.all.get_index_of(&w))
        else {
            return Vec::new();
        };
        let mut ways = BTreeSet::new();
        for vow in self
            .vows
            .iter()
            .filter(|vow| !self.worlds.promise_targets(vow, at).is_empty())
        {
            for forced in &vow.sets {
                let brought = forced.iter().map(|(var, value)| {
                    (
                        self.worlds.vars[*var].name.clone(),
                        self.worlds.spell(*value),
                    )
                });
                ways.insert(brought.collect::<FactChanges>());
            }
        }
        ways.into_iter().collect()
    }

    /// Returns true if a user suspended the object there. The operator then queries nothing outside
    /// Kubernetes, and writes only the suspension itself.
    pub fn is_suspended(&self, named: &Named) -> bool {
        let world = self.numbered(named);
        world.is_some_and(|world| {
            let waits = self.worlds.is_even_deleting(&world);
            match self.worlds.is_deleting(&world) {
                true => waits && self.worlds.is_left(&world),
                false => self.worlds.is_suspended(&world),
            }
        })
    }

    /// Returns true if an object that is being deleted cannot go yet there.
    pub fn is_left(&self, named: &Named) -> bool {
        let world = self.numbered(named);
        world.is_some_and(|world| self.worlds.is_left(&world))
    }

    /// The steps that are not over there, for sure.
    pub fn undone(&self, named: &Named) -> Vec<String> {
        let world = self.numbered(named);
        world.map_or_else(Vec::new, |world| self.worlds.undone(&world))
    }

    /// Returns the facts that mean that something is ours in a world.
    pub fn held_facts(&self, named: &Named) -> Vec<String> {
        let world = self.numbered(named).unwrap_or_default();
        let vars = self.worlds.vars.iter().enumerate().zip(&world);
        let held = vars.filter(|((var, _), value)| self.worlds.is_held(*var, **value));
        held.map(|((_, var), _)| var.name.clone()).collect()
    }

    /// Each fact with the values that an answer may have, refusals aside.
    pub fn answers(&self) -> Vec<(String, Vec<String>)> {
        let asked = self.worlds.vars.iter().filter(|var| !var.is_refusal());
        let spelled =
            |var: &crate::worlds::Var| var.answers.iter().map(|v| self.worlds.spell(*v)).collect();
        asked.map(|var| (var.name.clone(), spelled(var))).collect()
    }
}
