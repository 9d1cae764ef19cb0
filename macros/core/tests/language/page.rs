//! Pages of the book as tests read them: their blocks, and the output of the checker for a
//! declaration.

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Severity;

use super::shipped::body_of;

/// Returns the blocks of a language, each with the text after it.
pub(super) fn blocks<'a>(text: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let start = format!("```{language}\n");
    let mut rest = text;
    let mut all = Vec::new();
    while let Some((_, after)) = rest.split_once(&start) {
        let (block, after) = after.split_once("```\n").expect("the block ends");
        all.push((block, after));
        rest = after;
    }
    all
}

/// Each finding, as text.
pub(super) fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(ToString::to_string).collect()
}

/// Each finding as a page shows it: with the word for how grave it is, on a line that ends.
pub(super) fn render_findings(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    found
        .iter()
        .map(|found| format!("{}: {found}\n", word(found.severity)))
        .collect()
}

/// One finding has all these parts.
///
/// # Panics
/// None has.
#[track_caller]
pub(super) fn assert_finding(found: &[String], parts: &[&str]) {
    let has = |found: &String| parts.iter().all(|part| found.contains(part));
    assert!(found.iter().any(has), "{parts:?}\n{found:#?}");
}
