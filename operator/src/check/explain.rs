//! Explanation of a diagnostic code: the text of its section in `docs/rules`, which tests generate
//! with all its output. Knows no rule.

use std::io::{self, Write};

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::errors::Diagnostic;

use super::Verdict;

/// The texts of all codes, one after the other; each begins with `# LC021: dead end`.
const PAGES: &str = include_str!("explanations.md");

/// Prints the explanation of a code, or an error if the code is unknown.
///
/// # Errors
/// If `out` or `complaints` cannot be written to.
pub(super) fn explain(
    code: &str,
    out: &mut impl Write,
    complaints: &mut impl Write,
) -> io::Result<Verdict> {
    if let Some(page) = page(code) {
        writeln!(out, "{page}")?;
        return Ok(Verdict::Clean);
    }
    let codes = || RULES.iter().map(|rule| rule.code);
    let (first, last) = (codes().min(), codes().max());
    let range = first.zip(last).map_or(String::new(), |(first, last)| {
        format!(": codes are {first} to {last}, as findings name them")
    });
    writeln!(complaints, "{code} is no code of a check{range}")?;
    Ok(Verdict::Unreadable)
}

/// The page of a code, however it is written.
fn page(code: &str) -> Option<&'static str> {
    let start = format!("# {}: ", code.trim().to_ascii_uppercase());
    let at = PAGES.match_indices(&start).map(|(at, _)| at);
    let begins_line = |at: &usize| *at == 0 || PAGES[..*at].ends_with('\n');
    let mut at = at.filter(begins_line);
    let page = &PAGES[at.next()?..];
    let page = page.split("\n\n# LC").next()?;
    Some(page.trim_end())
}

/// Returns a line for people that describes how to get more information on the findings.
pub(super) fn hint<'a>(found: impl Iterator<Item = &'a Diagnostic>) -> Option<String> {
    let mut codes: Vec<&str> = found.map(|found| found.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let (first, others) = codes.split_first()?;
    let others = match others {
        [] => String::new(),
        others => format!(" (or {})", others.join(", ")),
    };
    Some(format!(
        "for an explanation with a corrected example, run: lifecycle-operator check --explain {first}{others}"
    ))
}
