//! A `teardown` in some of the drawn lifecycles. Drawn with dice of its own, so that all others are the same with and without.

use crate::answer::{answer, fits};

use super::COMFORTABLE;
use super::dice::Dice;
use super::sketch::{Effect, Fact, Input, Promise, Sketch, to_strings};

/// How often another one is drawn where it would add a finding.
const TRIES: usize = 12;

/// A step: its effect, when it is over, and the effect and promise that are declared for its sake.
#[derive(Clone, Debug)]
struct Drawn {
    effect: String,
    until: String,
    declares: Option<Effect>,
    promises: Option<Promise>,
}

/// Lets something be done in order when some of them go: where they are sound mostly so that they stay it.
pub(super) fn overlay(sketch: &mut Sketch, is_sound: bool, number: u64) {
    let mut dice = Dice::new(number ^ 0x5445_4152);
    let rarely = if is_sound { 9 } else { 24 };
    if sketch.calls.is_some() || !dice.one_in(rarely) {
        return;
    }
    let before = answer(&sketch.to_string(), None);
    for _ in 0..TRIES {
        let mut torn_down = sketch.clone();
        add(&mut torn_down, &mut dice);
        if dice.one_in(if is_sound { 6 } else { 3 }) {
            mistake(&mut torn_down, &mut dice);
        }
        if torn_down.teardown.is_none() || !fits_well(&torn_down) {
            continue;
        }
        let after = answer(&torn_down.to_string(), None);
        // A mistake hides findings of a later stage, so it is seeded into a lifecycle without one.
        let is_fine = match is_sound {
            true => after.found.all.is_subset(&before.found.all),
            false => !after.refused && after.last() >= before.last(),
        };
        if is_fine || is_sound && dice.one_in(8) {
            *sketch = torn_down;
            return;
        }
    }
}

/// Returns true if the lifecycle has few enough worlds. A lifecycle that cannot be read has no
/// worlds to count.
fn fits_well(sketch: &Sketch) -> bool {
    let text = sketch.to_string();
    let has_names = answer(&text, None).worlds > 0;
    !has_names || fits(&text, 2 * COMFORTABLE)
}

fn add(sketch: &mut Sketch, dice: &mut Dice) {
    let mut all = steps(sketch, dice);
    let mut lines = Vec::new();
    let count = 1 + dice.random_below(3);
    while lines.len() < count && !all.is_empty() {
        let drawn = all.swap_remove(dice.random_below(all.len()));
        let when = match dice.one_in(7) {
            true => atom(sketch, dice).map(|atom| format!(" when {atom}")),
            false => None,
        };
        let until = match dice.one_in(5) {
            true => atom(sketch, dice).map(|atom| format!("{} || {atom}", drawn.until)),
            false => None,
        };
        let (when, until) = (when.unwrap_or_default(), until.unwrap_or(drawn.until));
        lines.push(format!("{}{when} until {until};", drawn.effect));
        sketch.effects.extend(drawn.declares);
        sketch.promises.extend(drawn.promises);
    }
    if dice.one_in(3) {
        lines.extend(given_up(sketch, dice));
    }
    sketch.teardown = (!lines.is_empty()).then_some(lines);
}

/// Everything that could be a step.
fn steps(sketch: &Sketch, dice: &mut Dice) -> Vec<Drawn> {
    let undos = sketch.effects.iter().filter_map(|one| one.undo.as_ref());
    let undos = undos.filter_map(|undo| sketch.effects.iter().find(|one| one.known_as() == *undo));
    let mut all: Vec<Drawn> = undos.filter_map(|undo| given_back(sketch, undo)).collect();
    all.extend(
        sketch
            .inputs
            .iter()
            .filter_map(|input| deleted(sketch, input)),
    );
    let given = sketch
        .effects
        .iter()
        .filter(|one| one.head.starts_with("apply "));
    let built = given.filter(|one| one.when.is_empty() && dice.one_in(6));
    all.extend(built.map(|one| Drawn {
        effect: one.known_as(),
        until: format!("{} == Current", one.target()),
        declares: None,
        promises: None,
    }));
    let facts = sketch.facts.iter();
    all.extend(facts.filter_map(|fact| called(sketch, fact, dice)));
    all
}

/// Returns a stage of the teardown that runs an undo until its result holds.
fn given_back(sketch: &Sketch, undo: &Effect) -> Option<Drawn> {
    let (fact, value) = undo.sets.first()?.first()?;
    let free = sketch.facts.iter().find(|one| one.name == *fact)?;
    let until = match (free.domain.as_str(), value.as_str()) {
        ("bool", "false") => format!("!{fact}"),
        _ => format!("{fact} == {value}"),
    };
    Some(Drawn {
        effect: undo.known_as(),
        until,
        declares: None,
        promises: None,
    })
}

/// Returns a stage of the teardown in which this operator itself deletes its object, and not only
/// the garbage collector.
fn deleted(sketch: &Sketch, input: &Input) -> Option<Drawn> {
    let name = &input.name;
    let own = input.head.split(' ').next().unwrap_or_default();
    let is_set = input.head.contains('[');
    let (head, until) = match (own, is_set) {
        ("owned", false) => (
            format!("delete {name}"),
            format!("{name} in {{ Absent, Foreign }}"),
        ),
        ("shared", false) => (format!("delete {name}"), format!("{name} == Absent")),
        ("owned" | "shared", true) => (
            format!("delete each {name}"),
            format!("{name} not in {{ Surplus, Draining }}"),
        ),
        _ => return None,
    };
    let same = sketch.effects.iter().find(|effect| effect.head == head);
    let new = Effect {
        name: Some(format!("unmake_{name}")),
        head,
        ..Effect::default()
    };
    Some(Drawn {
        effect: same.unwrap_or(&new).known_as(),
        until,
        declares: same.is_none().then_some(new),
        promises: None,
    })
}

/// Returns a stage of the teardown that tells a service outside to stop: at once, or with a promise
/// that ends it.
fn called(sketch: &Sketch, fact: &Fact, dice: &mut Dice) -> Option<Drawn> {
    let poll = fact.from.first()?;
    let input = sketch.inputs.iter().find(|input| input.name == *poll)?;
    let values: Vec<&str> = fact
        .domain
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    if !input.head.starts_with("poll ") || fact.domain.starts_with("count") || values.len() < 2 {
        return None;
    }
    let later = values.len() > 2 && dice.one_in(2);
    let (first, last) = (values[0], values[values.len() - 1]);
    let name = format!("stop_{}", fact.name);
    let set = |value: &str| vec![vec![(fact.name.clone(), value.to_owned())]];
    let promise = Promise {
        name: format!("{name}_ends"),
        when: to_strings(&[&format!("{} == {last}", fact.name)]),
        sets: set(first),
    };
    Some(Drawn {
        until: format!("{} == {first}", fact.name),
        declares: Some(Effect {
            name: Some(name.clone()),
            head: format!("call {poll}"),
            sets: set(if later { last } else { first }),
            key: Some("meta.uid".to_owned()),
            ..Effect::default()
        }),
        promises: later.then_some(promise),
        effect: name,
    })
}

/// Returns an atom that predicates of the lifecycle already evaluate.
fn atom(sketch: &Sketch, dice: &mut Dice) -> Option<String> {
    let states = sketch.states.iter().map(|state| &state.when);
    let givens = sketch.facts.iter().flat_map(|fact| &fact.givens);
    let all = states.chain(givens.map(|(given, _)| given)).flatten();
    let all: Vec<&String> = all.filter(|atom| !atom.contains("refused")).collect();
    let drawn = (!all.is_empty()).then(|| (*dice.pick(&all)).clone())?;
    Some(match drawn.contains("||") {
        true => format!("({drawn})"),
        false => drawn,
    })
}

fn given_up(sketch: &Sketch, dice: &mut Dice) -> Option<String> {
    let refused = sketch
        .effects
        .iter()
        .filter(|one| one.head.starts_with("call "));
    let refused: Vec<String> = refused.map(Effect::known_as).collect();
    let when = match dice.random_below(5) {
        0 if !refused.is_empty() => format!("refused({})", dice.pick(&refused)),
        _ => atom(sketch, dice)?,
    };
    Some(format!(
        "abandoned when {when} \"it cannot be given back\";"
    ))
}

/// Something that its author did not mean.
fn mistake(sketch: &mut Sketch, dice: &mut Dice) {
    let wrong = atom(sketch, dice);
    let Some(lines) = &mut sketch.teardown else {
        return;
    };
    match dice.random_below(8) {
        3 => lines.reverse(),
        4 => against(sketch, dice),
        5 if !sketch.effects.is_empty() => {
            let effect = dice.pick(&sketch.effects).known_as();
            lines.extend(wrong.map(|atom| format!("{effect} until {atom};")));
        }
        _ => {
            let effect = lines[0].split(' ').next().unwrap_or_default().to_owned();
            if let Some(atom) = wrong {
                lines[0] = format!("{effect} until {atom};");
            }
        }
    }
}

/// One step more, which deletes something.
pub(super) fn deletes(sketch: &mut Sketch, input: &Input, when: &str) -> Option<()> {
    let Drawn {
        effect,
        until,
        declares,
        ..
    } = deleted(sketch, input)?;
    sketch.effects.extend(declares);
    let lines = sketch.teardown.get_or_insert_default();
    lines.push(format!("{effect}{when} until {until};"));
    Some(())
}

fn some_deleted(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let inputs = sketch.inputs.iter();
    let inputs: Vec<Input> = inputs
        .filter(|one| deleted(sketch, one).is_some())
        .cloned()
        .collect();
    let input = inputs.get(dice.random_below(inputs.len()))?;
    deletes(sketch, input, "")
}

/// A step is over by something else.
pub(super) fn out_of_reach(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    some_deleted(sketch, dice)?;
    let wrong = atom(sketch, dice)?;
    let line = sketch.teardown.as_mut()?.last_mut()?;
    let effect = line.split(' ').next().unwrap_or_default().to_owned();
    *line = format!("{effect} until {wrong};");
    Some(())
}

/// Seeds a stage of the teardown that makes an object which life needs as well.
pub(super) fn needed_in_life(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let effects = sketch.effects.iter();
    let all: Vec<&Effect> = effects
        .filter(|one| one.head.starts_with("apply "))
        .collect();
    let effect = all.get(dice.random_below(all.len()))?;
    let line = format!(
        "{} until {} == Current;",
        effect.known_as(),
        effect.target()
    );
    sketch.teardown = Some(vec![line]);
    Some(())
}

/// Two steps in turns.
pub(super) fn turns(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    sketch.teardown = Some(Vec::new());
    against(sketch, dice);
    let lines = sketch.teardown.as_ref()?;
    (!lines.is_empty()).then_some(())
}

/// Seeds an abandonment, or the end of a stage, by an unobserved fact.
pub(super) fn unseen(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    some_deleted(sketch, dice)?;
    let polls = sketch
        .inputs
        .iter()
        .filter(|one| one.head.starts_with("poll "));
    let polls: Vec<String> = polls
        .map(|one| format!("{} == Unknown", one.name))
        .collect();
    let facts = sketch.facts.iter().filter(|one| !one.givens.is_empty());
    let facts = facts.filter_map(|fact| {
        let mut values = fact.domain.split(|c: char| !c.is_alphanumeric());
        let first = values.find(|word| !word.is_empty())?;
        Some(match first {
            "bool" => format!("!{}", fact.name),
            first => format!("{} == {first}", fact.name),
        })
    });
    let all: Vec<String> = facts.chain(polls).collect();
    let wrong = all.get(dice.random_below(all.len()))?.clone();
    let lines = sketch.teardown.as_mut()?;
    match dice.random_below(3) {
        0 => {
            let line = lines.last_mut()?;
            *line = line.replace(';', &format!(" || {wrong};"));
        }
        _ => lines.push(format!("abandoned when {wrong} \"nobody sees it\";")),
    }
    Some(())
}

/// Seeds an abandonment that applies wherever something is left.
pub(super) fn always_given_up(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    some_deleted(sketch, dice)?;
    let one = atom(sketch, dice)?;
    let when = match dice.one_in(2) {
        true => format!("{one} || !({one})"),
        false => format!("{one} && !({one})"),
    };
    let lines = sketch.teardown.as_mut()?;
    lines.push(format!("abandoned when {when} \"nobody knows\";"));
    Some(())
}

/// Seeds two stages of the teardown that undo each other.
fn against(sketch: &mut Sketch, dice: &mut Dice) {
    let facts = sketch.facts.iter().filter(|fact| !fact.held);
    let stops: Vec<Drawn> = facts
        .filter_map(|fact| called(sketch, fact, dice))
        .collect();
    let (Some(lines), false) = (&mut sketch.teardown, stops.is_empty()) else {
        return;
    };
    let stop = dice.pick(&stops).clone();
    let (Some(one), Some((fact, value))) = (stop.declares, stop.until.split_once(" == ")) else {
        return;
    };
    let Some(own) = sketch.facts.iter().find(|one| one.name == fact) else {
        return;
    };
    let mut words = own.domain.split(|c: char| !c.is_alphanumeric());
    let Some(other) = words.find(|word| !word.is_empty() && *word != value) else {
        return;
    };
    let named = |name: &str, value: &str| Effect {
        name: Some(name.to_owned()),
        sets: vec![vec![(fact.to_owned(), value.to_owned())]],
        ..one.clone()
    };
    *lines = vec![
        format!("shut until {fact} == {value};"),
        format!("open until {fact} == {other};"),
    ];
    let (shut, open) = (named("shut", value), named("open", other));
    sketch.effects.extend([shut, open]);
}
