//! Lifecycles without a plan: every name is right and nothing else is meant to be.

use super::dice::Dice;
use super::sketch::{
    Clause, Condition, Effect, Fact, Guard, Input, Let, Promise, Sets, Sketch, State, alternatives,
};

type Known = Vec<(String, Vec<String>)>;

const KINDS: [(&str, &str, &[&str]); 10] = [
    ("Config", "name spec.config", &["Absent", "Present"]),
    (
        "Config",
        "name spec.config?",
        &["Unnamed", "Absent", "Present"],
    ),
    (
        "owned Service",
        "name meta.name",
        &["Absent", "Foreign", "Terminating", "Stale", "Current"],
    ),
    (
        "shared Config",
        "name meta.namespace",
        &["Absent", "Terminating", "Stale", "Current"],
    ),
    ("part Volume", "ref", &["Absent", "Stale", "Current"]),
    ("poll Table", "meta.name every 2s", &["Unknown", "Known"]),
    (
        "owned [Pod]",
        "owner",
        &["Behind", "Surplus", "Draining", "Foreign", "Current"],
    ),
    ("[Node]", "namespace", &[]),
    ("record String", "", &["Absent", "Stale", "Current"]),
    ("clock", "", &[]),
];

const COUNT: &str = "count { Empty, None, Some, All }";

pub(super) fn wild(dice: &mut Dice) -> Sketch {
    let mut sketch = Sketch::default();
    let mut known: Known = Vec::new();
    for number in 0..2 + dice.random_below(2) {
        input(&mut sketch, &mut known, number, dice);
    }
    for number in 0..1 + dice.random_below(3) {
        fact(&mut sketch, &mut known, number, dice);
    }
    if dice.one_in(2) {
        relink(&mut sketch, dice);
    }
    for number in 0..1 + dice.random_below(3) {
        effect(&mut sketch, &known, number, dice);
    }
    for number in 0..dice.random_below(3) {
        let sets = establishes(&known, dice);
        sketch.promises.push(Promise {
            name: format!("keeps{number}"),
            when: guard(&known, dice),
            sets,
        });
    }
    if dice.one_in(4) {
        sketch.nevers.push(guard(&known, dice));
    }
    states(&mut sketch, &known, dice);
    status(&mut sketch, &known, dice);
    sketch
}

fn input(sketch: &mut Sketch, known: &mut Known, number: usize, dice: &mut Dice) {
    let (head, lookup, values) = *dice.pick(&KINDS);
    let name = format!("input{number}");
    let mut lookup = lookup.to_owned();
    if number > 0 && lookup == "ref" {
        lookup = format!("ref from input{}", number - 1);
    }
    if number > 0 && lookup == "namespace" && dice.one_in(2) {
        let word = dice.pick_word(&["names", "refs"]);
        lookup = format!("{word} of input{}", number - 1);
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

/// Lets an input be found through another one, or through a value.
fn relink(sketch: &mut Sketch, dice: &mut Dice) {
    let at = dice.random_below(sketch.inputs.len());
    let others = sketch.inputs.iter().map(|input| &input.name);
    let others = others.filter(|name| **name != sketch.inputs[at].name);
    let values = sketch.lets.iter().map(|value| &value.name);
    let roots: Vec<String> = others.chain(values).cloned().collect();
    let root = dice.pick(&roots).clone();
    let head = &sketch.inputs[at].head;
    let lookup = match head.split(' ').next().unwrap_or_default() {
        "record" | "clock" => return,
        "poll" if dice.one_in(2) => format!("meta.name, {root} every 2s"),
        "poll" => format!("{root} every 2s"),
        _ if head.contains('[') => match dice.random_below(3) {
            0 => format!("names of {root}"),
            1 => format!("labels {{ OWNER = {root}.name }}"),
            _ => format!("spec.host = {root}.host"),
        },
        _ if dice.one_in(2) => format!("ref from {root}"),
        _ => format!("name {root}.name"),
    };
    let optional = sketch.inputs[at].lookup.ends_with('?') && lookup.starts_with("name");
    sketch.inputs[at].lookup = if optional {
        format!("{lookup}?")
    } else {
        lookup
    };
}

fn sources(sketch: &Sketch, dice: &mut Dice) -> Vec<String> {
    let inputs = sketch.inputs.iter().map(|input| input.name.clone());
    let mut names: Vec<String> = inputs
        .chain(sketch.lets.iter().map(|value| value.name.clone()))
        .collect();
    let first = names.remove(dice.random_below(names.len()));
    let mut all = vec![first];
    if !names.is_empty() && dice.one_in(3) {
        all.push(names.remove(dice.random_below(names.len())));
    }
    all
}

fn fact(sketch: &mut Sketch, known: &mut Known, number: usize, dice: &mut Dice) {
    if dice.one_in(4) {
        let from = sources(sketch, dice);
        let given = if known.is_empty() || dice.one_in(2) {
            Vec::new()
        } else {
            vec![atom(known, dice)]
        };
        sketch.lets.push(Let {
            name: format!("value{number}"),
            from,
            given,
            keeper: None,
        });
    }
    let held = dice.one_in(5);
    let (domain, mut values): (&str, Vec<&str>) = match dice.random_below(4) {
        _ if held && dice.one_in(2) => (
            "{ No, Lost | Mine, Fresh }",
            vec!["No", "Lost", "Mine", "Fresh"],
        ),
        _ if held => ("{ No, Unknown, Mine }", vec!["No", "Unknown", "Mine"]),
        0 => ("bool", vec!["false", "true"]),
        1 => ("{ Calm, Wild }", vec!["Calm", "Wild"]),
        _ => ("{ Low, Middle, High }", vec!["Low", "Middle", "High"]),
    };
    let mut givens = Vec::new();
    while !known.is_empty() && dice.one_in(3) {
        let other = if held || dice.one_in(3) {
            Some(if held {
                *dice.pick(&["Unknown", "Unseen"])
            } else {
                "Other"
            })
        } else {
            None
        };
        let other = other.filter(|_| domain != "bool");
        values.extend(other);
        givens.push((vec![atom(known, dice)], other.map(str::to_owned)));
    }
    let name = format!("fact{number}");
    let from = sources(sketch, dice);
    let set = sketch.inputs.iter().find(|input| input.name == from[0]);
    let is_set = set.is_some_and(|input| input.head.contains('['));
    let (domain, values) = if is_set && !held && domain != "bool" {
        let others = values.split_off(domain.matches(',').count() + 1);
        let counts = ["Empty", "None", "Some", "All"].into_iter();
        (COUNT, counts.chain(others).collect())
    } else {
        (domain, values)
    };
    sketch.facts.push(Fact {
        held,
        name: name.clone(),
        domain: domain.to_owned(),
        from,
        givens,
    });
    known.push((name, values.into_iter().map(str::to_owned).collect()));
}

fn atom(known: &Known, dice: &mut Dice) -> String {
    let (name, values) = dice.pick(known).clone();
    let value = dice.pick(&values).clone();
    if ["true", "false"].contains(&value.as_str()) {
        return if value == "true" {
            name
        } else {
            format!("!{name}")
        };
    }
    match dice.random_below(6) {
        0 => format!("{name} != {value}"),
        1 => format!("{name} in {{ {value}, {} }}", dice.pick(&values)),
        2 => format!("{name} not in {{ {value} }}"),
        3 if known.len() > 1 => format!("{name} == {value} || {}", plain(known, dice)),
        _ => format!("{name} == {value}"),
    }
}

fn plain(known: &Known, dice: &mut Dice) -> String {
    let (name, values) = dice.pick(known).clone();
    match dice.pick(&values).as_str() {
        "true" => name,
        "false" => format!("!{name}"),
        value => format!("!({name} == {value})"),
    }
}

fn guard(known: &Known, dice: &mut Dice) -> Guard {
    (0..1 + dice.random_below(2))
        .map(|_| atom(known, dice))
        .collect()
}

fn establishes(known: &Known, dice: &mut Dice) -> Sets {
    let (name, values) = dice.pick(known).clone();
    let settable: Vec<&str> = values
        .iter()
        .map(String::as_str)
        .filter(|value| !["Other", "Unseen"].contains(value))
        .collect();
    let mut sets = alternatives(&name, &[*dice.pick(&settable)]);
    if dice.one_in(3) {
        sets.extend(alternatives(&name, &[*dice.pick(&settable)]));
    }
    sets
}

fn effect(sketch: &mut Sketch, known: &Known, number: usize, dice: &mut Dice) {
    let target = dice.pick(&sketch.inputs).clone();
    let mut effect = Effect {
        name: Some(format!("write{number}")),
        ..Effect::default()
    };
    effect.head = match target.head.split(' ').next().unwrap_or_default() {
        "poll" => format!("call {}", target.name),
        "owned" if target.head.contains('[') => {
            format!(
                "{} each {}",
                dice.pick_word(&["apply", "delete"]),
                target.name
            )
        }
        "owned" | "shared" if dice.one_in(4) => format!("delete {}", target.name),
        "owned" | "shared" | "part" | "record" => format!("apply {}", target.name),
        _ => return,
    };
    if effect.head.starts_with("apply") && dice.one_in(3) {
        effect.from = sources(sketch, dice);
    }
    if !effect.head.starts_with("delete each") || dice.one_in(2) {
        effect.when = guard(known, dice);
    }
    if effect.head.starts_with("call") {
        effect.key = Some("meta.uid".to_owned());
        let read = |fact: &&Fact| fact.from.contains(&target.name);
        let facts: Vec<&Fact> = sketch.facts.iter().filter(read).collect();
        if facts.is_empty() {
            return;
        }
        let fact = *dice.pick(&facts);
        let values: Known = known
            .iter()
            .filter(|(name, _)| *name == fact.name)
            .cloned()
            .collect();
        effect.sets = establishes(&values, dice);
        if fact.held && dice.one_in(2) {
            undo(sketch, &mut effect, number);
        }
    }
    sketch.effects.push(effect);
}

/// Pairs a call that acquires with one that releases.
fn undo(sketch: &mut Sketch, effect: &mut Effect, number: usize) {
    let fact = effect.sets[0][0].0.clone();
    effect.sets = alternatives(&fact, &["Mine"]);
    let name = format!("undo{number}");
    effect.undo = Some(name.clone());
    let (head, key) = (effect.head.clone(), effect.key.clone());
    sketch.effects.push(Effect {
        name: Some(name),
        head,
        key,
        sets: alternatives(&fact, &["No"]),
        ..Effect::default()
    });
}

fn states(sketch: &mut Sketch, known: &Known, dice: &mut Dice) {
    let mut known = known.clone();
    let refusals = sketch
        .effects
        .iter()
        .map(|effect| format!("refused({})", effect.known_as()));
    for refusal in refusals {
        if dice.one_in(3) {
            known.push((refusal, vec!["true".to_owned()]));
        }
    }
    for number in 0..1 + dice.random_below(5) {
        let ignored = number == 0 && dice.one_in(6);
        let suspended = !ignored && number == 0 && dice.one_in(5);
        let wakes = suspended || !ignored && dice.one_in(2);
        let phase = dice.pick_word(&["Pending", "Pending", "Ready", "Error"]);
        let phase = if suspended {
            "Suspended".to_owned()
        } else {
            phase
        };
        sketch.states.push(State {
            goal: !ignored && !wakes && dice.one_in(3),
            even: suspended && dice.one_in(4),
            name: format!("State{number}"),
            when: guard(&known, dice),
            phase: Some(if ignored { "Ignored".to_owned() } else { phase }),
            wakes: if wakes {
                sources(sketch, dice)
            } else {
                Vec::new()
            },
            overdue: None,
        });
    }
    if !dice.one_in(8) {
        let (name, values) = dice.pick(&known).clone();
        let all = match values[0].as_str() {
            "false" | "true" => format!("{name} || !{name}"),
            value => format!("{name} == {value} || {name} != {value}"),
        };
        let (goal, phase) = (dice.one_in(2), Some(dice.pick_word(&["Pending", "Ready"])));
        sketch.states.push(State {
            goal,
            name: "Rest".to_owned(),
            when: vec![all],
            phase,
            ..State::default()
        });
    }
}

fn status(sketch: &mut Sketch, known: &Known, dice: &mut Dice) {
    for number in 0..1 + dice.random_below(2) {
        let mut clauses = Vec::new();
        for clause in 0..1 + dice.random_below(3) {
            let value = dice.pick_word(&["True", "False", "Unknown", "Absent", "Omit"]);
            let reason = (!dice.one_in(4)).then(|| format!("Reason{clause}"));
            clauses.push(Clause {
                reason: reason.filter(|_| value != "Omit"),
                value,
                message: dice.one_in(3).then(|| "said".to_owned()),
                event: None,
                when: Some(guard(known, dice)),
            });
        }
        if !dice.one_in(4) {
            let value = dice.pick_word(&["True", "False", "Unknown"]);
            clauses.push(Clause {
                value,
                reason: Some("Rest".to_owned()),
                ..Clause::default()
            });
        }
        sketch.conditions.push(Condition {
            name: format!("Told{number}"),
            clauses,
        });
    }
    sketch.ready = sketch
        .conditions
        .iter()
        .map(|condition| condition.name.clone())
        .collect();
}
