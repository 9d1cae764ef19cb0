//! Slips of the pen: wrong names, missing words, duplicates. They are found before any world is.

use super::places::{change, domains, guards, remove, some};
use crate::random::dice::Dice;
use crate::random::sketch::{Effect, Fact, Input, Sketch};

/// A name that is nearly right.
fn misspell(word: &mut String) {
    word.push('x');
}

/// Misspells the first word of an atom, and keeps the text around it.
fn misspell_fact(atom: &mut String) {
    let start = atom
        .find(|letter: char| letter.is_alphabetic())
        .unwrap_or(0);
    let end = atom[start..]
        .find(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .map_or(atom.len(), |at| start + at);
    if &atom[start..end] == "refused" {
        let close = atom.find(')').unwrap_or(end);
        atom.insert(close, 'x');
    } else {
        atom.insert(end, 'x');
    }
}

pub(super) fn rename_atom(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let mut all = guards(sketch);
    let at = dice.random_below(all.len());
    change(
        some(all.swap_remove(at).iter_mut(), dice, |_| true),
        misspell_fact,
    )
}

pub(super) fn rename_value(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let atoms = guards(sketch).into_iter().flatten();
    change(
        some(atoms, dice, |atom| {
            atom.contains("==") && atom.ends_with(char::is_alphanumeric)
        }),
        misspell,
    )
}

pub(super) fn rename_wakes(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let names = sketch.states.iter_mut().flat_map(|state| &mut state.wakes);
    change(some(names, dice, |_| true), misspell)
}

pub(super) fn rename_set_value(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let sets = sketch.effects.iter_mut().map(|effect| &mut effect.sets);
    let sets = sets.chain(sketch.promises.iter_mut().map(|promise| &mut promise.sets));
    let pair = some(sets.flatten().flatten(), dice, |_| true);
    let fact = dice.one_in(2);
    change(pair, |pair| {
        misspell(if fact { &mut pair.0 } else { &mut pair.1 })
    })
}

pub(super) fn rename_undo(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(
        some(
            sketch
                .effects
                .iter_mut()
                .filter_map(|effect| effect.undo.as_mut()),
            dice,
            |_| true,
        ),
        misspell,
    )
}

pub(super) fn rename_target(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.effects, dice, |_| true), |effect| {
        misspell(&mut effect.head)
    })
}

pub(super) fn rename_edge(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let from = dice.one_in(2);
    let edge = some(sketch.edges.iter_mut().flatten(), dice, |_| true);
    change(edge, |edge| {
        misspell(if from { &mut edge.0 } else { &mut edge.1 })
    })
}

pub(super) fn rename_ready(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.ready, dice, |_| true), misspell)
}

pub(super) fn infinite_fact(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let domain = dice.pick_word(&["u32", "String", "Reach"]);
    change(
        some(&mut sketch.facts, dice, |fact| !fact.domain.contains('|')),
        |fact| fact.domain = domain,
    )
}

pub(super) fn twice(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    fn again<T: Clone>(all: &mut Vec<T>, dice: &mut Dice) -> bool {
        let copy = all.get(dice.random_below(all.len())).cloned();
        let found = copy.is_some();
        all.extend(copy);
        found
    }
    match dice.random_below(6) {
        0 => again(&mut sketch.inputs, dice),
        1 => again(&mut sketch.facts, dice),
        2 => again(&mut sketch.states, dice),
        3 => again(&mut sketch.effects, dice),
        4 => again(&mut sketch.promises, dice),
        _ => again(&mut sketch.conditions, dice),
    }
}

pub(super) fn unobserved(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = sketch.facts.iter_mut().flat_map(|fact| &mut fact.from);
    let effects = sketch
        .effects
        .iter_mut()
        .flat_map(|effect| &mut effect.from);
    let values = sketch.lets.iter_mut().flat_map(|value| &mut value.from);
    change(
        some(facts.chain(effects).chain(values), dice, |_| true),
        misspell,
    )
}

pub(super) fn unobserved_lookup(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let lookups = sketch.inputs.iter_mut().map(|input| &mut input.lookup);
    change(
        some(lookups, dice, |lookup| lookup.starts_with("names of")),
        misspell,
    )
}

pub(super) fn circle(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.is_empty() {
        return false;
    }
    let (name, values) = dice.pick(&facts).clone();
    let asks = format!("{name} != {}", values[0]);
    let asks = if values[0] == "false" {
        name.clone()
    } else {
        asks
    };
    let through = dice.one_in(2);
    let fact = sketch
        .facts
        .iter_mut()
        .find(|fact| fact.name == name)
        .expect("it is one of the facts");
    if !through || fact.held {
        fact.givens.push((vec![asks], None));
        return true;
    }
    let other = Fact {
        name: "other".to_owned(),
        domain: "bool".to_owned(),
        from: fact.from.clone(),
        givens: vec![(vec![asks], None)],
        ..Fact::default()
    };
    fact.givens.push((vec!["other".to_owned()], None));
    sketch.facts.push(other);
    true
}

pub(super) fn unrelated_never(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.len() < 2 {
        return false;
    }
    let at = dice.random_below(facts.len() - 1);
    let atom = |(name, values): &(String, Vec<String>)| match values[0].as_str() {
        "false" => format!("!{name}"),
        value => format!("{name} == {value}"),
    };
    sketch
        .nevers
        .push(vec![atom(&facts[at]), atom(&facts[at + 1])]);
    true
}

pub(super) fn out_of_reach(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let facts = domains(sketch);
    if facts.is_empty() {
        return false;
    }
    let (fact, values) = dice.pick(&facts).clone();
    let value = dice.pick(&values).clone();
    let effect = some(&mut sketch.effects, dice, |effect| {
        !effect.head.starts_with("delete")
    });
    change(effect, |effect| {
        if effect.sets.is_empty() {
            effect
                .sets
                .push(vec![(effect.target(), "Current".to_owned())]);
        }
        let fresh = effect
            .sets
            .iter()
            .flatten()
            .all(|(other, _)| *other != fact);
        if fresh {
            effect.sets[0].push((fact, value));
        }
    })
}

fn is_call(effect: &Effect) -> bool {
    effect.head.starts_with("call")
}

pub(super) fn no_sets(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.effects, dice, is_call), |effect| {
        effect.sets.clear()
    })
}

pub(super) fn no_key(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.effects, dice, is_call), |effect| {
        effect.key = None
    })
}

pub(super) fn no_undo(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(
        some(&mut sketch.effects, dice, |effect| effect.undo.is_some()),
        |effect| effect.undo = None,
    )
}

pub(super) fn needless_undo(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let names: Vec<String> = sketch.effects.iter().map(Effect::known_as).collect();
    let effect = some(&mut sketch.effects, dice, |effect| effect.undo.is_none());
    let Some(effect) = effect else { return false };
    let other = names.into_iter().find(|name| *name != effect.known_as());
    effect.undo = other;
    effect.undo.is_some()
}

pub(super) fn unseen_is_free(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let value = dice.one_in(2).then(|| "No".to_owned());
    let held = |fact: &Fact| fact.held && !fact.givens.is_empty();
    change(some(&mut sketch.facts, dice, held), |fact| {
        let (_, other) = fact.givens.last_mut().expect("it has one");
        let unseen = std::mem::replace(other, value).unwrap_or_default();
        if !unseen.is_empty() && !fact.domain.contains(&unseen) {
            fact.domain = fact.domain.replace(" }", &format!(", {unseen} }}"));
        }
    })
}

pub(super) fn drop_else(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let givens = sketch.facts.iter_mut().flat_map(|fact| &mut fact.givens);
    change(some(givens, dice, |given| given.1.is_some()), |given| {
        given.1 = None
    })
}

pub(super) fn no_phase(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.states, dice, |_| true), |state| {
        (state.phase, state.overdue) = (None, None);
        state.wakes.clear();
    })
}

/// Marks a state of ours as managed by another controller.
pub(super) fn ignored(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.states, dice, |_| true), |state| {
        state.phase = Some("Ignored".to_owned());
        if dice.one_in(2) {
            state.wakes.clear();
        }
    })
}

pub(super) fn odd_phase(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    change(some(&mut sketch.states, dice, |_| true), |state| {
        state.phase = Some("Waiting".to_owned())
    })
}

pub(super) fn unread(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    if dice.one_in(2)
        && remove(&mut sketch.facts, dice, |fact| {
            fact.givens.is_empty() && !fact.held
        })
        .is_some()
    {
        return true;
    }
    let (head, lookup) = *dice.pick(&[
        ("[Node]", "namespace"),
        ("[Node]", "owner"),
        ("Node", "name spec.node"),
        ("poll Node", "meta.uid every 3s"),
    ]);
    let (head, lookup) = (head.to_owned(), lookup.to_owned());
    sketch.inputs.push(Input {
        name: "spare".to_owned(),
        head,
        lookup,
        given: Vec::new(),
    });
    true
}

/// A condition has the name of the roll-up.
pub(super) fn ready_twice(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let ready = &mut sketch.ready;
    let extras = &mut sketch.extras;
    change(some(&mut sketch.conditions, dice, |_| true), |condition| {
        let before = std::mem::replace(&mut condition.name, "Ready".to_owned());
        for name in ready.iter_mut().filter(|name| **name == before) {
            *name = "Ready".to_owned();
        }
        for line in extras.iter_mut() {
            *line = line.replace(&format!("in {before} "), "in Ready ");
        }
    })
}

/// A poll without its period.
pub(super) fn asked_once(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let polled = |input: &Input| input.head.starts_with("poll ");
    change(some(&mut sketch.inputs, dice, polled), |input| {
        let key = input.lookup.split(" every ").next();
        input.lookup = key.unwrap_or_default().to_owned();
    })
}

/// Seeds a count with a number of cases other than four, of an input that is no set, or of a held
/// fact.
pub(super) fn miscount(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let singles = sketch
        .inputs
        .iter()
        .filter(|input| !input.head.contains('['));
    let singles: Vec<String> = singles.map(|input| input.name.clone()).collect();
    let counts = |fact: &Fact| fact.domain.starts_with("count");
    let how = dice.random_below(4);
    let single = (!singles.is_empty()).then(|| dice.pick(&singles).clone());
    change(some(&mut sketch.facts, dice, counts), |fact| {
        match (how, single) {
            (0, _) => fact.domain = fact.domain.replace("Empty, ", ""),
            (1, _) => fact.domain = fact.domain.replace("All", "Most, All"),
            (2, _) | (_, None) => fact.held = true,
            (_, Some(single)) => fact.from = vec![single],
        }
    })
}

/// Seeds a poll with a duplicate key.
pub(super) fn asked_twice(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let polled = |input: &Input| input.head.starts_with("poll ");
    change(some(&mut sketch.inputs, dice, polled), |input| {
        let first = input.lookup.split([',', ' ']).next().unwrap_or_default();
        input.lookup = format!("{first}, {}", input.lookup);
    })
}

/// Seeds a probe in a lifecycle without a node.
pub(super) fn probed(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let polled = |input: &Input| input.head.starts_with("poll ");
    let instead = dice.one_in(2);
    if !instead {
        sketch.inputs.push(Input {
            name: "spare".to_owned(),
            head: "probe Node".to_owned(),
            lookup: "meta.uid".to_owned(),
            given: Vec::new(),
        });
        return true;
    }
    change(some(&mut sketch.inputs, dice, polled), |input| {
        input.head = input.head.replacen("poll", "probe", 1);
        input.lookup = input
            .lookup
            .replace(" every 30s", "")
            .replace(" every 2s", "");
    })
}

pub(super) fn write_what_is_read(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let read = |input: &&Input| !input.head.contains(' ');
    let names: Vec<String> = sketch
        .inputs
        .iter()
        .filter(read)
        .map(|input| input.name.clone())
        .collect();
    if names.is_empty() {
        return false;
    }
    let target = dice.pick(&names);
    let many = sketch
        .inputs
        .iter()
        .any(|input| input.name == *target && input.head.starts_with('['));
    let head = format!("apply {}{target}", if many { "each " } else { "" });
    sketch.effects.push(Effect {
        head,
        ..Effect::default()
    });
    true
}

pub(super) fn too_big(sketch: &mut Sketch, dice: &mut Dice) -> bool {
    let name = format!("many{}", sketch.inputs.len());
    sketch.inputs.push(Input {
        name: name.clone(),
        head: "[Peer]".to_owned(),
        lookup: "namespace".to_owned(),
        given: Vec::new(),
    });
    for number in 0..9 + dice.random_below(3) {
        sketch.facts.push(Fact {
            name: format!("{name}_{number}"),
            domain: "{ A, B, C, D }".to_owned(),
            from: vec![name.clone()],
            ..Fact::default()
        });
    }
    true
}
