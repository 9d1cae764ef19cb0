//! The transitions of a declaration, one edge at a time: each left out, and each other one added.

use super::{Mutant, Source, item_name};

/// An edge between declared states, by their names.
pub type Edge = (String, String);

/// Without a state that was left out.
pub(super) fn without(source: &Source, caused: &[Edge], state: &str) -> Source {
    let kept = caused
        .iter()
        .filter(|(from, to)| from != state && to != state);
    with_transitions(source, &kept.cloned().collect::<Vec<_>>())
}

pub(super) fn changed(source: &Source, caused: &[Edge]) -> Vec<Mutant> {
    if source.items("transitions").is_empty() {
        return Vec::new();
    }
    let states = source.items("states").iter();
    let states: Vec<String> = states.map(|state| item_name(state)).collect();
    let mut all = Vec::new();
    for from in &states {
        for to in states.iter().filter(|to| *to != from) {
            let edge = (from.clone(), to.clone());
            let mut changed = caused.to_vec();
            let what = match caused.iter().position(|other| *other == edge) {
                Some(at) => {
                    changed.remove(at);
                    "drop"
                }
                None => {
                    changed.push(edge);
                    "add"
                }
            };
            let how = format!("transitions: {what} {from} -> {to}");
            all.push(Mutant::new(how, with_transitions(source, &changed)));
        }
    }
    all
}

fn with_transitions(source: &Source, edges: &[Edge]) -> Source {
    let item = |(from, to): &Edge| {
        let words = [from.as_str(), "->", to.as_str(), ";"];
        words.map(str::to_owned).to_vec()
    };
    source.with_section("transitions", |items| {
        *items = edges.iter().map(item).collect();
    })
}
