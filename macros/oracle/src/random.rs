//! Seeded random lifecycles as text: some sound by construction, some with seeded bugs in a few
//! places, some wild. Queries the oracle only for the edges that a lifecycle causes, which no one
//! could write by hand.

mod claims;
pub mod cut;
mod dice;
mod erring;
mod groups;
mod kstatus;
mod mints;
mod once;
mod optional;
mod ownership;
mod properties;
mod providers;
mod recipes;
mod requests;
mod said;
mod shorthand;
mod sketch;
mod spoil;
mod strays;
mod teardown;
mod volumes;
mod wild;

use crate::answer::{answer, fits, outline};
use crate::findings::Outline;
use dice::Dice;
use sketch::Sketch;

/// Worlds of a drawn lifecycle, unless it is one of those that are too big to check.
const COMFORTABLE: usize = 1_200;

/// The lifecycle with this number; the same number always gives the same text.
pub fn draw(number: u64) -> String {
    let mut dice = Dice::new(number);
    let (mut sketch, is_sound) = match dice.random_below(20) {
        0..9 => (sound(&mut dice), true),
        9..17 => (spoiled(&mut dice), false),
        17 => return worded(erring::erring(&mut dice), number),
        _ => (wild(&mut dice), false),
    };
    ownership::overlay(&mut sketch, is_sound, number);
    let mut sketch = claimed(sketch, is_sound, number);
    kstatus::overlay(&mut sketch, number);
    teardown::overlay(&mut sketch, is_sound, number);
    said::overlay(&mut sketch, number);
    mints::overlay(&mut sketch, number);
    once::overlay(&mut sketch, number);
    let mut words = Dice::new(!number);
    shorthand::shorten(&mut sketch, &mut words);
    // One mistake hides others, so it is seeded into a lifecycle without one.
    if is_sound {
        shorthand::mistake(&mut sketch, &mut words);
    }
    strays::overlay(&mut sketch, is_sound, number);
    claims::overlay(&mut sketch, number);
    providers::overlay(&mut sketch, number);
    requests::overlay(&mut sketch, number);
    groups::overlay(&mut sketch, is_sound, number);
    optional::overlay(&mut sketch, is_sound, number);
    allow(&mut sketch, &mut dice);
    sketch.to_string()
}

/// One mistake is enough: nothing but its words is drawn as well.
fn worded(mut sketch: Sketch, number: u64) -> String {
    kstatus::overlay(&mut sketch, number);
    shorthand::shorten(&mut sketch, &mut Dice::new(!number));
    sketch.to_string()
}

/// Adds allowed warnings, in some lifecycles also for a warning that is not found.
fn allow(sketch: &mut Sketch, dice: &mut Dice) {
    let facts = sketch.facts.iter().map(|fact| fact.name.clone());
    let inputs = sketch.inputs.iter().map(|input| input.name.clone());
    let items: Vec<String> = facts.chain(inputs).collect();
    if items.is_empty() || !dice.one_in(18) {
        return;
    }
    for _ in 0..=dice.random_below(2) {
        let code = *dice.pick(&["LC014", "LC014", "LC064"]);
        let item = dice.pick(&items).clone();
        sketch.allows.push((code.to_owned(), item));
    }
}

/// Adds the properties that its author claims. A sound lifecycle gets only claims that add no
/// finding.
fn claimed(mut sketch: Sketch, is_sound: bool, number: u64) -> Sketch {
    let mut dice = Dice::new(number ^ 0x5052_4f50);
    if !dice.one_in(3) {
        return sketch;
    }
    let found = |sketch: &Sketch| answer(&sketch.to_string(), None).found.all;
    let before = found(&sketch);
    sketch.properties = properties::some(&sketch, &mut dice);
    if is_sound {
        while !sketch.properties.is_empty() && found(&sketch) != before {
            sketch.properties.pop();
        }
    }
    sketch
}

/// The volume with this number.
pub fn draw_volume(number: u64) -> String {
    let mut dice = Dice::new(number);
    loop {
        let sketch = volumes::volume(&mut dice);
        if fits(&sketch.to_string(), COMFORTABLE) {
            return in_few_words(claimed(sketch, number.is_multiple_of(2), number), number);
        }
    }
}

fn in_few_words(mut sketch: Sketch, number: u64) -> String {
    shorthand::shorten(&mut sketch, &mut Dice::new(!number));
    sketch.to_string()
}

/// Returns the volume with this seed. Most volumes are sound.
pub fn draw_sound_volume(number: u64) -> String {
    let mut dice = Dice::new(number);
    loop {
        let sketch = volumes::sound(&mut dice);
        if fits(&sketch.to_string(), COMFORTABLE) {
            return in_few_words(claimed(sketch, number.is_multiple_of(2), number), number);
        }
    }
}

/// With the transitions that it causes, for its author wrote them too.
fn sound(dice: &mut Dice) -> Sketch {
    loop {
        let mut sketch = recipes::sound(dice);
        sketch.edges = Some(Vec::new());
        if let Some(outline) = outline(&sketch.to_string(), COMFORTABLE) {
            sketch.edges = Some(outline.caused.iter().cloned().collect());
            drop_clauses(&mut sketch, &outline);
            return sketch;
        }
    }
}

/// Writes the transitions that the lifecycle causes.
fn declare_edges(sketch: &mut Sketch) {
    sketch.edges = Some(Vec::new());
    let outline = answer(&sketch.to_string(), None).outline;
    sketch.edges = Some(outline.caused.into_iter().collect());
}

/// Leaves out the clauses that never apply.
fn drop_clauses(sketch: &mut Sketch, outline: &Outline) {
    for condition in &mut sketch.conditions {
        let mut position = 0..;
        let name = condition.name.clone();
        let applies =
            |at: Option<usize>| at.is_some_and(|at| !outline.idle.contains(&(name.clone(), at)));
        condition.clauses.retain(|_| applies(position.next()));
    }
}

/// Spoils are tried on new lifecycles until they apply, so that rare ones are not rarer still.
fn spoiled(dice: &mut Dice) -> Sketch {
    let wanted = dice.random_below(spoil::SPOILS.len());
    loop {
        let mut sketch = sound(dice);
        if !spoil::SPOILS[wanted](&mut sketch, dice) {
            continue;
        }
        for _ in 0..dice.random_below(3) {
            let further = dice.random_below(spoil::SPOILS.len());
            spoil::SPOILS[further](&mut sketch, dice);
        }
        if dice.one_in(2) {
            let before = sketch.edges.clone();
            declare_edges(&mut sketch);
            if sketch.edges.as_ref().is_some_and(Vec::is_empty) {
                sketch.edges = before;
            }
        }
        return sketch;
    }
}

fn wild(dice: &mut Dice) -> Sketch {
    loop {
        let mut sketch = wild::wild(dice);
        if fits(&sketch.to_string(), COMFORTABLE) {
            if dice.one_in(2) {
                declare_edges(&mut sketch);
            }
            return sketch;
        }
    }
}
