//! The first stage: checks that every name is declared once, with the values that predicates query.

mod request;
mod sections;

use std::collections::BTreeSet;

use crate::findings::{Findings, is_warning};
use crate::groups;
use crate::kstatus::kstatus;
use crate::minted::places;
use crate::once;
use crate::ownership;
use crate::syntax::{Assign, Effect, Input, Life, Pred, Property, atoms};
use sections::{check_lengths, teardown, time};

/// The implicit states.
const IMPLICIT: [&str; 2] = ["Deleting", "Refused"];

const MANY: [&str; 5] = ["Behind", "Surplus", "Draining", "Foreign", "Current"];

/// The values of the fact that an input brings, if it brings one.
pub(crate) fn brought(life: &Life, input: &Input) -> Option<Vec<String>> {
    if input.group.is_some() {
        return None;
    }
    let adopted = life.adopts(&input.name);
    let once = input.own == "owned" && life.creates(&input.name);
    let values: &[&str] = match (input.own.as_str(), input.many) {
        ("owned", true) if once => &["New", "Behind", "Surplus", "Draining", "Foreign", "Current"],
        ("owned", false) if once => &["Absent", "Foreign", "Terminating", "New", "Made", "Gone"],
        ("owned" | "shared", true) | ("group", _) => &MANY,
        (_, true) | ("probe" | "clock" | "noted", _) => return None,
        ("owned", _) if adopted => &[
            "Absent",
            "Foreign",
            "Adoptable",
            "Terminating",
            "Stale",
            "Current",
        ],
        ("owned", _) => &["Absent", "Foreign", "Terminating", "Stale", "Current"],
        ("shared", _) => &["Absent", "Terminating", "Stale", "Current"],
        ("part" | "record", _) => &["Absent", "Stale", "Current"],
        ("poll", _) => &["Unknown", "Known"],
        _ if input.optional => &["Unnamed", "Absent", "Present"],
        _ => &["Absent", "Present"],
    };
    Some(values.iter().map(|&value| value.to_owned()).collect())
}

/// Returns the answers of a declared fact, and the values that only an `else` gives. `None` if the
/// fact does not exist.
pub(crate) fn values(life: &Life, name: &str) -> Option<(Vec<String>, Vec<String>)> {
    if let Some(effect) = name.strip_prefix('?') {
        life.effect(effect)?;
        return Some((vec!["false".to_owned(), "true".to_owned()], Vec::new()));
    }
    if let Some(input) = life.input(name) {
        return brought(life, input).map(|answers| (answers, Vec::new()));
    }
    if life.derived(name).is_some() {
        return Some((vec!["false".to_owned(), "true".to_owned()], Vec::new()));
    }
    let fact = life.fact(name)?;
    let answers = fact.domain.clone();
    let others = fact
        .chain
        .iter()
        .filter_map(|(_, other)| other.clone())
        .collect();
    Some((answers, others))
}

/// Reports unknown names at their mentions, because the author has to change those.
pub(crate) fn names(life: &Life, found: &mut Findings) {
    twice(life, found);
    for section in &life.unknown_sections {
        found.report("LC001", section);
    }
    for (code, item) in &life.misused {
        found.report(code, item);
    }
    kstatus(life, found);
    for (code, item) in &life.allows {
        if !is_warning(code) || code == "LC004" {
            found.report("LC005", item);
        }
    }
    for fact in &life.infinite {
        found.report("LC002", fact);
    }
    for state in life.states.iter().filter(|_| !life.volume) {
        if !matches!(
            state.phase.as_deref(),
            Some("Pending" | "Ready" | "Error" | "Suspended" | "Ignored")
        ) {
            found.report("LC050", &state.name);
        }
    }
    ignored(life, found);
    suspended(life, found);
    ownership::misplaced(life, found);
    once::misplaced(life, found);
    groups::misplaced(life, found);
    edges(life, found);
    for input in life.inputs.iter().filter(|_| !life.volume) {
        // A resource has no node to probe, and only a period repeats a query.
        if input.own == "probe" || input.own == "poll" && input.every.is_none() {
            found.report("LC005", &input.name);
        }
    }
    time(life, found);
    teardown(life, found);
    check_lengths(life, found);
    places(life, found);
    unobserved(life, found);
    request::fields(life, found);
    for (place, pred) in predicates(life) {
        let mut parts = pred.parts().into_iter();
        if !parts.all(|(name, asked)| is_asked_well(life, name, asked)) {
            found.report("LC001", place);
        }
    }
    assignments(life, found);
    references(life, found);
    properties(life, found);
    claims(life, found);
}

/// A keeper is named by each of its states once.
fn claims(life: &Life, found: &mut Findings) {
    for promise in &life.promises {
        let different: BTreeSet<&String> = promise.claimed.iter().collect();
        for _ in different.len()..promise.claimed.len() {
            found.report("LC180", &promise.name);
        }
    }
}

/// Reports properties with unknown states, effects and facts, and properties of a volume about
/// settled worlds.
fn properties(life: &Life, found: &mut Findings) {
    let asked_well = |pred: &Pred| {
        let mut parts = pred.parts().into_iter();
        parts.all(|(name, asked)| is_asked_well(life, name, asked))
    };
    let state = |name: &String| life.state(name).is_some();
    let place = |name: &String| state(name) || !life.volume && IMPLICIT.contains(&name.as_str());
    let effect = |name: &String| life.effect(name).is_some();
    for property in &life.properties {
        let (form, is_known, is_idle) = match property {
            Property::Always { pred, states, rest } => {
                let is_known = asked_well(pred) && states.iter().all(place);
                ("always", is_known, *rest)
            }
            Property::Never { effect: one, pred } => {
                ("never", effect(one) && asked_well(pred), false)
            }
            Property::Before(first, then) => ("before", effect(first) && effect(then), false),
            Property::Reaches { to, from } => ("reaches", to.iter().chain(from).all(state), true),
        };
        if !is_known {
            found.report("LC001", form);
        }
        if life.volume && is_idle {
            found.report("LC005", form);
        }
    }
}

/// Checks that each state of objects managed by another controller precedes all of our states,
/// wants nothing, and evaluates no write.
fn ignored(life: &Life, found: &mut Findings) {
    let mut ours = false;
    for state in &life.states {
        if !state.is_ignored() {
            ours = true;
            continue;
        }
        let refused = asks_for_refusal(life, state.when.atoms());
        let waits = state.goal || state.wakes.is_some() || state.overdue.is_some();
        if !life.volume && (ours || refused || waits) {
            found.report("LC055", &state.name);
        }
    }
}

/// Checks that a suspended state waits for the end of the suspension, and precedes every state that
/// is neither suspended nor ignored.
fn suspended(life: &Life, found: &mut Findings) {
    let held = life.teardown || life.facts.iter().any(|fact| fact.held);
    for (at, state) in life.states.iter().enumerate() {
        let mut above = life.states[..at].iter();
        let late = above.any(|other| !other.is_suspended() && !other.is_ignored());
        let refused = asks_for_refusal(life, state.when.atoms());
        let wrong = if state.is_suspended() {
            let waits = state.wakes.is_some() && !state.goal && state.overdue.is_none();
            late || refused || !waits || state.even && !held
        } else {
            state.even
        };
        if wrong && !life.volume {
            found.report("LC120", &state.name);
        }
    }
}

/// Returns true if one of these is a refusal, or a name that stands for one.
fn asks_for_refusal(life: &Life, mut asked: Vec<String>) -> bool {
    let mut at = 0;
    while let Some(name) = asked.get(at).cloned() {
        if name.starts_with('?') {
            return true;
        }
        for further in atoms(life.derived(&name)) {
            if !asked.contains(&further) {
                asked.push(further);
            }
        }
        at += 1;
    }
    false
}

/// Inputs, values and facts are one kind of name, for predicates and `from` mention them alike.
fn twice(life: &Life, found: &mut Findings) {
    let mut asked: Vec<&String> = life.inputs.iter().map(|one| &one.name).collect();
    asked.extend(life.lets.iter().map(|one| &one.name));
    asked.extend(life.facts.iter().map(|one| &one.name));
    asked.extend(life.derived.iter().map(|(name, _)| name));
    let kinds: [Vec<&String>; 6] = [
        asked,
        life.states.iter().map(|one| &one.name).collect(),
        life.effects.iter().map(|one| &one.name).collect(),
        life.promises.iter().map(|one| &one.name).collect(),
        life.conditions.iter().map(|one| &one.name).collect(),
        life.sections.iter().collect(),
    ];
    for names in kinds {
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                found.report("LC003", *name);
            }
        }
    }
    for fact in &life.facts {
        for (at, value) in fact.domain.iter().enumerate() {
            if fact.domain[..at].contains(value) {
                found.report("LC003", value);
            }
        }
    }
    // The roll-up is a condition too.
    if life.ready.is_some() && life.conditions.iter().any(|one| one.name == "Ready") {
        found.report("LC003", "Ready");
    }
}

/// Reports a duplicate edge, and an edge from every state to a state that is no failure.
fn edges(life: &Life, found: &mut Findings) {
    let all: Vec<&(String, String)> = life.edges.iter().flatten().collect();
    for (at, edge) in all.iter().enumerate() {
        let (from, to) = edge;
        let anywhere = from == "_";
        let Some(state) = life.state(to) else {
            continue;
        };
        if !anywhere && life.state(from).is_none() {
            continue;
        }
        let covered = !anywhere && all.iter().any(|other| other.0 == "_" && other.1 == *to);
        if covered || all[..at].contains(edge) {
            found.report("LC003", format!("{from} -> {to}"));
        }
        let right = matches!(
            state.phase.as_deref(),
            Some("Pending" | "Ready" | "Suspended" | "Ignored")
        );
        if anywhere && (life.volume || right) {
            found.report("LC032", format!("_ -> {to}"));
        }
    }
}

/// Returns the names that each line reads, by the name of the line.
fn read_by(life: &Life) -> Vec<(&str, Vec<&String>)> {
    let mut all: Vec<(&str, Vec<&String>)> = Vec::new();
    let mut read = |place, names| all.push((place, names));
    for input in &life.inputs {
        read(&input.name, input.from.iter().collect());
    }
    for value in &life.lets {
        read(&value.name, value.from.iter().collect());
    }
    for fact in &life.facts {
        read(&fact.name, fact.from.iter().collect());
    }
    for effect in &life.effects {
        read(&effect.name, effect.from.iter().collect());
    }
    for state in &life.states {
        read(&state.name, state.wakes.iter().flatten().collect());
    }
    for (field, from) in &life.fields {
        let facts = |name: &&String| life.fact(name).is_none();
        read(field, from.iter().filter(facts).collect());
    }
    all
}

/// The first name of a path.
pub(crate) fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

fn unobserved(life: &Life, found: &mut Findings) {
    let lost = |name: &str| life.infinite.iter().any(|lost| lost == name);
    let input = |name: &str| life.input(name).is_some() || lost(name);
    for (place, names) in read_by(life) {
        let request = |name: &str| name == "self" || life.volume && root(name) == "request";
        let known = |name: &str| input(name) || life.value(name).is_some() || request(name);
        if !names.into_iter().all(|name| known(name)) {
            found.report("LC060", place);
        }
    }
    let known = |path: &String| {
        let request = life.volume && root(path) == "request";
        input(root(path)) || ["meta", "spec"].contains(&root(path)) || request
    };
    for one in life
        .inputs
        .iter()
        .filter(|one| !one.paths.iter().all(known))
    {
        found.report("LC060", &one.name);
    }
    for effect in life
        .effects
        .iter()
        .filter(|effect| !effect.key.iter().all(known))
    {
        found.report("LC060", &effect.name);
    }
}

/// Returns every predicate with the name of its user.
pub(crate) fn predicates(life: &Life) -> Vec<(&str, &Pred)> {
    let mut all: Vec<(&str, &Pred)> = Vec::new();
    all.extend(life.nevers.iter().map(|never| ("never", never)));
    all.extend(
        life.derived
            .iter()
            .map(|(name, pred)| (name.as_str(), pred)),
    );
    for one in &life.inputs {
        let asked = one.given.iter().chain(&one.retain);
        all.extend(asked.map(|pred| (one.name.as_str(), pred)));
    }
    all.extend(
        life.lets
            .iter()
            .filter_map(|one| Some((one.name.as_str(), one.given.as_ref()?))),
    );
    all.extend(
        life.minted()
            .filter_map(|(one, mint)| Some((one.name.as_str(), mint.until.as_ref()?))),
    );
    for fact in &life.facts {
        all.extend(
            fact.chain
                .iter()
                .map(|(given, _)| (fact.name.as_str(), given)),
        );
    }
    all.extend(life.states.iter().map(|one| (one.name.as_str(), &one.when)));
    all.extend(
        life.effects
            .iter()
            .filter_map(|one| Some((one.name.as_str(), one.when.as_ref()?))),
    );
    all.extend(
        life.promises
            .iter()
            .map(|one| (one.name.as_str(), &one.when)),
    );
    for step in &life.steps {
        all.extend(
            step.when
                .iter()
                .chain([&step.until])
                .map(|asked| ("teardown", asked)),
        );
    }
    all.extend(life.abandoned.iter().map(|when| ("teardown", when)));
    for condition in &life.conditions {
        let asked = condition
            .clauses
            .iter()
            .filter_map(|clause| clause.when.as_ref());
        all.extend(asked.map(|when| (condition.name.as_str(), when)));
    }
    let preconditions = life.preconditions.iter();
    all.extend(preconditions.filter_map(|(name, when)| Some((name.as_str(), when.as_ref()?))));
    for call in &life.calls {
        let target = call.to.iter().filter(|to| life.target_state(to).is_none());
        let refusals = call.refusals.iter().map(|(when, _)| when);
        all.extend(
            target
                .chain(refusals)
                .map(|when| (call.name.as_str(), when)),
        );
    }
    all
}

/// Returns true if the fact exists and has these values. A fact that was lost may have any values.
pub(crate) fn is_asked_well(life: &Life, name: &str, asked: Option<&[String]>) -> bool {
    let Some((answers, others)) = values(life, name) else {
        return life.infinite.iter().any(|lost| lost == name);
    };
    let mut all = answers.iter().chain(&others);
    match asked {
        None => all.any(|value| is_there(value)),
        Some(asked) => asked
            .iter()
            .all(|asked| all.clone().any(|value| value == asked)),
    }
}

/// Returns true for the values that a bare name stands for.
pub(crate) fn is_there(value: &str) -> bool {
    ["true", "Present", "Known"].contains(&value)
}

fn assignments(life: &Life, found: &mut Findings) {
    let mut all: Vec<(&str, &Assign)> = Vec::new();
    for effect in &life.effects {
        all.extend(
            effect
                .sets
                .iter()
                .map(|assign| (effect.name.as_str(), assign)),
        );
    }
    for promise in &life.promises {
        all.extend(
            promise
                .sets
                .iter()
                .map(|assign| (promise.name.as_str(), assign)),
        );
    }
    for (place, (fact, value)) in all
        .into_iter()
        .flat_map(|(place, assign)| assign.iter().map(move |pair| (place, pair)))
    {
        let lost = life.infinite.contains(fact);
        let named = life.derived(fact).is_some();
        if !lost
            && (named || values(life, fact).is_none_or(|(answers, _)| !answers.contains(value)))
        {
            found.report("LC001", place);
        }
    }
}

fn references(life: &Life, found: &mut Findings) {
    for effect in &life.effects {
        let undone = effect
            .undo
            .as_ref()
            .is_none_or(|undo| life.effect(undo).is_some());
        if life.input(&effect.on).is_none() || !undone {
            found.report("LC001", &effect.name);
        }
    }
    let known = |name: &String| {
        life.conditions
            .iter()
            .any(|condition| condition.name == *name)
    };
    if !life.ready.iter().flatten().all(known) {
        found.report("LC001", "ready");
    }
    if !life.implicit.iter().all(known) {
        found.report("LC001", "implicit");
    }
    let is_lost = |name: &String| life.input(name).is_none();
    for input in life
        .inputs
        .iter()
        .filter(|one| one.of.as_ref().or(one.tells.as_ref()).is_some_and(is_lost))
    {
        found.report("LC001", &input.name);
    }
    let mut ends = life
        .edges
        .iter()
        .flatten()
        .flat_map(|(from, to)| [from, to])
        .filter(|name| *name != "_");
    if !ends.all(|name| life.state(name).is_some()) {
        found.report("LC001", "transitions");
    }
}

/// Returns the names that must be known before an effect can be called enabled.
pub(crate) fn needed(life: &Life, effect: &str) -> BTreeSet<String> {
    let Some(effect) = life.effect(effect) else {
        return BTreeSet::new();
    };
    let mut needed: BTreeSet<String> = BTreeSet::new();
    let before = life
        .effects
        .iter()
        .take_while(|other| other.name != effect.name);
    for rival in before.filter(|other| builds_the_same(other, effect)) {
        needed.extend(runs_by(life, rival));
    }
    needed.extend(runs_by(life, effect));
    needed.remove(&format!("?{}", effect.name));
    needed
}

/// Returns true if both effects build the same object, or the same set.
pub(crate) fn builds_the_same(one: &Effect, other: &Effect) -> bool {
    let both = [one, other].iter().all(|effect| effect.verb == "apply");
    both && (&one.on, one.each) == (&other.on, other.each)
}

/// Returns true if permissions decide which of several effects builds something.
pub(crate) fn is_one_of_several(life: &Life, effect: &Effect) -> bool {
    life.effects
        .iter()
        .filter(|other| builds_the_same(other, effect))
        .count()
        > 1
}

/// Returns the names that decide whether an effect may run.
fn runs_by(life: &Life, effect: &Effect) -> BTreeSet<String> {
    let mut needed: BTreeSet<String> = atoms(effect.when.as_ref()).into_iter().collect();
    needed.extend(effect.from.iter().cloned());
    // An object of another owner is written only if this owner exists.
    let owner = life.input(&effect.on).and_then(|input| input.of.clone());
    needed.extend(owner.filter(|_| ["apply", "adopt", "create"].contains(&effect.verb.as_str())));
    needed.insert(effect.on.clone());
    let shown = life.verdict_input(effect);
    needed.insert(shown.to_owned());
    needed.extend(atoms(
        life.input(shown).and_then(|input| input.given.as_ref()),
    ));
    needed.extend(effect.sets.iter().flatten().map(|(fact, _)| fact.clone()));
    needed.extend(atoms(
        life.input(&effect.on)
            .and_then(|input| input.given.as_ref()),
    ));
    for value in effect.from.iter().filter_map(|name| life.value(name)) {
        needed.extend(atoms(value.given.as_ref()));
    }
    needed.extend(turn_of(life, &effect.name));
    let mut aside = life.states.clone();
    aside.retain(|state| state.is_ignored() || state.is_suspended());
    needed.extend(aside.iter().flat_map(|state| state.when.atoms()));
    needed
}

/// Returns the names that decide the turn of an effect on deletion.
fn turn_of(life: &Life, effect: &str) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let is_undo = life
        .effects
        .iter()
        .any(|other| other.undo.as_deref() == Some(effect));
    let is_step = life.steps.iter().any(|step| step.effect == effect);
    for step in life.steps.iter().filter(|_| is_undo || is_step) {
        all.extend(step.until.atoms());
        if step.effect == effect {
            all.extend(atoms(step.when.as_ref()));
        }
    }
    all
}
