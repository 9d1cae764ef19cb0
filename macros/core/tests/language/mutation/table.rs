//! The table of `docs/suite.md` that says who sees how many mutants of a declaration; `BLESS=1` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lifecycle_macros_core::errors::Severity;
use lifecycle_macros_core::{check, expand};
use syn::{Attribute, Item, TraitItem, Variant};

use super::super::pages::between;
use super::mutants;
use super::source::Source;

/// How many mutants of a sort there are, and who sees them.
#[derive(Default)]
struct Row {
    mutants: usize,
    check: usize,
    /// Of those that the check accepts.
    rustc: usize,
}

/// The sort of a mutant, by its name.
fn sort(name: &str) -> (String, &'static str) {
    let (section, rest) = name.split_once(": ").expect("a name begins with a section");
    let change = rest.rsplit_once(": ").map_or(rest, |(_, change)| change);
    let is_item = change == rest;
    let what = match change.split(' ').next() {
        Some("swap") => "two change places",
        Some("add") => "one is added",
        Some("flip") => "a condition is negated",
        Some("drop") if is_item => "one is left out",
        Some("drop") => "a part of one is left out",
        Some("phase" | "sets" | "status") => "another value is written",
        other => panic!("{name}: {other:?} is no sort of change"),
    };
    (section.to_owned(), what)
}

/// What an author's code meets: types and the trait, without documentation.
fn met_by_authors(source: &Source) -> String {
    let tokens = source.text().parse().expect("mutants consist of tokens");
    let mut file: syn::File = syn::parse2(expand(tokens)).expect("the macro prints items");
    file.items.retain_mut(undocumented);
    prettyplease::unparse(&file)
}

/// Whether authors meet it; takes its documentation away.
fn undocumented(item: &mut Item) -> bool {
    let strip = |attributes: &mut Vec<Attribute>| {
        attributes.retain(|attribute| !attribute.path().is_ident("doc"));
    };
    if let Item::Trait(logic) = item {
        strip(&mut logic.attrs);
        for item in &mut logic.items {
            if let TraitItem::Fn(method) = item {
                strip(&mut method.attrs);
            }
        }
    } else if let Item::Struct(one) = item {
        strip(&mut one.attrs);
        let fields = one.fields.iter_mut();
        fields.for_each(|field| strip(&mut field.attrs));
    } else if let Item::Enum(one) = item {
        strip(&mut one.attrs);
        // No code depends on their order.
        let mut variants: Vec<Variant> = std::mem::take(&mut one.variants).into_iter().collect();
        variants
            .iter_mut()
            .for_each(|variant| strip(&mut variant.attrs));
        variants.sort_by_key(|variant| variant.ident.to_string());
        one.variants = variants.into_iter().collect();
    } else {
        return false;
    }
    true
}

fn table() -> String {
    let listener = Source::listener();
    let met = met_by_authors(&listener);
    assert!(met.contains("trait ListenerLogic"), "{met}");
    let mut rows: BTreeMap<(String, &str), Row> = BTreeMap::new();
    for (name, mutant) in mutants(&listener) {
        let row = rows.entry(sort(&name)).or_default();
        row.mutants += 1;
        let tokens = mutant.text().parse().expect("mutants consist of tokens");
        let mut found = check(tokens).diagnostics.into_iter();
        if found.any(|finding| finding.severity == Severity::Error) {
            row.check += 1;
        } else if met_by_authors(&mutant) != met {
            row.rustc += 1;
        }
    }
    let mut text = "| section | change | mutants | `check` refuses | rustc meets other types | neither |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    let mut all = Row::default();
    let mut line = |section: &str, what: &str, row: &Row| {
        let (mutants, check, rustc) = (row.mutants, row.check, row.rustc);
        let neither = mutants - check - rustc;
        writeln!(
            text,
            "| {section} | {what} | {mutants} | {check} | {rustc} | {neither} |"
        )
        .expect("a text takes everything");
    };
    for ((section, what), row) in &rows {
        line(section, what, row);
        all.mutants += row.mutants;
        all.check += row.check;
        all.rustc += row.rustc;
    }
    line("all", "", &all);
    text
}

#[test]
fn the_table_of_mutants_is_current() {
    between("suite.md", "mutants of a declaration", &table());
}
