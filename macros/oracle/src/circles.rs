//! Facts that depend on themselves: through `from`, `given`, lookups, and the builders that decide between Stale and Current.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::Findings;
use crate::minted;
use crate::needs::{is_one_of_several, needed};
use crate::ownership;
use crate::syntax::{Effect, Life, atoms, objects};
use crate::values::{brought, root};

/// Returns everything that is queried, with the names that it queries itself.
pub(crate) fn build_dependencies(life: &Life) -> BTreeMap<String, BTreeSet<String>> {
    let source = |path: &String| match life.input(root(path)) {
        Some(input) => objects(&input.name),
        None => root(path).to_owned(),
    };
    let mut asks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for input in &life.inputs {
        let fetched = asks.entry(objects(&input.name)).or_default();
        fetched.extend(input.lookup().iter().map(source));
        fetched.extend(input.of.iter().map(source));
        fetched.extend(life.noted(&input.name).map(|record| objects(&record.name)));
        fetched.extend(atoms(input.given.as_ref()));
        if brought(life, input).is_some() {
            let fact = asks.entry(input.name.clone()).or_default();
            fact.insert(objects(&input.name));
            fact.extend(life.members(&input.name).map(|one| objects(&one.name)));
            fact.extend(input.of.iter().map(source));
            fact.extend(atoms(input.retain.as_ref()));
            fact.extend(life.noted(&input.name).map(|record| objects(&record.name)));
            let builds = |effect: &Effect| ["apply", "create"].contains(&effect.verb.as_str());
            let is_builder = |effect: &&Effect| effect.on == input.name && builds(effect);
            for builder in life.effects.iter().filter(is_builder) {
                fact.extend(builder.from.iter().map(source));
                let when = atoms(builder.when.as_ref());
                let decides = is_one_of_several(life, builder);
                fact.extend(
                    when.into_iter()
                        .filter(|asked| decides && *asked != input.name),
                );
            }
        }
    }
    for value in &life.lets {
        let all = asks.entry(value.name.clone()).or_default();
        all.extend(value.from.iter().map(source));
        all.extend(atoms(value.given.as_ref()));
        all.extend(minted::until_facts(value));
    }
    for fact in &life.facts {
        let all = asks.entry(fact.name.clone()).or_default();
        all.extend(fact.from.iter().map(source));
        all.extend(fact.chain.iter().flat_map(|(given, _)| given.atoms()));
    }
    for effect in &life.effects {
        asks.insert(format!("?{}", effect.name), needed(life, &effect.name));
    }
    asks
}

/// Reports every group of names that depend on each other. Names for predicates come first, because
/// all others query their predicates.
pub(crate) fn circles(life: &Life, found: &mut Findings) {
    let names = life
        .derived
        .iter()
        .filter(|(name, _)| life.derived(name).is_some());
    let stands_for = names.map(|(name, pred)| (name.clone(), pred.atoms().into_iter().collect()));
    groups(&stands_for.collect(), found);
    if found.has_errors() {
        return;
    }
    let asks = build_dependencies(life);
    ownership::circular(life, &asks, found);
    if !found.has_errors() {
        groups(&asks, found);
    }
}

fn groups(asks: &BTreeMap<String, BTreeSet<String>>, found: &mut Findings) {
    let after = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = asks[start].iter().collect();
        while let Some(name) = next.pop() {
            if asks.contains_key(name) && seen.insert(name.clone()) {
                next.extend(&asks[name]);
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        asks.keys().map(|name| (name, after(name))).collect();
    let mut groups: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (name, all) in reached.iter().filter(|(name, all)| all.contains(**name)) {
        let group = all.iter().filter(|other| reached[other].contains(*name));
        groups.insert(group.map(|name| plain(name)).collect());
    }
    for group in groups {
        let first = group.first().expect("a circle has a member").clone();
        found.say_one_of("LC066", first, group);
    }
}

fn plain(name: &str) -> String {
    match name.strip_prefix('?') {
        Some(effect) => format!("refused({effect})"),
        None => name.trim_matches(['[', ']']).to_owned(),
    }
}
