//! Minted values: their keepers, their sources, and the time of their renewal.

use std::collections::BTreeSet;

use crate::findings::Findings;
use crate::syntax::{Let, Life, Mint, Pred};

impl Life {
    /// Each minted value.
    pub(crate) fn minted(&self) -> impl Iterator<Item = (&Let, &Mint)> {
        let all = self.lets.iter();
        all.filter_map(|value| Some((value, value.mint.as_ref()?)))
    }

    /// Returns the predicates that are ruled out: by the author, and by the meaning of making a
    /// value anew.
    pub(crate) fn ruled_out(&self) -> Vec<Pred> {
        let mut all = self.nevers.clone();
        for (_, mint) in self.minted() {
            let current = vec!["Current".to_owned()];
            let current = Box::new(Pred::Is(mint.keeper.clone(), Some(current)));
            let until = mint.until.clone().map(Box::new);
            all.extend(until.map(|until| Pred::And(until, current)));
        }
        all
    }
}

/// Makes the builder of a keeper need the sources of the minted values that it takes.
pub(crate) fn makings_are_needed(life: &mut Life) {
    for at in 0..life.effects.len() {
        let effect = &life.effects[at];
        let mut all = effect.from.clone();
        let mut next = 0;
        while let Some(name) = all.get(next) {
            next += 1;
            let taken = life.minted().find(|(value, _)| value.name == *name);
            let Some((value, mint)) = taken else { continue };
            if effect.verb != "apply" || mint.keeper != effect.on {
                continue;
            }
            let clock = life.clock();
            let known = |name: &&String| {
                let is_there = life.input(name).is_some() || life.value(name).is_some();
                is_there && clock != Some(name.as_str())
            };
            for one in value.from[1..].iter().filter(known) {
                if !all.contains(one) {
                    all.push(one.clone());
                }
            }
        }
        life.effects[at].from = all;
    }
}

/// Reports a builder of a keeper that does not take its value, another user of the value, and a
/// circle of values.
pub(crate) fn declared(life: &Life, found: &mut Findings) {
    for (value, mint) in life.minted() {
        let builds = life
            .effects
            .iter()
            .filter(|effect| effect.verb == "apply" && effect.on == mint.keeper);
        let builders: Vec<_> = builds.collect();
        let takes = builders.iter().all(|one| one.from.contains(&value.name));
        if builders.is_empty() || !takes {
            found.report("LC151", &value.name);
        }
    }
    readers(life, found);
    circles(life, found);
}

fn readers(life: &Life, found: &mut Findings) {
    let keeper = |name: &String| {
        let taken = life.minted().find(|(value, _)| value.name == *name);
        taken.map(|(_, mint)| &mint.keeper)
    };
    let mut look = |place: &String, from: &[String], builds: Option<&String>| {
        let others = from.iter().filter_map(keeper);
        if others.into_iter().any(|keeper| builds != Some(keeper)) {
            found.report("LC152", place);
        }
    };
    for value in &life.lets {
        let own = value.mint.as_ref().map(|mint| &mint.keeper);
        look(&value.name, &value.from, own);
    }
    for fact in &life.facts {
        look(&fact.name, &fact.from, None);
    }
    for input in &life.inputs {
        look(&input.name, &input.from, None);
    }
    for effect in &life.effects {
        let builds = (effect.verb == "apply").then_some(&effect.on);
        look(&effect.name, &effect.from, builds);
    }
    for (field, from) in &life.fields {
        look(field, from, None);
    }
}

/// Returns the keepers that must exist before the value in this keeper is made.
fn before<'a>(life: &'a Life, keeper: &'a String) -> BTreeSet<&'a String> {
    let mut all = BTreeSet::new();
    let mut open = vec![keeper];
    while let Some(next) = open.pop() {
        let kept = life.minted().filter(|(_, mint)| mint.keeper == *next);
        let from = kept.flat_map(|(value, _)| &value.from[1..]);
        let inputs = from.filter(|name| life.input(name).is_some());
        open.extend(inputs.filter(|name| all.insert(*name)));
    }
    all
}

fn circles(life: &Life, found: &mut Findings) {
    let mut groups: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (_, mint) in life.minted() {
        let needed = before(life, &mint.keeper);
        if !needed.contains(&mint.keeper) {
            continue;
        }
        let back = |other: &&&String| before(life, other).contains(&mint.keeper);
        let circle: BTreeSet<&String> = needed.iter().filter(back).copied().collect();
        let values = life
            .minted()
            .filter(|(_, one)| circle.contains(&one.keeper));
        groups.insert(values.map(|(value, _)| value.name.clone()).collect());
    }
    for group in groups {
        let first = group.first().expect("a circle has a member").clone();
        found.say_one_of("LC153", first, group);
    }
}

/// Returns the keepers of the minted values that are made anew. Such a keeper differs then.
pub(crate) fn expiring(life: &Life) -> Vec<&String> {
    let all = life.minted().filter(|(_, mint)| mint.until.is_some());
    all.map(|(_, mint)| &mint.keeper).collect()
}

/// Returns the names that `until` queries.
pub(crate) fn until_facts(value: &Let) -> Vec<String> {
    let until = value.mint.as_ref().and_then(|mint| mint.until.as_ref());
    until.map(Pred::atoms).unwrap_or_default()
}
