//! Splits a random lifecycle into a fragment and a lifecycle that uses it. Together they keep their
//! meaning. Works on the lines of a sketch, one item each, and moves the movable ones. Moved items
//! read only moved items, and their remaining names become `needs`.

use std::collections::{BTreeMap, BTreeSet};

use super::dice::Dice;
use crate::read::read;
use crate::syntax::{Effect, Life};
use crate::values::values;

/// Sections that a fragment may contain.
const SHARED: [&str; 5] = ["observe", "facts", "states", "promises", "status"];

/// The lines of a text by section. Lines between sections are kept unchanged.
struct Part {
    section: String,
    lines: Vec<String>,
}

/// A lifecycle without wrong names, cut at random; `None` if nothing of it can go.
pub fn cut(text: &str, number: u64) -> Option<String> {
    let life = read(text).ok()?;
    // An effect decides that something is adopted or created. A fragment has no effects, so its
    // states could not query such values.
    let comes = |effect: &Effect| ["adopt", "create"].contains(&effect.verb.as_str());
    let comes = life.effects.iter().any(comes);
    if life.volume || comes {
        return None;
    }
    let mut dice = Dice::new(number ^ 0x4652_4147);
    let mut parts = parts(text);
    let moved_names = sources(&life, &parts, &mut dice);
    let mut fragment: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for part in &mut parts {
        let Some(section) = SHARED.into_iter().find(|name| part.section == *name) else {
            continue;
        };
        let lines = std::mem::take(&mut part.lines);
        let (stays, goes) = match section {
            "states" => states(lines, &mut dice),
            "status" => status(lines, &mut dice),
            _ => items(section, lines, &moved_names, &mut dice),
        };
        part.lines = stays;
        fragment.insert(section, goes);
    }
    if fragment.values().all(Vec::is_empty) {
        return None;
    }
    let needs = needs(&life, &fragment);
    Some(written(&fragment, &needs, &parts))
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open: Option<Part> = None;
    for line in text.lines() {
        let is_inside = line.starts_with("        ");
        let head = line.strip_prefix("    ").and_then(|l| l.strip_suffix(" {"));
        match (&mut open, head) {
            (Some(part), _) if is_inside => part.lines.push(line.to_owned()),
            (Some(_), _) => parts.extend(open.take()),
            (None, Some(section)) if !is_inside => {
                open = Some(Part {
                    section: section.to_owned(),
                    lines: Vec::new(),
                });
            }
            (None, _) => parts.push(Part {
                section: String::new(),
                lines: vec![line.to_owned()],
            }),
        }
    }
    parts
}

/// Returns the words of a line. The first, after `held` and `let`, is the name of the item.
fn split_words(line: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = line.split(|c| !is_word(c));
    words.filter(|word| !word.is_empty()).collect()
}

/// The inputs, values and facts that go: each only with all that it is found by or made from.
fn sources(life: &Life, parts: &[Part], dice: &mut Dice) -> BTreeSet<String> {
    let lines = parts
        .iter()
        .filter(|p| ["observe", "facts"].contains(&p.section.as_str()));
    let lines: Vec<&String> = lines.flat_map(|part| &part.lines).collect();
    let asks_refusal: BTreeSet<&str> = lines
        .iter()
        .filter(|line| line.contains("refused("))
        .filter_map(|line| {
            split_words(line)
                .into_iter()
                .find(|w| !["held", "let", "mint"].contains(w))
        })
        .collect();
    // A fragment has no groups (LC105).
    let is_grouped = |name: &str| {
        let mut groups = lines.iter().filter(|line| line.contains(": owned {"));
        groups.any(|line| split_words(line).contains(&name))
    };
    let mut gone = BTreeSet::from(["self".to_owned(), "meta".to_owned(), "spec".to_owned()]);
    let root = |path: &String| path.split('.').next().unwrap_or_default().to_owned();
    // A moved item may be declared above its sources.
    for _ in 0..3 {
        for input in &life.inputs {
            let mut by = input.lookup().iter().map(root).collect::<Vec<_>>();
            by.extend(input.of.clone());
            let goes = by.iter().all(|name| gone.contains(name)) && dice.one_in(2);
            let stays = is_grouped(&input.name) || asks_refusal.contains(input.name.as_str());
            if goes && !stays {
                gone.insert(input.name.clone());
            }
        }
        let lets = life.lets.iter().map(|value| (&value.name, &value.from));
        let facts = life.facts.iter().map(|fact| (&fact.name, &fact.from));
        let minted = |name: &String| life.minted().any(|(value, _)| value.name == *name);
        for (name, from) in lets.chain(facts).filter(|(name, _)| !minted(name)) {
            let goes = from.iter().all(|name| gone.contains(name)) && !dice.one_in(3);
            if goes && !asks_refusal.contains(name.as_str()) {
                gone.insert(name.clone());
            }
        }
    }
    gone
}

type Lines = (Vec<String>, Vec<String>);

/// Lines in any order: those that stay, and those that go.
fn items(section: &str, lines: Vec<String>, gone: &BTreeSet<String>, dice: &mut Dice) -> Lines {
    lines.into_iter().partition(|line| {
        let all = split_words(line);
        let name = all
            .iter()
            .find(|word| !["held", "let", "mint"].contains(word));
        let is_free = section == "promises"
            || line.trim_start().starts_with("never ")
            || line.split_whitespace().nth(1) == Some("=");
        let goes = match is_free {
            true => !line.contains("refused(") && dice.one_in(2),
            false => name.is_some_and(|name| gone.contains(*name)),
        };
        !goes
    })
}

/// Moves states, and leaves a line that marks their former place.
fn states(lines: Vec<String>, dice: &mut Dice) -> Lines {
    let (mut stays, mut goes) = (Vec::new(), Vec::new());
    let mut run: Vec<String> = Vec::new();
    for line in lines {
        if !line.contains("refused(") && dice.one_in(2) {
            let name = split_words(&line).into_iter().find(|word| *word != "goal");
            run.push(name.unwrap_or_default().to_owned());
            goes.push(line);
        } else {
            stays.extend(use_line(&mut run));
            stays.push(line);
        }
    }
    // A fragment that is inserted as a whole needs no names.
    if stays.iter().all(|line| !line.contains("use part")) && dice.one_in(2) {
        if !run.is_empty() {
            stays.push("        use part;".to_owned());
        }
        return (stays, goes);
    }
    stays.extend(use_line(&mut run));
    (stays, goes)
}

fn use_line(run: &mut Vec<String>) -> Option<String> {
    let names = std::mem::take(run);
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("        use part::{name};")),
        names => Some(format!("        use part::{{{}}};", names.join(", "))),
    }
}

/// Of some conditions all goes, and of others some clauses in a row.
fn status(lines: Vec<String>, dice: &mut Dice) -> Lines {
    let (mut stays, mut goes) = (Vec::new(), Vec::new());
    let mut lines = lines.into_iter();
    while let Some(line) = lines.next() {
        if !line.trim_start().starts_with("condition ") {
            stays.push(line);
            continue;
        }
        let mut clauses: Vec<String> = Vec::new();
        let mut end = String::new();
        for clause in lines.by_ref() {
            if clause.trim() == "}" {
                end = clause;
                break;
            }
            clauses.push(clause);
        }
        let count = clauses.len();
        let is_whole = dice.one_in(4);
        let first = if is_whole {
            0
        } else {
            dice.random_below(count + 1)
        };
        let last = if is_whole {
            count
        } else {
            first + dice.random_below(count - first + 1)
        };
        let moved: Vec<String> = clauses[first..last].to_vec();
        let may_go = !moved.iter().any(|clause| clause.contains("refused("));
        if !may_go || moved.is_empty() || dice.one_in(3) {
            stays.push(line);
            stays.extend(clauses);
            stays.push(end);
            continue;
        }
        goes.push(line.clone());
        goes.extend(moved);
        goes.push(end.clone());
        // Whole conditions come first, which means the same.
        if is_whole {
            continue;
        }
        stays.push(line);
        stays.extend(clauses[..first].iter().cloned());
        stays.push("            use part;".to_owned());
        stays.extend(clauses[last..].iter().cloned());
        stays.push(end);
    }
    (stays, goes)
}

/// Returns the names that the fragment evaluates and the lifecycle keeps.
fn needs(life: &Life, fragment: &BTreeMap<&str, Vec<String>>) -> Vec<String> {
    let declared = ["observe", "facts"]
        .into_iter()
        .filter_map(|section| fragment.get(section));
    let own: BTreeSet<&str> = declared
        .flatten()
        .filter_map(|line| {
            split_words(line)
                .into_iter()
                .find(|w| !["held", "let", "mint"].contains(w))
        })
        .collect();
    let all: BTreeSet<&str> = fragment
        .values()
        .flatten()
        .flat_map(|line| split_words(line))
        .collect();
    let outside = all.into_iter().filter(|word| !own.contains(word));
    let need = |name: &str| {
        let (answers, others) = values(life, name)?;
        let mut all: Vec<String> = answers;
        all.extend(others);
        let mut once = BTreeSet::new();
        all.retain(|value| once.insert(value.clone()));
        Some(match all.as_slice() {
            [no, yes] if no == "false" && yes == "true" => format!("{name}: bool;"),
            values => format!("{name}: {{ {} }};", values.join(", ")),
        })
    };
    outside.filter_map(need).collect()
}

fn written(fragment: &BTreeMap<&str, Vec<String>>, needs: &[String], parts: &[Part]) -> String {
    let mut text = "fragment! {\n    fragment part;\n".to_owned();
    let mut section = |name: &str, lines: &[String]| {
        if !lines.is_empty() {
            text += &format!("    {name} {{\n");
            for line in lines {
                text += &format!("        {}\n", line.trim_start());
            }
            text += "    }\n";
        }
    };
    section("needs", needs);
    for name in SHARED {
        section(name, fragment.get(name).map_or(&[], Vec::as_slice));
    }
    text += "}\n";
    for part in parts {
        match part.section.as_str() {
            "" => {
                for line in &part.lines {
                    text += &format!("{line}\n");
                    if line.starts_with("    resource ") {
                        text += "    use part;\n";
                    }
                }
            }
            section => {
                text += &format!("    {section} {{\n{}\n    }}\n", part.lines.join("\n"));
            }
        }
    }
    text
}
