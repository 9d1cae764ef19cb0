//! Minted values in some of the drawn lifecycles, and in some of these a mistake about one. Drawn with dice of its own, so that all others are the same with and without.

use crate::answer::answer;
use crate::findings::is_warning;

use super::declare_edges;
use super::dice::Dice;
use super::sketch::{Effect, Fact, Guard, Input, Let, Sketch, to_strings};

/// Lets some of them make a value that an object of theirs keeps.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x4d49_4e54);
    if !dice.one_in(2) || sketch.calls.is_some() {
        return;
    }
    let found = |sketch: &Sketch| answer(&sketch.to_string(), None).found;
    let before = found(sketch);
    let keepers = keepers(sketch);
    if keepers.is_empty() {
        return;
    }
    if before
        .all
        .iter()
        .any(|one| RARE.contains(&one.code.as_str()))
    {
        return;
    }
    // Where nothing is wrong, nothing is made so.
    if before.all.iter().any(|one| !is_warning(&one.code)) {
        let effect = *dice.pick(&keepers);
        mistake(sketch, effect, &mut dice);
        return;
    }
    if !dice.one_in(3) {
        return;
    }
    let at = *dice.pick(&keepers);
    let started = dice.random_below(3);
    for kind in started..started + 3 {
        let mut minted = sketch.clone();
        mint(&mut minted, at, kind % 3, &mut dice);
        if minted.edges.is_some() {
            declare_edges(&mut minted);
        }
        if found(&minted).all == before.all {
            *sketch = minted;
            return;
        }
    }
}

/// Codes that so few lifecycles show that none of those may be hidden.
const RARE: [&str; 5] = ["LC013", "LC017", "LC044", "LC091", "LC101"];

/// Returns the effects that are the only builder of one owned object.
pub(super) fn keepers(sketch: &Sketch) -> Vec<usize> {
    let builds = |effect: &Effect| effect.head.starts_with("apply ");
    let effects = sketch.effects.iter().enumerate();
    let keeps = effects.filter(|(_, effect)| {
        let target = effect.target();
        let same = |other: &&Effect| builds(other) && other.target() == target;
        let alone = sketch.effects.iter().filter(same).count() == 1;
        let inputs = sketch.inputs.iter();
        let mut inputs = inputs.filter(|input| input.name == target);
        let fits = inputs.any(|input| {
            let (own, kind) = input.head.split_once(' ').unwrap_or_default();
            own == "owned" && !kind.starts_with('[')
        });
        builds(effect) && !effect.head.starts_with("apply each") && alone && fits
    });
    keeps.map(|(at, _)| at).collect()
}

/// Mints one value: for ever, until the keeper reports a change, or until it is old.
pub(super) fn mint(sketch: &mut Sketch, effect: usize, kind: usize, dice: &mut Dice) {
    let keeper = sketch.effects[effect].target();
    let mut until = Guard::new();
    if kind > 0 {
        let mut from = to_strings(&[&keeper]);
        if kind == 2 {
            from.push(clock(sketch));
        }
        sketch.facts.push(Fact {
            name: "stale_mint".to_owned(),
            domain: dice.pick_word(&["{ Fresh, Old }", "{ Fresh, Old, Broken }"]),
            from,
            ..Fact::default()
        });
        until.push("stale_mint != Fresh".to_owned());
    }
    // It may be made from the arguments of the builder.
    let from = sketch.effects[effect].from.iter();
    let mut from: Vec<String> = from.filter(|name| **name != keeper).cloned().collect();
    from.retain(|name| name != "self" && dice.one_in(2));
    let inputs = |name: &String| sketch.inputs.iter().any(|input| input.name == *name);
    from.retain(inputs);
    if kind == 2 {
        from.push(clock(sketch));
    }
    push(sketch, (&keeper, from, until));
    sketch.effects[effect].from.push(NAME.to_owned());
}

const NAME: &str = "minted_value";

fn push(sketch: &mut Sketch, (keeper, from, until): (&str, Vec<String>, Guard)) {
    sketch.lets.push(Let {
        name: NAME.to_owned(),
        from,
        given: until,
        keeper: Some(keeper.to_owned()),
    });
}

pub(super) fn clock(sketch: &mut Sketch) -> String {
    let mut clocks = sketch.inputs.iter().filter(|input| input.head == "clock");
    if let Some(clock) = clocks.next() {
        return clock.name.clone();
    }
    sketch.inputs.push(Input {
        name: "mint_now".to_owned(),
        head: "clock".to_owned(),
        ..Input::default()
    });
    "mint_now".to_owned()
}

fn mistake(sketch: &mut Sketch, effect: usize, dice: &mut Dice) {
    let keeper = sketch.effects[effect].target();
    match dice.random_below(16) {
        0..4 => push(sketch, (&keeper, Vec::new(), Guard::new())),
        // Read by something else as well.
        4..8 => {
            mint(sketch, effect, 0, dice);
            let at = dice.random_below(sketch.facts.len().max(1));
            match sketch.facts.get_mut(at) {
                Some(fact) if !fact.domain.starts_with("count") => fact.from.push(NAME.to_owned()),
                Some(_) | None => sketch
                    .extras
                    .push(format!("field kept: String from {NAME};")),
            }
        }
        8..11 => {
            mint(sketch, effect, 0, dice);
            if let Some(minted) = sketch.lets.last_mut() {
                minted.from.push(keeper);
            }
        }
        // Expired by a fact that the renewal does not change.
        _ => {
            mint(sketch, effect, 1, dice);
            if let Some(fact) = sketch.facts.last_mut() {
                fact.from = to_strings(&["self"]);
            }
        }
    }
}
