//! Mutations of parts of an item: lists, optional clauses, words with alternatives, and the clauses
//! of a condition.

use super::predicates::{predicates, predicates_changed, replaced};
use super::source::take_item;
use super::{Changed, Source};

/// Each name of a list left out; the list with it if it was the only one.
pub(super) fn lists(section: &str, item: &[String], list: &str) -> Vec<Changed> {
    let Some(start) = item.iter().position(|word| word == list) else {
        return Vec::new();
    };
    let is_name = |word: &String| word.chars().all(|c| c.is_alphanumeric() || c == '_');
    let mut end = start + 2;
    while item[end] == "," && is_name(&item[end + 1]) {
        end += 2;
    }
    let names: Vec<usize> = (start + 1..end).filter(|at| item[*at] != ",").collect();
    let mut all = Vec::new();
    for &at in names.iter().filter(|_| names.len() > 1) {
        let (from, to) = match at == start + 1 {
            true => (at, at + 2),
            false => (at - 1, at + 1),
        };
        let how = format!("drop {} of `{list}`", item[at]);
        all.push((how, replaced(item, from, to, &[])));
    }
    // Elsewhere the grammar demands the list.
    if list == "wakes" || section == "effects" {
        all.push((format!("drop `{list}`"), replaced(item, start, end, &[])));
    }
    all
}

/// `given`, `goal`, `overdue`, `when` of an effect or a step, and `?` left out.
pub(super) fn clauses_left_out(section: &str, item: &[String]) -> Vec<Changed> {
    let mut all = Vec::new();
    let is_optional = section == "effects" || section == "teardown" && item[0] != "abandoned";
    for (start, end) in predicates(section, item) {
        let clause = item[start - 1].clone();
        if clause == "given" || clause == "when" && is_optional {
            // The value after `else` is that of its `given`.
            let otherwise = clause == "given" && item.get(end).is_some_and(|word| word == "else");
            let end = end + if otherwise { 2 } else { 0 };
            let left = replaced(item, start - 1, end, &[]);
            all.push((format!("drop `{clause}`"), left));
        }
    }
    for word in ["goal", "overdue", "?"] {
        let Some(at) = item.iter().position(|other| other == word) else {
            continue;
        };
        let is_over = |word: &String| word == ";" || word == "wakes";
        let to = match word {
            "overdue" => at + item[at..].iter().position(is_over).unwrap_or(1),
            _ => at + 1,
        };
        all.push((format!("drop `{word}`"), replaced(item, at, to, &[])));
    }
    all
}

pub(super) fn other_phases(item: &[String]) -> Vec<Changed> {
    let Some(at) = item.iter().position(|word| word == "=>") else {
        return Vec::new();
    };
    let phases = ["Pending", "Ready", "Error"].into_iter();
    let others = phases.filter(|phase| item[at + 1] != **phase);
    let changed = others.map(|phase| {
        let word = [phase.to_owned()];
        (
            format!("phase {phase}"),
            replaced(item, at + 1, at + 2, &word),
        )
    });
    changed.collect()
}

/// Another value of each fact that is promised or established.
pub(super) fn other_values(source: &Source, item: &[String]) -> Vec<Changed> {
    let Some(sets) = item.iter().position(|word| word == "sets") else {
        return Vec::new();
    };
    let assigned: Vec<usize> = (sets..item.len()).filter(|at| item[*at] == "=").collect();
    let mut all = Vec::new();
    for at in &assigned {
        let (fact, value) = (&item[at - 1], at + 1);
        let values = values_of(source, fact).into_iter();
        for other in values.filter(|other| item[value] != *other) {
            let how = match assigned.len() {
                1 => format!("sets {other}"),
                _ => format!("sets {fact} = {other}"),
            };
            all.push((how, replaced(item, value, value + 1, &[other])));
        }
    }
    all
}

/// The values that a fact may have.
fn values_of(source: &Source, fact: &str) -> Vec<String> {
    let declares = |item: &&Vec<String>| {
        let colon = item.iter().position(|word| word == ":");
        colon.is_some_and(|colon| colon > 0 && item[colon - 1] == fact)
    };
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    if let Some(item) = source.items("facts").iter().find(declares) {
        if item.iter().any(|word| word == "bool") {
            return owned(&["true", "false"]);
        }
        let open = item.iter().position(|word| word == "{").unwrap_or_default();
        let words = item[open + 1..].iter().take_while(|word| *word != "}");
        let words = words.filter(|word| *word != "," && *word != "|");
        return words.cloned().collect();
    }
    let Some(item) = source.items("observe").iter().find(declares) else {
        return Vec::new();
    };
    let is = |word: &str| item.iter().any(|other| other == word);
    match () {
        () if is("owned") && is("[") => {
            owned(&["Behind", "Surplus", "Draining", "Foreign", "Current"])
        }
        () if is("owned") => owned(&["Absent", "Stale", "Current", "Foreign", "Terminating"]),
        () => owned(&["Absent", "Stale", "Current"]),
    }
}

/// Returns the changes of the clauses of a condition.
pub(super) fn conditions(item: &[String]) -> Vec<Changed> {
    let mut block = &item[3..item.len() - 1];
    let mut clauses = Vec::new();
    while !block.is_empty() {
        clauses.push(take_item(&mut block));
    }
    let whole =
        |clauses: &[Vec<String>]| [&item[..3], &clauses.concat(), &item[item.len() - 1..]].concat();
    let mut all = Vec::new();
    for (at, clause) in clauses.iter().enumerate() {
        let number = at + 1;
        let mut dropped = clauses.clone();
        dropped.remove(at);
        all.push((format!("drop clause {number}"), whole(&dropped)));
        if number < clauses.len() {
            let mut swapped = clauses.clone();
            swapped.swap(at, number);
            let how = format!("swap clauses {number} and {}", number + 1);
            all.push((how, whole(&swapped)));
        }
        let statuses = ["True", "False", "Unknown"].into_iter();
        let statuses = statuses.filter(|status| clause[0] != **status);
        let status = |status: &str| {
            let word = [status.to_owned()];
            (format!("status {status}"), replaced(clause, 0, 1, &word))
        };
        let changes = statuses.map(status);
        for (change, clause) in changes.chain(predicates_changed("status", clause)) {
            let mut changed = clauses.clone();
            changed[at] = clause;
            all.push((format!("clause {number}: {change}"), whole(&changed)));
        }
    }
    all
}
