//! Random volumes without wrong names. Chance decides if a call gets stuck, repeats or lacks a
//! fact.

mod draft;
mod pairs;
mod recipes;

use super::dice::Dice;
use super::sketch::{Effect, Fact, Input, Promise, Sketch, State, alternatives};

type Known = Vec<(String, Vec<String>)>;

const KINDS: [(&str, &str, &[&str]); 9] = [
    ("probe Table", "request.volume_id", &[]),
    ("probe Table", "request.volume_id", &[]),
    ("probe Tree", "request.target_path", &[]),
    ("Claim", "name request.volume_id", &["Absent", "Present"]),
    ("Claim", "ref from request", &["Absent", "Present"]),
    (
        "part Volume",
        "name request.volume_id",
        &["Absent", "Stale", "Current"],
    ),
    (
        "owned Service",
        "name request.volume_id",
        &["Absent", "Foreign", "Terminating", "Stale", "Current"],
    ),
    ("poll Table", "request.volume_id", &["Unknown", "Known"]),
    ("probe Stage", "request.staging_target_path", &[]),
];

const NODE: [(&str, &str); 2] = [
    ("NodeStageVolume", "NodeUnstageVolume"),
    ("NodePublishVolume", "NodeUnpublishVolume"),
];
const CODES: [&str; 6] = [
    "UNAVAILABLE",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "ABORTED",
    "FAILED_PRECONDITION",
    "NOT_FOUND",
];

/// Sound by construction, most of them.
pub(super) fn sound(dice: &mut Dice) -> Sketch {
    if dice.one_in(10) {
        recipes::provision(dice)
    } else {
        recipes::mount(dice)
    }
}

pub(super) fn volume(dice: &mut Dice) -> Sketch {
    let mut sketch = Sketch::default();
    let mut known: Known = Vec::new();
    for number in 0..2 + dice.random_below(2) {
        input(&mut sketch, &mut known, number, dice);
    }
    for number in 0..2 + dice.random_below(2) {
        fact(&mut sketch, &mut known, number, dice);
    }
    for number in 0..1 + dice.random_below(3) {
        effect(&mut sketch, &known, number, dice);
    }
    for number in 0..dice.random_below(3) {
        let (name, values) = dice.pick(&known).clone();
        let value = dice.pick(&values).clone();
        sketch.promises.push(Promise {
            name: format!("keeps{number}"),
            when: vec![atom(&known, dice)],
            sets: alternatives(&name, &[&value]),
        });
    }
    let (name, values) = known.last().expect("there are facts").clone();
    let all: Vec<String> = values.iter().map(|value| is(&name, value)).collect();
    for (number, when) in all.into_iter().enumerate() {
        sketch.states.push(State {
            name: format!("State{number}"),
            when: vec![when],
            ..State::default()
        });
    }
    let calls = calls(&sketch, &known, dice);
    sketch.calls = Some(calls);
    sketch
}

fn input(sketch: &mut Sketch, known: &mut Known, number: usize, dice: &mut Dice) {
    let (head, lookup, values) = *dice.pick(&KINDS);
    let name = format!("input{number}");
    let mut lookup = lookup.to_owned();
    if number > 0 && head == "Claim" && dice.one_in(2) {
        lookup = format!("ref from input{}", number - 1);
    }
    let given = if known.is_empty() || dice.random_below(4) > 0 {
        Vec::new()
    } else {
        vec![atom(known, dice)]
    };
    sketch.inputs.push(Input {
        name: name.clone(),
        head: head.to_owned(),
        lookup,
        given,
    });
    if !values.is_empty() {
        known.push((name, values.iter().map(|&value| value.to_owned()).collect()));
    }
}

fn fact(sketch: &mut Sketch, known: &mut Known, number: usize, dice: &mut Dice) {
    let inputs: Vec<String> = sketch.inputs.iter().map(|one| one.name.clone()).collect();
    let mut from = vec![dice.pick(&inputs).clone()];
    if dice.one_in(3) {
        let mut all = inputs.clone();
        all.push("request".to_owned());
        let other = dice.pick(&all).clone();
        if dice.one_in(3) {
            from = vec!["request".to_owned()];
        } else if !from.contains(&other) {
            from.push(other);
        }
    }
    let held = dice.one_in(4);
    let (domain, values): (&str, &[&str]) = match dice.random_below(3) {
        _ if held => ("bool", &["false", "true"]),
        0 => ("{ Low, Middle, High }", &["Low", "Middle", "High"]),
        _ => ("bool", &["false", "true"]),
    };
    let mut givens = Vec::new();
    if !held && !known.is_empty() && dice.one_in(4) {
        givens.push((vec![atom(known, dice)], None));
    }
    let name = format!("fact{number}");
    sketch.facts.push(Fact {
        held,
        name: name.clone(),
        domain: domain.to_owned(),
        from,
        givens,
    });
    known.push((name, values.iter().map(|&value| value.to_owned()).collect()));
}

fn is(name: &str, value: &str) -> String {
    match value {
        "true" => name.to_owned(),
        "false" => format!("!{name}"),
        value => format!("{name} == {value}"),
    }
}

fn atom(known: &Known, dice: &mut Dice) -> String {
    let (name, values) = dice.pick(known).clone();
    let value = dice.pick(&values).clone();
    is(&name, &value)
}

fn effect(sketch: &mut Sketch, known: &Known, number: usize, dice: &mut Dice) {
    let target = dice.pick(&sketch.inputs).clone();
    let mut effect = Effect {
        name: Some(format!("write{number}")),
        ..Effect::default()
    };
    if dice.one_in(2) {
        effect.when = vec![atom(known, dice)];
    }
    match target.head.split(' ').next().unwrap_or_default() {
        "owned" | "part" => effect.head = format!("apply {}", target.name),
        "poll" | "probe" => {
            let facts = sketch.facts.iter();
            let facts: Vec<&Fact> = facts
                .filter(|one| one.from.contains(&target.name))
                .collect();
            if facts.is_empty() {
                return;
            }
            let fact = (*dice.pick(&facts)).clone();
            let (_, values) = known
                .iter()
                .find(|(name, _)| *name == fact.name)
                .expect("known");
            effect.head = format!("call {}", target.name);
            effect.key = Some("request.volume_id".to_owned());
            let value = dice.pick(values).clone();
            effect.sets = alternatives(&fact.name, &[&value]);
            if fact.held {
                effect.sets = alternatives(&fact.name, &["true"]);
                let undo = format!("undo{number}");
                effect.undo = Some(undo.clone());
                sketch.effects.push(Effect {
                    name: Some(undo),
                    head: effect.head.clone(),
                    key: effect.key.clone(),
                    sets: alternatives(&fact.name, &["false"]),
                    ..Effect::default()
                });
            }
        }
        _ => return,
    }
    sketch.effects.push(effect);
}

fn calls(sketch: &Sketch, known: &Known, dice: &mut Dice) -> Vec<String> {
    let mut lines = Vec::new();
    for precondition in [
        "unfit",
        "unknown",
        "in_use",
        "elsewhere",
        "unstaged",
        "differs",
    ] {
        if dice.one_in(60) {
            continue;
        }
        lines.push(if dice.one_in(4) {
            format!("{precondition} when {};", atom(known, dice))
        } else {
            format!("{precondition} never \"so it is\";")
        });
    }
    let mut pairs: Vec<(&str, &str)> = NODE.to_vec();
    match dice.random_below(6) {
        0 => {
            pairs = vec![
                ("CreateVolume", "DeleteVolume"),
                ("ValidateVolumeCapabilities", ""),
            ]
        }
        1 | 2 => pairs.truncate(1),
        3 => pairs = vec![pairs[1]],
        _ => {}
    }
    let names = pairs.iter().flat_map(|(makes, undoes)| [*makes, *undoes]);
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    if dice.one_in(30) {
        names.remove(dice.random_below(names.len()));
    }
    let effects: Vec<String> = sketch.effects.iter().map(Effect::known_as).collect();
    let share = effects.len().div_ceil(names.len().max(1));
    for (number, name) in names.iter().enumerate() {
        let mine: Vec<String> = effects
            .iter()
            .skip(number * share)
            .take(share)
            .cloned()
            .collect();
        lines.push(call(name, mine, &effects, sketch, known, dice));
    }
    lines
}

fn call(
    name: &str,
    mut by: Vec<String>,
    effects: &[String],
    sketch: &Sketch,
    known: &Known,
    dice: &mut Dice,
) -> String {
    if !effects.is_empty() && dice.one_in(3) {
        let other = dice.pick(effects).clone();
        if !by.contains(&other) {
            by.push(other);
        }
    }
    if by.is_empty() && dice.one_in(2) {
        return format!("{name};");
    }
    let target = match dice.random_below(3) {
        0 => dice.pick(&sketch.states).name.clone(),
        _ => atom(known, dice),
    };
    let mut refusals: Vec<String> = Vec::new();
    for _ in 0..dice.random_below(3) {
        let code = if dice.one_in(12) {
            "OUT_OF_RANGE"
        } else {
            *dice.pick(&CODES[..4])
        };
        let code = if dice.one_in(12) {
            *dice.pick(&CODES)
        } else {
            code
        };
        refusals.push(format!("{} => {code};", atom(known, dice)));
    }
    if !by.is_empty() && !dice.one_in(4) {
        let refused: Vec<String> = by.iter().map(|one| format!("refused({one})")).collect();
        refusals.push(format!("{} => INTERNAL;", refused.join(" || ")));
    }
    if dice.one_in(3) {
        let (fact, values) = dice.pick(known).clone();
        refusals.push(format!(
            "{0} || !({0}) => UNAVAILABLE;",
            is(&fact, &values[0])
        ));
    }
    let within = if dice.one_in(2) {
        " within 90s else UNAVAILABLE"
    } else {
        ""
    };
    let by = if by.is_empty() {
        String::new()
    } else {
        format!(" by {}", by.join(", "))
    };
    format!(
        "{name} -> {target}{by}{within} {{ {} }}",
        refusals.join(" ")
    )
}
