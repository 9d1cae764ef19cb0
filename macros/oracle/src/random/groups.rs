//! Groups in the place of sets in some of the drawn lifecycles. Drawn with dice of its own, so that all others are the same with and without.

use super::dice::Dice;
use super::sketch::Sketch;
use super::{COMFORTABLE, declare_edges};
use crate::answer::fits;

/// Text before the members of a set, and before those of a shared set.
const SETS: [&str; 2] = ["owned [Pod]", "shared [Pod]"];

/// Lets some of their sets have fixed members of several kinds.
pub(super) fn overlay(sketch: &mut Sketch, is_sound: bool, number: u64) {
    let mut dice = Dice::new(number ^ 0x4752_4f55);
    if dice.one_in(4) || sketch.calls.is_some() {
        return;
    }
    let is_set = |at: &usize| SETS.contains(&sketch.inputs[*at].head.as_str());
    let Some(at) = (0..sketch.inputs.len()).find(is_set) else {
        return;
    };
    let before = sketch.clone();
    let group = sketch.inputs[at].name.clone();
    if is_needed(sketch, at, &group) {
        return;
    }
    let members = members(&group, &mut dice);
    let first = format!("{group}_cog");
    sketch.inputs[at].head = format!("owned {{ {members} }}");
    sketch.inputs[at].lookup.clear();
    // A member is no set that could be counted, so its facts query one object.
    for fact in &mut sketch.facts {
        if let Some(plain) = fact.domain.strip_prefix("count ")
            && fact.from.contains(&group)
        {
            fact.domain = plain.to_owned();
        }
        for name in fact.from.iter_mut().filter(|name| **name == group) {
            first.clone_into(name);
        }
    }
    for line in &mut sketch.extras {
        *line = line.replace(&format!("from {group} "), &format!("from {first} "));
    }
    if !fits(&sketch.to_string(), COMFORTABLE) {
        *sketch = before;
    } else if is_sound {
        declare_edges(sketch);
    }
}

fn members(group: &str, dice: &mut Dice) -> String {
    let mut members = format!("{group}_cog: Cog by name meta.name;");
    if dice.one_in(2) {
        members += &format!(" {group}_rod: Rod by ref;");
    }
    if !dice.one_in(3) {
        members += &format!(" {group}_lid: optional Lid by name meta.name;");
    }
    members
}

/// Returns true if something reads the set that cannot read a member, or declares of it something
/// that no group can have.
fn is_needed(sketch: &Sketch, at: usize, group: &str) -> bool {
    let names = |text: &String| {
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == group)
    };
    let lets = sketch.lets.iter().flat_map(|value| &value.from);
    let builders = sketch.effects.iter().flat_map(|effect| &effect.from);
    let lookups = sketch.inputs.iter().map(|input| &input.lookup);
    let keys = sketch
        .effects
        .iter()
        .filter_map(|effect| effect.key.as_ref());
    let heads = sketch.inputs.iter().map(|input| &input.head);
    let mut all = lets.chain(builders).chain(lookups).chain(keys).chain(heads);
    let is_retained = sketch.inputs[at].lookup.contains(" retain");
    let is_once = sketch
        .effects
        .iter()
        .any(|effect| effect.head.starts_with("create each"));
    is_retained || is_once || all.any(names)
}
