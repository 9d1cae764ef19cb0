//! Sources of each fact, and the facts that a write can therefore change. Knows only names, no
//! world.

use std::collections::{BTreeMap, BTreeSet};

use crate::minted;
use crate::needs::is_one_of_several;
use crate::syntax::{Effect, Input, Life, atoms};
use crate::values::{brought, predicates};

/// Returns true if the verdict on an input compares one object with a wish. The members of a set
/// are part of the wish, and an object that is created once has none afterwards.
fn is_compared(life: &Life, input: &Input) -> bool {
    let compares = ["owned", "shared", "part", "record"].contains(&input.own.as_str());
    compares && !input.many && !(input.own == "owned" && life.creates(&input.name))
}

/// The inputs that each finite question depends on; `self` stands for the object.
pub(crate) struct Reach<'a> {
    life: &'a Life,
    pub(crate) reads: BTreeMap<String, BTreeSet<String>>,
    /// Of each single object that is compared with a wish: the names that point it out.
    pointers: BTreeMap<String, BTreeSet<String>>,
}

impl<'a> Reach<'a> {
    pub(crate) fn new(life: &'a Life) -> Self {
        let mut reach = Self {
            life,
            reads: BTreeMap::new(),
            pointers: BTreeMap::new(),
        };
        loop {
            let next = reach.round();
            if next == reach.reads {
                break;
            }
            reach.reads = next;
        }
        for input in life.inputs.iter().filter(|input| is_compared(life, input)) {
            let mut names = reach.closures(&input.lookup());
            names.insert(input.name.clone());
            // With another owner it belongs to another one.
            names.extend(input.of.iter().flat_map(|owner| reach.closure(owner)));
            reach.pointers.insert(input.name.clone(), names);
        }
        reach
    }

    /// Returns true if a change of these inputs alters only the wish for an object. The object that
    /// is found stays, and so does everything about it but its likeness to the wish.
    pub(crate) fn alters_the_wish(&self, name: &str, changed: &BTreeSet<String>) -> bool {
        let pointers = self.pointers.get(name);
        pointers.is_some_and(|pointers| !changed.iter().any(|one| pointers.contains(one)))
    }

    /// Returns true if a write by this effect alters only the wish for the object of an input. No
    /// lookup goes through the fields that are written into a part.
    pub(crate) fn wishes(&self, name: &str, effect: &Effect) -> bool {
        let target = self.life.input(&effect.on);
        match target.is_some_and(|target| target.own == "part") {
            true => name != effect.on && self.pointers.contains_key(name),
            false => self.alters_the_wish(name, &BTreeSet::from([effect.on.clone()])),
        }
    }

    /// Runs one round towards the least fixed point: a `given` adds the inputs of the facts that it
    /// queries.
    fn round(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut next = BTreeMap::new();
        for input in self
            .life
            .inputs
            .iter()
            .filter(|input| brought(self.life, input).is_some())
        {
            let mut reads = self.closure(&input.name);
            reads.extend(self.fact_reads(&atoms(input.retain.as_ref())));
            reads.extend(input.wanted_by.iter().flat_map(|path| self.closure(path)));
            if let Some(record) = self.life.noted(&input.name) {
                reads.extend(self.closure(&record.name));
            }
            for effect in &self.life.effects {
                let asked = effect.verb == "create" && effect.each;
                if effect.on == input.name && asked {
                    reads.extend(self.closures(&effect.from));
                }
                if effect.on == input.name && effect.verb == "apply" {
                    reads.extend(self.closures(&effect.from));
                    if is_one_of_several(self.life, effect) {
                        reads.extend(self.fact_reads(&atoms(effect.when.as_ref())));
                    }
                }
            }
            next.insert(input.name.clone(), reads);
        }
        for fact in &self.life.facts {
            let mut reads = self.closures(&fact.from);
            for (given, _) in &fact.chain {
                reads.extend(self.fact_reads(&given.atoms()));
            }
            next.insert(fact.name.clone(), reads);
        }
        next
    }

    fn fact_reads(&self, facts: &[String]) -> BTreeSet<String> {
        facts
            .iter()
            .filter_map(|fact| self.reads.get(fact))
            .flatten()
            .cloned()
            .collect()
    }

    /// The inputs behind these names.
    pub(crate) fn closures(&self, names: &[String]) -> BTreeSet<String> {
        names.iter().flat_map(|name| self.closure(name)).collect()
    }

    /// The inputs behind one name of a `from` or a lookup. Circles were refused before.
    fn closure(&self, path: &str) -> BTreeSet<String> {
        let name = path.split('.').next().unwrap_or_default();
        if self.life.fact(name).is_some() {
            return self.fact_reads(&[name.to_owned()]);
        }
        if let Some(value) = self.life.value(name) {
            let mut from = value.from.clone();
            if value.mint.is_some() {
                from.retain(|name| self.life.clock() != Some(name.as_str()));
            }
            let mut all = self.closures(&from);
            all.insert(name.to_owned());
            all.extend(self.fact_reads(&atoms(value.given.as_ref())));
            all.extend(self.fact_reads(&minted::until_facts(value)));
            return all;
        }
        if name == "request" {
            return BTreeSet::from([path.to_owned()]);
        }
        let Some(input) = self.life.input(name) else {
            return BTreeSet::from(["self".to_owned()]);
        };
        let mut all = self.closures(&input.lookup());
        all.extend(self.fact_reads(&atoms(input.given.as_ref())));
        all.insert(name.to_owned());
        // A write of a group is one of its members.
        all.extend(input.group.clone());
        let members = self.life.members(name);
        all.extend(members.flat_map(|member| self.closure(&member.name)));
        all
    }

    /// Returns the facts that may change after a write by this effect.
    pub(crate) fn affected(&self, effect: &Effect) -> BTreeSet<String> {
        let own = self
            .life
            .input(&effect.on)
            .map_or("", |input| input.own.as_str());
        if own == "part" {
            return self.direct(effect);
        }
        let through = self
            .reads
            .iter()
            .filter(|(_, reads)| reads.contains(&effect.on));
        let names = through.map(|(name, _)| name.clone());
        names
            .filter(|name| !(own == "poll" && *name == effect.on))
            .collect()
    }

    /// Returns the direct readers of the target: a write to a part reaches readers of the object
    /// itself, but not lookups through it.
    fn direct(&self, effect: &Effect) -> BTreeSet<String> {
        let reads = |name: &String| self.is_made_of(name, &effect.on);
        let mut all = BTreeSet::from([effect.on.clone()]);
        let facts = self
            .life
            .facts
            .iter()
            .filter(|fact| fact.from.iter().any(reads));
        all.extend(facts.map(|fact| fact.name.clone()));
        let told = all.clone();
        let asks = |other: &&Effect| {
            let mut asked = atoms(other.when.as_ref())
                .into_iter()
                .filter(|asked| *asked != other.on);
            is_one_of_several(self.life, other) && asked.any(|asked| told.contains(&asked))
        };
        let builders = self
            .life
            .effects
            .iter()
            .filter(|other| asks(other) || other.from.iter().any(reads));
        all.extend(
            builders
                .map(|other| other.on.clone())
                .filter(|on| self.reads.contains_key(on)),
        );
        all
    }

    /// Returns true if a name is this input, or a value computed from it. Earlier checks refuse
    /// circles.
    fn is_made_of(&self, name: &str, input: &str) -> bool {
        let value = self.life.value(name);
        name == input
            || value.is_some_and(|value| value.from.iter().any(|one| self.is_made_of(one, input)))
    }

    /// The inputs that something reads, be it a fact, a builder, a field or a predicate.
    pub(crate) fn used(&self) -> BTreeSet<String> {
        let life = self.life;
        let mut used: BTreeSet<String> = BTreeSet::new();
        for fact in &life.facts {
            used.extend(self.reads[&fact.name].iter().cloned());
        }
        for effect in &life.effects {
            used.insert(effect.on.clone());
            used.extend(self.closures(&effect.from));
            used.extend(effect.key.iter().flat_map(|key| self.closure(key)));
        }
        // A user of a minted value also uses its creation time.
        let taken = |name: &String| life.effects.iter().any(|one| one.from.contains(name));
        let minted = life.minted().filter(|(value, _)| taken(&value.name));
        used.extend(minted.flat_map(|(value, _)| value.from.iter().cloned()));
        used.extend(life.fields.iter().flat_map(|(_, from)| self.closures(from)));
        let asked = predicates(life)
            .into_iter()
            .flat_map(|(_, pred)| pred.atoms());
        used.extend(self.closures(&asked.collect::<Vec<_>>()));
        used
    }
}
