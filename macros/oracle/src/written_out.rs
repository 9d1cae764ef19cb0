//! Replaces every predicate name with the predicate that it stands for. A name that stands for
//! itself, or for something that does not exist, stays a name.

use std::collections::BTreeMap;

use crate::syntax::{Life, Pred};

/// Every predicate in terms of facts that have values of their own.
pub(crate) fn write_out(life: &mut Life) {
    let meanings = meanings(life);
    let out = |pred: &mut Pred| *pred = written_out(pred, &meanings);
    life.inputs
        .iter_mut()
        .for_each(|one| one.given.iter_mut().chain(&mut one.retain).for_each(out));
    life.lets
        .iter_mut()
        .for_each(|one| one.given.iter_mut().for_each(out));
    let mints = life.lets.iter_mut().filter_map(|one| one.mint.as_mut());
    mints.for_each(|mint| mint.until.iter_mut().for_each(out));
    let chains = life.facts.iter_mut().flat_map(|fact| &mut fact.chain);
    chains.for_each(|(given, _)| out(given));
    life.nevers.iter_mut().for_each(out);
    life.states
        .iter_mut()
        .for_each(|state| out(&mut state.when));
    life.effects
        .iter_mut()
        .for_each(|one| one.when.iter_mut().for_each(out));
    life.promises.iter_mut().for_each(|one| out(&mut one.when));
    for step in &mut life.steps {
        step.when.iter_mut().for_each(out);
        out(&mut step.until);
    }
    life.abandoned.iter_mut().for_each(out);
    let clauses = life.conditions.iter_mut().flat_map(|one| &mut one.clauses);
    clauses.for_each(|clause| clause.when.iter_mut().for_each(out));
    let preconditions = life.preconditions.iter_mut();
    preconditions.for_each(|(_, when)| when.iter_mut().for_each(out));
    let states: Vec<String> = life.states.iter().map(|state| state.name.clone()).collect();
    for call in &mut life.calls {
        let is_state = |to: &Pred| matches!(to, Pred::Is(name, None) if states.contains(name));
        call.to.iter_mut().filter(|to| !is_state(to)).for_each(out);
        call.refusals.iter_mut().for_each(|(when, _)| out(when));
    }
}

/// Returns the meaning of each name, starting with those that mention no other name.
fn meanings(life: &Life) -> BTreeMap<String, Pred> {
    let mut known: BTreeMap<String, Pred> = BTreeMap::new();
    loop {
        let before = known.len();
        for (name, pred) in &life.derived {
            let out = written_out(pred, &known);
            if out
                .atoms()
                .iter()
                .all(|asked| life.derived(asked).is_none())
            {
                known.entry(name.clone()).or_insert(out);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

fn written_out(pred: &Pred, known: &BTreeMap<String, Pred>) -> Pred {
    let out = |pred: &Pred| Box::new(written_out(pred, known));
    match pred {
        Pred::And(left, right) => Pred::And(out(left), out(right)),
        Pred::Or(left, right) => Pred::Or(out(left), out(right)),
        Pred::Not(inner) => Pred::Not(out(inner)),
        Pred::Is(name, asked) => match known.get(name) {
            Some(meaning) => of_truth(meaning, asked.as_deref()).unwrap_or_else(|| pred.clone()),
            None => pred.clone(),
        },
    }
}

/// Returns a predicate that is compared with `true`, `false`, or one of the two. Returns `None` for
/// any other comparison.
fn of_truth(meaning: &Pred, asked: Option<&[String]>) -> Option<Pred> {
    let Some(asked) = asked else {
        return Some(meaning.clone());
    };
    let truths = [
        ("true", meaning.clone()),
        ("false", Pred::Not(Box::new(meaning.clone()))),
    ];
    let mut either: Option<Pred> = None;
    for word in asked {
        let (_, one) = truths.iter().find(|(truth, _)| truth == word)?;
        either = Some(match either {
            Some(other) => Pred::Or(Box::new(other), Box::new(one.clone())),
            None => one.clone(),
        });
    }
    either
}
