//! Suspended objects query nothing outside the cluster: the consequences for polls, and the rule
//! that no poll may decide a suspension.

use std::collections::BTreeSet;

use crate::broken::Rule;
use crate::circles::build_dependencies;
use crate::findings::Findings;
use crate::syntax::{Life, Pred, State, objects};

/// Reports states that depend on the answer of a poll.
pub(crate) fn decided(life: &Life, found: &mut Findings) {
    for state in polled(life) {
        found.report("LC121", &state.name);
    }
}

/// Returns the suspended states that depend on a poll.
fn polled(life: &Life) -> Vec<&State> {
    if !life.states.iter().any(State::is_suspended) {
        return Vec::new();
    }
    let asks = build_dependencies(life);
    let polls: BTreeSet<String> = life
        .inputs
        .iter()
        .filter(|input| input.own == "poll")
        .map(|input| objects(&input.name))
        .collect();
    let rests_on_a_poll = |state: &&State| {
        let mut open = state.when.atoms();
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            if seen.insert(name.clone()) {
                open.extend(asks.get(&name).into_iter().flatten().cloned());
            }
        }
        state.is_suspended() && !seen.is_disjoint(&polls)
    };
    life.states.iter().filter(rests_on_a_poll).collect()
}

/// Returns the lifecycle with explicit conditions on each poll: it is queried in life unless the
/// object is suspended, and on deletion unless the deletion waits.
pub(crate) fn silent(life: &Life, wrong: Option<Rule>) -> Life {
    let mut silent = life.clone();
    if wrong == Some(Rule::SuspendedAsksNobody) || !polled(life).is_empty() {
        return silent;
    }
    let goes = life.teardown || life.facts.iter().any(|fact| fact.held);
    let deletable = !life.volume && goes;
    for state in life.states.iter().filter(|state| state.is_suspended()) {
        let mut awake = Pred::Not(Box::new(state.when.clone()));
        if deletable && !state.even {
            let deleting = Pred::Is("deleting".to_owned(), Some(vec!["true".to_owned()]));
            awake = Pred::Or(Box::new(awake), Box::new(deleting));
        }
        for input in silent.inputs.iter_mut().filter(|one| one.own == "poll") {
            input.given = Some(match input.given.take() {
                Some(given) => Pred::And(Box::new(given), Box::new(awake.clone())),
                None => awake.clone(),
            });
        }
    }
    silent
}
