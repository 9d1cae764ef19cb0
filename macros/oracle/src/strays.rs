//! Warnings about single declarations: keys and names that may change, values that the API server
//! rejects, and items that nothing shows or queries.

use std::collections::BTreeSet;

use crate::findings::Findings;
use crate::held::{lets_go, takes};
use crate::syntax::{Condition, Effect, Input, Life, Property, atoms};
use crate::values::{predicates, root};

/// All of them.
pub(crate) fn of_declarations(life: &Life, found: &mut Findings) {
    for effect in &life.effects {
        keys(life, effect, found);
    }
    for input in &life.inputs {
        let tidied = life.effects.iter().any(|effect| {
            let set = life.input(&effect.on);
            effect.verb == "delete" && effect.each && set.is_some_and(|set| set.kind == input.kind)
        });
        let named = match input.by.as_str() {
            "name" => input.paths.iter().all(|path| is_edited(path)),
            "ref" => input.from.iter().any(|name| name != "self"),
            _ => false,
        };
        let labelled =
            input.by.starts_with("labels") && input.paths.iter().any(|path| is_edited(path));
        let ours = ["owned", "shared"].contains(&input.own.as_str());
        if !life.volume && ours && is_applied(life, input) && (labelled || named && !tidied) {
            found.report("LC162", &input.name);
        }
        let is_twin = |other: &Input| {
            other.name < input.name && is_written(life, other) && is_same(other, input)
        };
        let is_made = |other: &Input| {
            (is_applied(life, other) || life.creates(&other.name)) && is_same(other, input)
        };
        let inputs = &life.inputs;
        if is_written(life, input) && inputs.iter().any(is_twin) && inputs.iter().any(is_made) {
            found.report("LC168", &input.name);
        }
    }
    check_identifiers(life, found);
    columns(life, found);
    asked_by_nobody(life, found);
}

/// Returns true if an owner may edit this path.
fn is_edited(path: &str) -> bool {
    let second = path.split('.').nth(1).unwrap_or_default();
    match root(path) {
        "spec" => true,
        "meta" => !["uid", "name", "namespace"].contains(&second),
        _ => false,
    }
}

fn keys(life: &Life, effect: &Effect, found: &mut Findings) {
    let undo = effect.undo.as_ref().and_then(|undo| life.effect(undo));
    let keys = (&effect.key, undo.and_then(|undo| undo.key.as_ref()));
    if let (Some(own), Some(other)) = keys
        && own != other
    {
        found.report("LC161", &effect.name);
    }
    let taken = takes(life, effect);
    let mut new = taken.iter().filter(|fact| !lets_go(life, effect, fact));
    if life.volume || new.next().is_none() {
        return;
    }
    let moves = |key: &String| match life.input(root(key)) {
        Some(input) => input.own != "record",
        None => is_edited(key) || key == "meta.name" || key == "meta.namespace",
    };
    let target = life.input(&effect.on);
    let found_by = target.filter(|input| {
        let keyed = ["poll", "probe"].contains(&input.own.as_str()) && !input.paths.is_empty();
        input.by == "name" || keyed
    });
    let leads_elsewhere =
        found_by.is_some_and(|input| input.paths.iter().all(|path| is_edited(path)));
    if effect.key.as_ref().is_some_and(moves) || leads_elsewhere {
        found.report("LC160", &effect.name);
    }
}

fn is_applied(life: &Life, input: &Input) -> bool {
    let mut effects = life.effects.iter();
    effects.any(|effect| effect.verb == "apply" && writes(effect, input))
}

/// Returns true if an effect writes an input, or the group that it is in.
fn writes(effect: &Effect, input: &Input) -> bool {
    effect.on == input.name || input.group.as_ref() == Some(&effect.on)
}

fn is_written(life: &Life, input: &Input) -> bool {
    let mut effects = life.effects.iter();
    let is_written = |effect: &Effect| {
        ["apply", "create", "delete"].contains(&effect.verb.as_str()) && writes(effect, input)
    };
    ["owned", "shared", "part"].contains(&input.own.as_str()) && effects.any(is_written)
}

/// Returns true if both inputs are found in the same way, and neither by a method.
fn is_same(one: &Input, other: &Input) -> bool {
    let way = |input: &Input| match input.by.split(' ').next().unwrap_or_default() {
        "name" => Some(input.paths.clone()),
        "labels" => {
            let mut pairs: Vec<String> = input.by.split(' ').map(str::to_owned).collect();
            pairs.sort();
            Some(pairs)
        }
        "owner" | "namespace" => Some(vec![input.by.clone()]),
        _ => None,
    };
    let both = (one.many, &one.kind) == (other.many, &other.kind);
    let keyed = |input: &Input| ["poll", "probe"].contains(&input.own.as_str());
    both && !keyed(one) && !keyed(other) && way(one).is_some() && way(one) == way(other)
}

/// The name of the first input that is the same object.
pub(crate) fn first_of_its_kind(life: &Life, input: &Input) -> String {
    let mut same = life.inputs.iter().filter(|other| is_same(other, input));
    let first = same.next().unwrap_or(input);
    first.name.clone()
}

/// Reasons, types and events that are no such words.
fn check_identifiers(life: &Life, found: &mut Findings) {
    for condition in &life.conditions {
        if is_misspelt(condition) {
            found.report("LC164", &condition.name);
        }
    }
    for (place, reason) in &life.reasons {
        if !is_reason(reason) {
            found.report("LC164", *place);
        }
    }
}

fn is_misspelt(condition: &Condition) -> bool {
    let end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let name = &condition.name;
    let is_type = name.is_ascii() && end(name.chars().next()) && end(name.chars().last());
    condition.clauses.iter().any(|clause| {
        let written = ["True", "False", "Unknown"].contains(&clause.value.as_str());
        let reason = clause.reason.as_ref().or(written.then_some(name));
        let event = clause.event.as_ref();
        written && !(is_type && name.len() <= 316)
            || reason.is_some_and(|reason| !is_reason(reason))
            || event.is_some_and(|event| event.is_empty() || event.len() > 128)
    })
}

fn is_reason(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let (Some(first), Some(last)) = (letters.first(), letters.last()) else {
        return false;
    };
    let inner = letters.iter().all(|c| word(c) || [',', ':'].contains(c));
    first.is_ascii_alphabetic() && word(last) && inner && letters.len() <= 1024
}

/// Reports columns of fields that are not written.
fn columns(life: &Life, found: &mut Findings) {
    for (name, path) in &life.columns {
        let Some(rest) = path.strip_prefix(".status.") else {
            if !path.starts_with('.') {
                found.report("LC165", name);
            }
            continue;
        };
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let field = plain(&rest[..end]);
        let is_known = if field == "conditions" {
            shows_a_condition(life, path)
        } else {
            let mut fields = life.fields.iter().map(|(name, _)| plain(name));
            fields.any(|name| name == field) || life.kstatus && field == "observedgeneration"
        };
        if !is_known {
            found.report("LC165", name);
        }
    }
}

fn plain(name: &str) -> String {
    name.replace('_', "").to_ascii_lowercase()
}

fn shows_a_condition(life: &Life, path: &str) -> bool {
    let Some((_, rest)) = path.split_once("@.type==") else {
        return true;
    };
    let quote = |c: char| ['\\', '"', '\''].contains(&c);
    let name = rest
        .trim_start_matches(quote)
        .split(quote)
        .next()
        .unwrap_or_default();
    let of_tools = ["Reconciling", "Stalled"].contains(&name);
    name == "Ready" && life.ready.is_some()
        || life.kstatus && of_tools
        || life
            .conditions
            .iter()
            .any(|condition| condition.name == name)
}

/// The names for predicates that stand somewhere, as the text is written.
pub(crate) fn mentioned(life: &Life) -> Vec<String> {
    let mut all: Vec<String> = asked_by_properties(life);
    all.extend(
        predicates(life)
            .into_iter()
            .flat_map(|(_, pred)| pred.atoms()),
    );
    all.retain(|name| life.derived(name).is_some());
    all
}

fn asked_by_properties(life: &Life) -> Vec<String> {
    let preds = life
        .properties
        .iter()
        .filter_map(|property| match property {
            Property::Always { pred, .. } | Property::Never { pred, .. } => Some(pred),
            Property::Before(..) | Property::Reaches { .. } => None,
        });
    preds.flat_map(|pred| pred.atoms()).collect()
}

fn asked_by_nobody(life: &Life, found: &mut Findings) {
    let mut asked: BTreeSet<String> = asked_by_properties(life).into_iter().collect();
    asked.extend(
        predicates(life)
            .into_iter()
            .flat_map(|(_, pred)| pred.atoms()),
    );
    let sets = life
        .effects
        .iter()
        .flat_map(|effect| effect.sets.iter().flatten());
    asked.extend(sets.map(|(fact, _)| fact.clone()));
    asked.extend(life.fields.iter().flat_map(|(_, from)| from.clone()));
    asked.extend(life.derived.iter().flat_map(|(_, pred)| atoms(Some(pred))));
    for fact in &life.facts {
        if !fact.held && !asked.contains(&fact.name) && !life.offered.contains(&fact.name) {
            found.report("LC167", &fact.name);
        }
    }
    for (name, _) in &life.derived {
        if !life.mentioned.contains(name) && !life.offered.contains(name) {
            found.report("LC167", name);
        }
    }
}
