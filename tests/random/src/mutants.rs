//! Every single change of a declaration, by name. This module knows words and sections, but not
//! their meaning.

mod clauses;
mod edges;
mod predicates;
mod source;

use clauses::{clauses_left_out, conditions, lists, other_phases, other_values};
pub use edges::Edge;
use predicates::predicates_changed;
pub use source::Source;

/// A change of an item by name, and the item after it.
type Changed = (String, Vec<String>);

/// A declaration that was changed in one place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// `states: Ready: flip `x == Y``: the section, the item, and the change.
    pub name: String,
    /// Declaration after the change.
    pub source: Source,
}

impl Mutant {
    fn new(name: String, source: Source) -> Self {
        Self { name, source }
    }

    /// The section that was changed, and the sort of the change.
    ///
    /// # Panics
    /// If it is called otherwise than those of `mutants`.
    pub fn section_and_kind(&self) -> (&str, &'static str) {
        let (section, rest) = self.name.split_once(": ").expect("a section comes first");
        let change = rest.rsplit_once(": ").map_or(rest, |(_, change)| change);
        let is_item = change == rest;
        let what = match change.split(' ').next() {
            Some("swap") => "two change places",
            Some("add") => "one is added",
            Some("flip") => "a condition is negated",
            Some("drop") if is_item => "one is left out",
            Some("drop") => "a part of one is left out",
            Some("phase" | "sets" | "status") => "another value is written",
            other => panic!("{}: {other:?} is no sort of change", self.name),
        };
        (section, what)
    }
}

/// All of a declaration that causes these edges.
pub fn mutants(source: &Source, caused: &[Edge]) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (section, items) in &source.sections {
        for (at, item) in items.iter().enumerate() {
            let name = item_name(item);
            let dropped = source.with_section(section, |items| drop(items.remove(at)));
            if section == "states" {
                let forgotten = edges::without(&dropped, caused, &name);
                let how = format!("{section}: drop {name} and its edges");
                all.push(Mutant::new(how, forgotten));
            }
            all.push(Mutant::new(format!("{section}: drop {name}"), dropped));
            if matches!(section.as_str(), "states" | "effects") && at + 1 < items.len() {
                let swapped = source.with_section(section, |items| items.swap(at, at + 1));
                let how = format!("{section}: swap {name} and {}", item_name(&items[at + 1]));
                all.push(Mutant::new(how, swapped));
            }
            for (change, item) in items_changed(source, section, item) {
                let how = format!("{section}: {name}: {change}");
                all.push(Mutant::new(how, source.with_item(section, at, item)));
            }
        }
    }
    all.extend(edges::changed(source, caused));
    all
}

fn item_name(item: &[String]) -> String {
    let kinds = [
        "goal",
        "let",
        "mint",
        "condition",
        "field",
        "column",
        "held",
        "each",
    ];
    let words = item.iter().filter(|word| !kinds.contains(&word.as_str()));
    let mut words = words.map(String::as_str);
    match words.next().unwrap_or_default() {
        verb @ ("apply" | "delete" | "call" | "adopt" | "create") => {
            let each = if item.iter().any(|word| word == "each") {
                "_each"
            } else {
                ""
            };
            format!("{verb}{each}_{}", words.next().unwrap_or_default())
        }
        first => first.to_owned(),
    }
}

fn items_changed(source: &Source, section: &str, item: &[String]) -> Vec<Changed> {
    match (section, item[0].as_str()) {
        ("transitions", _) => Vec::new(),
        ("status", "condition") => conditions(item),
        ("status", _) => lists(section, item, "from"),
        _ => {
            let mut all = predicates_changed(section, item);
            for list in ["from", "wakes", "of"] {
                all.extend(lists(section, item, list));
            }
            all.extend(clauses_left_out(section, item));
            all.extend(other_phases(item));
            all.extend(other_values(source, item));
            all
        }
    }
}
