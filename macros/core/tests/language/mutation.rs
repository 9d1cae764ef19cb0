//! Every single mutation of the Listener lifecycle is refused, or is listed as harmless with the reason.
//! `cargo test --workspace --test language mutation -- --nocapture` prints the table.

mod harmless;
mod source;
mod table;

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::{Diagnostic, Severity};

use harmless::HARMLESS;
use source::{Source, take_item};

/// A mutation by name, and the lifecycle after it.
type Mutant = (String, Source);

#[expect(clippy::print_stdout, reason = "the table is for a person to read")]
#[test]
fn every_mutation_is_refused_or_harmless_for_a_reason() {
    let listener = Source::listener();
    assert!(
        findings(&listener).is_empty(),
        "the lifecycle itself has findings"
    );
    let mutants = mutants(&listener);
    let mut wrong = Vec::new();
    let mut accepted = 0;
    for (name, mutant) in &mutants {
        let findings = findings(mutant);
        let listed = HARMLESS
            .iter()
            .find(|(_, names)| names.contains(&name.as_str()));
        let refused = findings
            .iter()
            .any(|found| found.severity == Severity::Error);
        match (refused, listed) {
            (true, None) => println!("{name}\n    {}", shown(&findings[0])),
            (false, Some((reason, _))) => {
                accepted += 1;
                let warning = findings.first().map(shown).unwrap_or_default();
                println!("{name}\n    accepted: {reason} {warning}");
            }
            (true, Some(_)) => wrong.push(format!("{name}: is refused: {}", shown(&findings[0]))),
            (false, None) => wrong.push(format!("{name}: is accepted for no listed reason")),
        }
        for finding in &findings {
            assert!(
                finding.message.contains('`'),
                "{name}: names nothing: {}",
                finding.message
            );
        }
    }
    println!(
        "{} mutations: {accepted} harmless, the others refused",
        mutants.len()
    );
    assert!(mutants.len() > 300, "only {} mutations", mutants.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let listed: usize = HARMLESS.iter().map(|(_, names)| names.len()).sum();
    assert_eq!(accepted, listed, "a listed mutation does not exist");
}

fn findings(source: &Source) -> Vec<Diagnostic> {
    check(source.text().parse().expect("mutants consist of tokens")).diagnostics
}

fn shown(finding: &Diagnostic) -> String {
    format!("{} {}", finding.code, finding.message)
}

fn mutants(source: &Source) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (section, items) in &source.sections {
        for (at, item) in items.iter().enumerate() {
            let name = item_name(item);
            let dropped = source.with(section, |items| drop(items.remove(at)));
            all.push((format!("{section}: drop {name}"), dropped));
            if section == "states" {
                let forgotten = without_edges(&dropped_state(source, at), &name);
                all.push((format!("{section}: drop {name} and its edges"), forgotten));
            }
            if matches!(section.as_str(), "states" | "effects") && at + 1 < items.len() {
                let swapped = source.with(section, |items| items.swap(at, at + 1));
                let next = item_name(&items[at + 1]);
                all.push((format!("{section}: swap {name} and {next}"), swapped));
            }
            for (change, item) in item_mutants(section, item) {
                let mutant = source.with_item(section, at, item);
                all.push((format!("{section}: {name}: {change}"), mutant));
            }
        }
    }
    all.extend(edge_mutants(source));
    all
}

fn item_name(item: &[String]) -> String {
    let words = item.iter().filter(|word| {
        !["goal", "let", "condition", "field", "column", "held"].contains(&word.as_str())
    });
    let mut words = words.map(String::as_str);
    let first = words.next().unwrap_or_default();
    match first {
        "apply" | "delete" | "call" => format!("{first}_{}", words.next().unwrap_or_default()),
        _ => first.to_owned(),
    }
}

fn item_mutants(section: &str, item: &[String]) -> Vec<(String, Vec<String>)> {
    match (section, item[0].as_str()) {
        ("transitions", _) => Vec::new(),
        ("status", "condition") => condition_mutants(item),
        ("status", "ready") => list_mutants(item, "from"),
        ("status", _) => list_mutants(item, "from"),
        _ => {
            let mut all = predicate_mutants(item);
            for list in ["from", "wakes", "of"] {
                all.extend(list_mutants(item, list));
            }
            all.extend(clause_mutants(item));
            all.extend(phase_mutants(item));
            all.extend(sets_mutants(item));
            all
        }
    }
}

/// Where a predicate begins and ends in an item.
fn predicates(item: &[String]) -> Vec<(usize, usize)> {
    let begins = |at: usize| {
        matches!(item[at].as_str(), "when" | "given")
            || at == 1 && item[at] == "="
            || item[at] == ":"
                && item.iter().any(|word| word == "sets")
                && item.iter().all(|word| word != "when")
    };
    let ends = |word: &str| {
        matches!(
            word,
            ";" | "=>" | "sets" | "from" | "given" | "else" | "wakes" | "overdue" | "key" | "undo"
        )
    };
    let starts = (0..item.len()).filter(|at| begins(*at)).map(|at| at + 1);
    starts
        .map(|start| {
            let length = item[start..].iter().position(|word| ends(word));
            (start, start + length.unwrap_or_default())
        })
        .collect()
}

/// The atoms of a predicate, between `&&` and `||`.
fn atoms(item: &[String], (start, end): (usize, usize)) -> Vec<(usize, usize)> {
    let joint = |at: &usize| item[*at] == "&&" || item[*at] == "||";
    let joints: Vec<usize> = (start..end).filter(joint).collect();
    let starts = std::iter::once(start).chain(joints.iter().map(|at| at + 1));
    let ends = joints.iter().copied().chain([end]);
    starts.zip(ends).collect()
}

fn predicate_mutants(item: &[String]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for predicate in predicates(item) {
        let atoms = atoms(item, predicate);
        for &(start, end) in &atoms {
            let atom = item[start..end].join(" ");
            all.push((
                format!("flip `{atom}`"),
                replaced(item, start, end, &flipped(&item[start..end])),
            ));
            if atoms.len() > 1 {
                // The operator before it goes too, or that after the first.
                let (from, to) = if start == predicate.0 {
                    (start, end + 1)
                } else {
                    (start - 1, end)
                };
                all.push((format!("drop `{atom}`"), replaced(item, from, to, &[])));
            }
            all.extend(member_mutants(item, start, end));
        }
    }
    all
}

fn flipped(atom: &[String]) -> Vec<String> {
    let mut atom = atom.to_vec();
    match atom
        .iter()
        .position(|word| word == "==" || word == "!=" || word == "in")
    {
        Some(at) if atom[at] == "==" => atom[at] = "!=".to_owned(),
        Some(at) if atom[at] == "!=" => atom[at] = "==".to_owned(),
        Some(at) => atom.insert(at, "not".to_owned()),
        None if atom[0] == "!" => drop(atom.remove(0)),
        None => atom.insert(0, "!".to_owned()),
    }
    atom
}

/// Each value of `in { .. }` left out.
fn member_mutants(item: &[String], start: usize, end: usize) -> Vec<(String, Vec<String>)> {
    let Some(open) = (start..end).find(|at| item[*at] == "{") else {
        return Vec::new();
    };
    let members = (open + 1..end - 1).filter(|at| item[*at] != ",");
    members
        .map(|at| {
            let to = if item[at + 1] == "," { at + 2 } else { at + 1 };
            let from = if item[at + 1] == "," { at } else { at - 1 };
            let atom = item[start..end].join(" ");
            (
                format!("drop {} of `{atom}`", item[at]),
                replaced(item, from, to, &[]),
            )
        })
        .collect()
}

fn replaced(item: &[String], start: usize, end: usize, with: &[String]) -> Vec<String> {
    [&item[..start], with, &item[end..]].concat()
}

/// Each name of a list left out; the list with it if it was the only one.
fn list_mutants(item: &[String], list: &str) -> Vec<(String, Vec<String>)> {
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
    for &at in &names {
        let (from, to) = match (names.len(), at == start + 1) {
            (1, _) => continue,
            (_, true) => (at, at + 2),
            (_, false) => (at - 1, at + 1),
        };
        all.push((
            format!("drop {} of `{list}`", item[at]),
            replaced(item, from, to, &[]),
        ));
    }
    // Elsewhere the grammar demands the list.
    if list == "wakes" || item[0] == "apply" {
        all.push((format!("drop `{list}`"), replaced(item, start, end, &[])));
    }
    all
}

/// `given`, `goal`, `overdue`, `when` of an effect and `?` left out.
fn clause_mutants(item: &[String]) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (start, end) in predicates(item) {
        let effect = matches!(item[0].as_str(), "apply" | "delete" | "call");
        if item[start - 1] == "given" || effect {
            let clause = item[start - 1].clone();
            // The value after `else` is that of its `given`.
            let otherwise = clause == "given" && item.get(end).is_some_and(|word| word == "else");
            let end = end + if otherwise { 2 } else { 0 };
            all.push((
                format!("drop `{clause}`"),
                replaced(item, start - 1, end, &[]),
            ));
        }
    }
    for (word, length) in [("goal", 1), ("overdue", 2), ("?", 1)] {
        if let Some(at) = item.iter().position(|other| other == word) {
            all.push((
                format!("drop `{word}`"),
                replaced(item, at, at + length, &[]),
            ));
        }
    }
    all
}

fn phase_mutants(item: &[String]) -> Vec<(String, Vec<String>)> {
    let Some(at) = item.iter().position(|word| word == "=>") else {
        return Vec::new();
    };
    let phases = ["Pending", "Ready", "Error"]
        .iter()
        .filter(|phase| item[at + 1] != **phase);
    phases
        .map(|phase| {
            (
                format!("phase {phase}"),
                replaced(item, at + 1, at + 2, &[(*phase).to_owned()]),
            )
        })
        .collect()
}

/// Another value of `address` for the one that is promised.
fn sets_mutants(item: &[String]) -> Vec<(String, Vec<String>)> {
    let Some(at) = item.iter().position(|word| word == "sets") else {
        return Vec::new();
    };
    let value = at + 4;
    let values = ["NoPod", "NoBalancer", "NodeGone", "Partial", "Full"].iter();
    values
        .filter(|other| item[value] != **other)
        .map(|other| {
            (
                format!("sets {other}"),
                replaced(item, value, value + 1, &[(*other).to_owned()]),
            )
        })
        .collect()
}

fn condition_mutants(item: &[String]) -> Vec<(String, Vec<String>)> {
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
            all.push((
                format!("swap clauses {number} and {}", number + 1),
                whole(&swapped),
            ));
        }
        let statuses = ["True", "False", "Unknown"]
            .iter()
            .filter(|status| clause[0] != **status);
        let status = |status: &&str| {
            (
                format!("status {status}"),
                replaced(clause, 0, 1, &[(*status).to_owned()]),
            )
        };
        for (change, clause) in statuses.map(status).chain(predicate_mutants(clause)) {
            let mut changed = clauses.clone();
            changed[at] = clause;
            all.push((format!("clause {number}: {change}"), whole(&changed)));
        }
    }
    all
}

fn dropped_state(source: &Source, at: usize) -> Source {
    source.with("states", |states| drop(states.remove(at)))
}

fn without_edges(source: &Source, state: &str) -> Source {
    let kept = edges(source)
        .into_iter()
        .filter(|(from, to)| from != state && to != state);
    with_edges(source, &kept.collect::<Vec<_>>())
}

/// Every edge left out, and every other edge added.
fn edge_mutants(source: &Source) -> Vec<Mutant> {
    let states: Vec<String> = source
        .items("states")
        .iter()
        .map(|state| item_name(state))
        .collect();
    let edges = edges(source);
    let mut all = Vec::new();
    for from in &states {
        for to in states.iter().filter(|to| *to != from) {
            let edge = (from.clone(), to.clone());
            let mut changed = edges.clone();
            let what = if let Some(at) = edges.iter().position(|other| *other == edge) {
                changed.remove(at);
                "drop"
            } else {
                changed.push(edge);
                "add"
            };
            all.push((
                format!("transitions: {what} {from} -> {to}"),
                with_edges(source, &changed),
            ));
        }
    }
    all
}

fn edges(source: &Source) -> Vec<(String, String)> {
    let mut edges = Vec::new();
    for item in source.items("transitions") {
        let mut sides = item.split(|word| word == "->");
        let mut side = || {
            let words = sides.next().unwrap_or_default().iter();
            words.filter(|word| *word != "|" && *word != ";")
        };
        let (from, to) = (side(), side());
        edges.extend(from.flat_map(|from| to.clone().map(|to| (from.clone(), to.clone()))));
    }
    edges
}

fn with_edges(source: &Source, edges: &[(String, String)]) -> Source {
    let item = |(from, to): &(String, String)| {
        [from.as_str(), "->", to.as_str(), ";"]
            .map(str::to_owned)
            .to_vec()
    };
    source.with("transitions", |items| {
        *items = edges.iter().map(item).collect()
    })
}
