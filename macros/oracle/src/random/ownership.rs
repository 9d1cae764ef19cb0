//! Retained and adopted objects in some of the drawn lifecycles, and in some of these a seeded bug
//! about them. Uses dice of its own, so that all other draws stay unchanged.

use crate::answer::fits;

use super::dice::Dice;
use super::sketch::{Clause, Effect, Fact, Input, Sketch, State, to_strings};
use super::{COMFORTABLE, declare_edges};

/// Lets something of some of them stay or be taken over.
pub(super) fn overlay(sketch: &mut Sketch, is_sound: bool, number: u64) {
    let mut dice = Dice::new(number ^ 0x4f57_4e45);
    if !dice.one_in(8) || sketch.calls.is_some() {
        return;
    }
    // A mistake comes to where others are: those that are sound are to stay so.
    if !is_sound && dice.one_in(2) {
        mistake(sketch, &mut dice);
        return;
    }
    let owned = |head: &str| head.starts_with("owned ");
    let inputs = 0..sketch.inputs.len();
    let inputs: Vec<usize> = inputs
        .filter(|at| owned(&sketch.inputs[*at].head))
        .collect();
    if inputs.is_empty() {
        return;
    }
    let before = sketch.clone();
    let at = *dice.pick(&inputs);
    let is_set = sketch.inputs[at].head.contains('[');
    let how = dice.random_below(4);
    if how != 0 || is_set {
        retain(sketch, at, &mut dice);
    }
    if how != 1 && !is_set {
        adopt(sketch, at, &mut dice);
    }
    if !fits(&sketch.to_string(), COMFORTABLE) {
        *sketch = before;
    } else if is_sound {
        declare_edges(sketch);
    }
}

/// Adds a fact that reads the object and that nothing else queries.
fn add_bool_fact(sketch: &mut Sketch, name: &str) -> String {
    sketch.facts.push(Fact {
        name: name.to_owned(),
        domain: "bool".to_owned(),
        from: to_strings(&["self"]),
        ..Fact::default()
    });
    name.to_owned()
}

pub(super) fn retain(sketch: &mut Sketch, at: usize, dice: &mut Dice) {
    if sketch.inputs[at].lookup == "owner" {
        return;
    }
    let policy = match dice.random_below(3) {
        0 => " retain".to_owned(),
        1 => format!(" retain when {}", add_bool_fact(sketch, "precious")),
        _ => format!(" retain when !{}", add_bool_fact(sketch, "precious")),
    };
    sketch.inputs[at].lookup += &policy;
}

pub(super) fn adopt(sketch: &mut Sketch, at: usize, dice: &mut Dice) {
    let input = sketch.inputs[at].name.clone();
    let (adoptable, foreign) = (
        format!("{input} == Adoptable"),
        format!("{input} == Foreign"),
    );
    let when = match dice.one_in(6) {
        true => Vec::new(),
        false => vec![add_bool_fact(sketch, "consent")],
    };
    let always = sketch.inputs[at].lookup.ends_with(" retain");
    let without = if !always && dice.one_in(3) {
        " without retain"
    } else {
        ""
    };
    let of_foreign = |state: &State| state.when.contains(&foreign);
    let place = sketch
        .states
        .iter()
        .position(of_foreign)
        .unwrap_or_default();
    if !when.is_empty() {
        sketch.states.insert(
            place,
            State {
                name: "Waiting".to_owned(),
                when: vec![adoptable.clone(), format!("!{}", when[0])],
                phase: Some("Error".to_owned()),
                wakes: to_strings(&[&input, "self"]),
                ..State::default()
            },
        );
    }
    let below = place + when.len();
    sketch.states.insert(
        below,
        State {
            name: "TakingOver".to_owned(),
            when: vec![adoptable.clone()],
            phase: Some("Pending".to_owned()),
            ..State::default()
        },
    );
    for condition in &mut sketch.conditions {
        let of_foreign = |clause: &Clause| {
            clause
                .when
                .as_ref()
                .is_some_and(|when| when.contains(&foreign))
        };
        if let Some(at) = condition.clauses.iter().position(of_foreign) {
            condition.clauses.insert(
                at,
                Clause {
                    value: "False".to_owned(),
                    reason: Some("Adoptable".to_owned()),
                    when: Some(vec![adoptable.clone()]),
                    ..Clause::default()
                },
            );
        }
    }
    let effect = Effect {
        name: Some("adopts".to_owned()),
        head: format!("adopt {input}{without}"),
        when,
        ..Effect::default()
    };
    let place = dice.random_below(sketch.effects.len() + 1);
    sketch.effects.insert(place, effect);
}

/// Returns an owned object, and adds one if necessary: the check ends before the new object
/// matters.
fn some_owned(sketch: &mut Sketch, dice: &mut Dice) -> usize {
    let is_one = |at: &usize| sketch.inputs[*at].head.starts_with("owned S");
    let owned: Vec<usize> = (0..sketch.inputs.len()).filter(is_one).collect();
    if owned.is_empty() {
        sketch.inputs.push(Input {
            name: "heirloom".to_owned(),
            head: "owned Secret".to_owned(),
            lookup: "name meta.name".to_owned(),
            ..Input::default()
        });
        return sketch.inputs.len() - 1;
    }
    *dice.pick(&owned)
}

/// Seeds a mistake: a policy that depends on its own object, a deletion of a retained object, or a
/// needless policy.
fn mistake(sketch: &mut Sketch, dice: &mut Dice) {
    match dice.random_below(8) {
        0..3 => circular(sketch, dice),
        3..6 => deleted(sketch, dice),
        6 => {
            let at = some_owned(sketch, dice);
            append_policy(&mut sketch.inputs[at], " retain");
        }
        _ => {
            let at = some_owned(sketch, dice);
            let name = &sketch.inputs[at].name;
            let head = match dice.one_in(3) {
                true => format!("adopt {name} without retain"),
                false => format!("adopt {name}"),
            };
            sketch.effects.push(Effect {
                head,
                ..Effect::default()
            });
        }
    }
}

fn circular(sketch: &mut Sketch, dice: &mut Dice) {
    let at = some_owned(sketch, dice);
    let name = sketch.inputs[at].name.clone();
    let asks_itself = dice.one_in(3);
    let fact = if asks_itself {
        format!("{name} == Current")
    } else {
        let fact = add_bool_fact(sketch, "precious");
        let last = sketch.facts.last_mut().expect("just pushed");
        last.from = vec![name.clone()];
        fact
    };
    if asks_itself || dice.one_in(2) {
        append_policy(&mut sketch.inputs[at], &format!(" retain when {fact}"));
    } else {
        sketch.effects.push(Effect {
            head: format!("adopt {name}"),
            when: vec![fact],
            ..Effect::default()
        });
    }
}

fn deleted(sketch: &mut Sketch, dice: &mut Dice) {
    let undos = sketch
        .effects
        .iter()
        .filter_map(|effect| effect.undo.clone());
    let undos: Vec<String> = undos.collect();
    let at = some_owned(sketch, dice);
    let name = sketch.inputs[at].name.clone();
    if let Some(undo) = (!undos.is_empty()).then(|| dice.pick(&undos).clone()) {
        let mut effects = sketch.effects.iter_mut();
        if let Some(effect) = effects.find(|effect| effect.known_as() == undo) {
            (effect.name, effect.head) = (Some(undo), format!("delete {name}"));
            effect.key = None;
        }
    } else if let Some(first) = sketch.effects.first_mut() {
        first.undo = Some("wipe".to_owned());
        sketch.effects.push(Effect {
            name: Some("wipe".to_owned()),
            head: format!("delete {name}"),
            ..Effect::default()
        });
    }
    if dice.one_in(2) {
        append_policy(&mut sketch.inputs[at], " retain");
    } else {
        sketch.effects.push(Effect {
            head: format!("adopt {name}"),
            ..Effect::default()
        });
    }
}

/// Appends a policy to the clauses of an input.
fn append_policy(input: &mut Input, policy: &str) {
    match input.lookup.is_empty() {
        true => input.head += policy,
        false => input.lookup += policy,
    }
}
