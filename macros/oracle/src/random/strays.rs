//! Mistakes about keys, names, words and columns in some of the drawn lifecycles. Drawn with dice of their own, so that all others are the same with and without.

use crate::answer::answer;

use super::dice::Dice;
use super::sketch::{Clause, Fact, Promise, Sketch};

type Mistake = fn(&mut Sketch, &mut Dice) -> Option<()>;

/// Seeded bugs that cost a lifecycle nothing when it runs for real.
const HARMLESS: [Mistake; 2] = [column, fact];

const ALL: [Mistake; 14] = [
    key,
    key,
    key,
    key,
    other_key,
    other_key,
    reason,
    event,
    column,
    own_object,
    own_effect,
    waits_for_its_owner,
    fact,
    twin,
];

/// Makes a mistake in some of them.
pub(super) fn overlay(sketch: &mut Sketch, is_sound: bool, number: u64) {
    let mut dice = Dice::new(number ^ 0x5354_5241);
    if !dice.one_in(9) || sketch.calls.is_some() {
        return;
    }
    let mistakes = if is_sound { &HARMLESS[..] } else { &ALL[..] };
    let first = dice.random_below(mistakes.len());
    let mut turns = mistakes.iter().cycle().skip(first).take(mistakes.len());
    turns.any(|mistake| mistake(sketch, &mut dice).is_some());
    if !is_sound && dice.one_in(4) {
        drop_undo(sketch, &mut dice);
    }
}

/// The number of one of those that fit.
fn one_of(fits: impl Iterator<Item = bool>, dice: &mut Dice) -> Option<usize> {
    let all: Vec<usize> = fits
        .enumerate()
        .filter(|(_, fits)| *fits)
        .map(|(at, _)| at)
        .collect();
    (!all.is_empty()).then(|| *dice.pick(&all))
}

pub(super) fn key(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .effects
            .iter()
            .map(|one| one.undo.is_some() && one.key.is_some()),
        dice,
    )?;
    let key = dice.pick_word(&[
        "spec.host",
        "meta.name",
        "meta.namespace",
        "meta.labels",
        "meta.uid",
    ]);
    let undo = sketch.effects[at].undo.clone();
    sketch.effects[at].key = Some(key.clone());
    let undo = sketch
        .effects
        .iter_mut()
        .find(|one| Some(one.known_as()) == undo)?;
    undo.key = Some(key);
    Some(())
}

pub(super) fn other_key(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .effects
            .iter()
            .map(|one| one.undo.is_some() && one.key.is_some()),
        dice,
    )?;
    let undo = sketch.effects[at].undo.clone();
    let undo = sketch
        .effects
        .iter_mut()
        .find(|one| Some(one.known_as()) == undo)?;
    undo.key.as_ref()?;
    undo.key = Some(dice.pick_word(&["meta.uid", "meta.name", "spec.host"]));
    Some(())
}

fn clause<'a>(sketch: &'a mut Sketch, dice: &mut Dice) -> Option<&'a mut Clause> {
    let at = one_of(
        sketch.conditions.iter().map(|one| !one.clauses.is_empty()),
        dice,
    )?;
    let clauses = &mut sketch.conditions[at].clauses;
    let at = one_of(
        clauses
            .iter()
            .map(|one| ["True", "False", "Unknown"].contains(&one.value.as_str())),
        dice,
    )?;
    Some(&mut clauses[at])
}

fn reason(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let long = "x".repeat(1_024 + dice.random_below(2));
    let words = [
        "name taken",
        "",
        "Gr\u{fc}n",
        "1st",
        "Ends:",
        "A_b,c:d9",
        &long,
    ];
    clause(sketch, dice)?.reason = Some(dice.pick_word(&words));
    Some(())
}

fn event(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let words = [String::new(), "e".repeat(129), "e".repeat(128)];
    let clause = clause(sketch, dice)?;
    clause.reason.as_ref()?;
    clause.event = Some(dice.pick(&words).clone());
    Some(())
}

fn column(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    if sketch.conditions.is_empty() {
        return None;
    }
    let condition = dice.pick(&sketch.conditions).name.clone();
    let path = match dice.random_below(8) {
        0 => ".status.lastBackup".to_owned(),
        1 => "status.phase".to_owned(),
        2 => ".status.conditions[?(@.type=='Odd')].status".to_owned(),
        3 => ".status.conditions[?(@.type==\\\"Ready\\\")].status".to_owned(),
        4 => format!(".status.conditions[?(@.type=='{condition}')].reason"),
        5 => ".spec.host".to_owned(),
        6 => ".status.observedGeneration".to_owned(),
        _ => ".status.phase".to_owned(),
    };
    sketch.extras.push(format!("column Shown \"{path}\";"));
    Some(())
}

fn own_object(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .effects
            .iter()
            .map(|one| one.head.starts_with("apply ") && !one.head.starts_with("apply each")),
        dice,
    )?;
    let target = sketch.effects[at].target();
    sketch.promises.push(Promise {
        name: "comes".to_owned(),
        when: vec![format!("{target} == Stale")],
        sets: vec![vec![(target, "Current".to_owned())]],
    });
    Some(())
}

fn own_effect(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .effects
            .iter()
            .map(|one| !one.when.is_empty() && !one.sets.is_empty()),
        dice,
    )?;
    let effect = &sketch.effects[at];
    let promise = Promise {
        name: "does".to_owned(),
        when: effect.when.clone(),
        sets: effect.sets.iter().take(1).cloned().collect(),
    };
    sketch.promises.push(promise);
    Some(())
}

pub(super) fn waits_for_its_owner(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .states
            .iter()
            .map(|one| one.phase.as_deref() == Some("Error")),
        dice,
    )?;
    sketch.states[at].wakes = vec!["self".to_owned()];
    Some(())
}

fn fact(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    if dice.one_in(2) {
        let at = one_of(sketch.states.iter().map(|one| !one.when.is_empty()), dice)?;
        let pred = sketch.states[at].when[0].clone();
        // A refusal is known later than facts are.
        let is_plain = !pred.contains("refused");
        sketch
            .derived
            .extend(is_plain.then(|| ("odd".to_owned(), pred)));
        return is_plain.then_some(());
    }
    sketch.facts.push(Fact {
        name: "idle".to_owned(),
        domain: "bool".to_owned(),
        from: vec!["self".to_owned()],
        ..Fact::default()
    });
    Some(())
}

/// One object by two names.
fn twin(sketch: &mut Sketch, dice: &mut Dice) -> Option<()> {
    let at = one_of(
        sketch
            .effects
            .iter()
            .map(|one| one.head.starts_with("apply ")),
        dice,
    )?;
    let mut effect = sketch.effects[at].clone();
    let target = effect.target();
    let mut input = sketch.inputs.iter().find(|one| one.name == target)?.clone();
    if !input.given.is_empty() || effect.undo.is_some() || !effect.sets.is_empty() {
        return None;
    }
    input.name = "twin".to_owned();
    effect.name = None;
    effect.head = effect.head.replace(&target, "twin");
    sketch.inputs.push(input);
    sketch.effects.push(effect);
    Some(())
}

/// Removes an undo. The `when` of the effect may still show that it keeps the held fact.
fn drop_undo(sketch: &mut Sketch, dice: &mut Dice) {
    let at = one_of(sketch.effects.iter().map(|one| one.undo.is_some()), dice);
    // One that acquires nothing is another mistake.
    let found = answer(&sketch.to_string(), None).found.all;
    let is_idle = found.iter().any(|one| one.code == "LC044");
    let Some(effect) = at.filter(|_| !is_idle).map(|at| &mut sketch.effects[at]) else {
        return;
    };
    effect.undo = None;
    let set: Vec<String> = effect
        .sets
        .iter()
        .flatten()
        .map(|(fact, _)| fact.clone())
        .collect();
    if dice.random_below(3) > 0 {
        effect
            .when
            .retain(|atom| !set.iter().any(|fact| atom.contains(fact.as_str())));
    }
}
