//! Objects that are created once in some of the drawn lifecycles. Uses dice of its own, so that all other draws stay unchanged.

use crate::answer::{answer, fits};
use crate::findings::is_warning;

use super::dice::Dice;
use super::sketch::{
    Clause, Condition, Effect, Fact, Guard, Input, Promise, Sketch, State, alternatives, to_strings,
};
use super::{COMFORTABLE, declare_edges};

/// Lets some of them create something and remember it.
pub(super) fn overlay(sketch: &mut Sketch, number: u64) {
    let mut dice = Dice::new(number ^ 0x4f4e_4345);
    if !dice.one_in(3) || sketch.calls.is_some() {
        return;
    }
    let found = |sketch: &Sketch| answer(&sketch.to_string(), None).found.all;
    let before = found(sketch);
    if before.iter().any(|one| !is_warning(&one.code)) && !dice.one_in(8) {
        return;
    }
    let mut more = sketch.clone();
    match dice.random_below(5) {
        0 | 1 => object(&mut more, &mut dice),
        2 => members(&mut more, &mut dice),
        3 => heard(&mut more, true),
        _ => heard(&mut more, false),
    }
    if !fits(&more.to_string(), COMFORTABLE) {
        return;
    }
    if more.edges.is_some() {
        declare_edges(&mut more);
    }
    let is_as_before = |more: &Sketch| {
        let mut all = found(more);
        all.retain(|one| one.code != "LC158");
        all == before
    };
    if is_as_before(&more) {
        *sketch = more;
    }
}

const NAME: &str = "chore";
const RECORD: &str = "chores";

fn observe(sketch: &mut Sketch, head: &str, lookup: &str) {
    let input = |name: &str, head: String, lookup: &str| Input {
        name: name.to_owned(),
        head,
        lookup: lookup.to_owned(),
        ..Input::default()
    };
    let record = input(RECORD, format!("record of {NAME}"), "");
    sketch.inputs.push(input(NAME, head.to_owned(), lookup));
    sketch.inputs.push(record);
}

/// Sometimes observes the object only if everything else is as wanted.
fn later(sketch: &mut Sketch, dice: &mut Dice) {
    let goal = sketch.states.iter().find(|state| state.goal);
    let goal = goal.map(|state| state.when.clone()).unwrap_or_default();
    let chore = sketch.inputs.iter_mut().find(|input| input.name == NAME);
    if let Some(chore) = chore.filter(|_| dice.one_in(3)) {
        chore.given = goal;
    }
}

/// Inserts states before the goals, which take the remaining worlds.
fn states(sketch: &mut Sketch, states: &[(&str, &[&str], &str, &[&str])]) {
    let goal = sketch.states.iter().position(|state| state.goal);
    let goal = goal.unwrap_or(sketch.states.len());
    let states = states.iter().map(|(name, when, phase, wakes)| State {
        name: (*name).to_owned(),
        when: to_strings(when),
        phase: Some((*phase).to_owned()),
        wakes: to_strings(wakes),
        ..State::default()
    });
    sketch.states.splice(goal..goal, states);
}

fn condition(sketch: &mut Sketch, bad: &[(&str, &str)], right: &str) {
    let clause = |value: &str, reason: Option<&str>, when: Option<&str>| Clause {
        value: value.to_owned(),
        reason: reason.map(str::to_owned),
        when: when.map(|when| to_strings(&[when])),
        ..Clause::default()
    };
    let bad = bad
        .iter()
        .map(|(when, reason)| clause("False", Some(reason), Some(when)));
    let mut clauses: Vec<Clause> = bad.collect();
    clauses.push(clause("True", None, Some(right)));
    clauses.push(clause("Unknown", Some("Busy"), None));
    let name = "Chored".to_owned();
    if !sketch.ready.is_empty() {
        sketch.ready.push(name.clone());
    }
    sketch.conditions.push(Condition { name, clauses });
}

fn create(sketch: &mut Sketch, head: &str, when: Guard, dice: &mut Dice) {
    let place = dice.random_below(sketch.effects.len() + 1);
    let effect = Effect {
        head: head.to_owned(),
        when,
        ..Effect::default()
    };
    sketch.effects.insert(place, effect);
}

const TAKEN: (&str, &[&str], &str, &[&str]) = (
    "ChoreTaken",
    &["chore == Foreign"],
    "Error",
    &["chore", "self"],
);

/// Adds one object that no predicate queries.
fn object(sketch: &mut Sketch, dice: &mut Dice) {
    let lookup = dice.pick_word(&["name meta.name", "ref"]);
    observe(sketch, "owned Job", &lookup);
    later(sketch, dice);
    create(sketch, "create chore", Vec::new(), dice);
    let when: &[&str] = &["chore in { Absent, New }"];
    states(sketch, &[TAKEN, ("Chores", when, "Pending", &[])]);
    if dice.one_in(3) {
        sketch.effects.push(Effect {
            name: Some("sweep".to_owned()),
            head: "delete chore".to_owned(),
            when: to_strings(&["chore == Made"]),
            ..Effect::default()
        });
    }
    let bad = [("chore == Foreign", "ChoreTaken")];
    condition(sketch, &bad, "chore in { Made, Terminating, Gone }");
}

/// Adds a set with members that are no longer wanted.
fn members(sketch: &mut Sketch, dice: &mut Dice) {
    observe(sketch, "owned [Job]", "labels { CHORE = meta.name }");
    later(sketch, dice);
    create(sketch, "create each chore", Vec::new(), dice);
    let deletes = dice.one_in(2);
    if deletes {
        create(sketch, "delete each chore", Vec::new(), dice);
    }
    let making: &[&str] = &["chore in { New, Behind }"];
    let pruning: &[&str] = &["chore in { Surplus, Draining }"];
    let mut all = vec![TAKEN, ("Chores", making, "Pending", &[][..])];
    let mut right = "chore in { Surplus, Draining, Current }";
    if deletes {
        all.push(("Pruning", pruning, "Pending", &[][..]));
        right = "chore == Current";
    }
    states(sketch, &all);
    let bad = [("chore == Foreign", "ChoreTaken")];
    condition(sketch, &bad, right);
}

/// Adds one object that is awaited until its end, sometimes even after it is gone.
fn heard(sketch: &mut Sketch, asks: bool) {
    observe(sketch, "owned Job", "ref");
    sketch.facts.push(Fact {
        name: "over".to_owned(),
        domain: "bool".to_owned(),
        from: to_strings(&[NAME]),
        ..Fact::default()
    });
    sketch.effects.push(Effect {
        head: "create chore".to_owned(),
        ..Effect::default()
    });
    sketch.promises.push(Promise {
        name: "chore_ends".to_owned(),
        when: match asks {
            true => to_strings(&["!over", "chore == Made"]),
            false => to_strings(&["!over", "chore != Terminating"]),
        },
        sets: alternatives("over", &["true"]),
    });
    let mut all: Vec<(&str, &[&str], &str, &[&str])> = vec![
        TAKEN,
        ("Chores", &["chore in { Absent, New }"], "Pending", &[]),
        (
            "ChoreEnding",
            &["!over", "chore == Terminating"],
            "Pending",
            &[],
        ),
    ];
    let mut bad = vec![("chore == Foreign", "ChoreTaken")];
    if asks {
        all.push((
            "Lost",
            &["!over", "chore == Gone"],
            "Error",
            &["chore", "self"],
        ));
        bad.push(("!over && chore == Gone", "Lost"));
    }
    all.push(("Choring", &["!over"], "Pending", &[]));
    states(sketch, &all);
    condition(sketch, &bad, "over && chore in { Made, Terminating, Gone }");
}
