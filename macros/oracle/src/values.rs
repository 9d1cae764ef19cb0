//! Values of facts, and the predicates that query them.

use crate::syntax::{Input, Life, Pred};

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

/// Returns true for the values that a bare name stands for.
pub(crate) fn is_there(value: &str) -> bool {
    ["true", "Present", "Known"].contains(&value)
}

/// The first name of a path.
pub(crate) fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
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
