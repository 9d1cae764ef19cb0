//! Tests that `README.md` is true: its lifecycle is accepted, and its finding is the one that the
//! checker reports.

use super::shipped::body_of;

const README: &str = include_str!("../../../../README.md");

fn block(language: &str) -> &'static str {
    let start = format!("```{language}\n");
    let (_, rest) = README.split_once(&start).expect("the block is there");
    rest.split_once("```").expect("the block ends").0
}

fn checked(text: &str) -> lifecycle_macros_core::Checked {
    lifecycle_macros_core::check(body_of(text))
}

#[test]
fn the_example_is_accepted_without_a_finding() {
    let checked = checked(block("rust"));
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
}

/// The first page of the book shows it too.
#[test]
fn the_book_begins_with_this_text() {
    const FIRST: &str = include_str!("../../../../docs/index.md");
    assert!(FIRST.starts_with("{{#include ../README.md}}\n"), "{FIRST}");
}

#[test]
fn a_forgotten_state_gives_the_finding_that_is_shown() {
    let without: Vec<_> = block("rust")
        .lines()
        .filter(|l| !l.contains("Taken     when"))
        .collect();
    let found = checked(&without.join("\n")).diagnostics;
    let shown = block("text").trim();
    let said: Vec<_> = found
        .iter()
        .map(|d| format!("error: {}: {}", d.code, d.message))
        .collect();
    assert_eq!(said, [shown]);
}
