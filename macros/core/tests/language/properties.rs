//! What `docs/properties.md` shows is true: its lifecycle is accepted without a finding, and each edit of it gives exactly the findings that stand below.

use lifecycle_macros_core::check;

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/properties.md");

/// The blocks of a language, each with what follows it.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
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

fn example() -> &'static str {
    blocks(PAGE, "rust")[0].0
}

fn said(text: &str) -> String {
    let found = check(body_of(text)).diagnostics;
    let line = |d: &lifecycle_macros_core::errors::Diagnostic| format!("error: {d}\n");
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The lifecycle with the lines of a diff taken away and those that follow each put in its place; what follows none stands first in `properties`.
fn edited(diff: &str) -> String {
    let mut text = example().to_owned();
    let mut place = "    properties {\n".to_owned();
    for line in diff.lines() {
        let (mark, line) = line.split_at(1);
        let line = format!("{line}\n");
        match mark {
            "-" => {
                assert!(text.contains(&line), "the lifecycle has this line: {line}");
                text = text.replacen(&line, "        //\n", 1);
                place = "        //\n".to_owned();
            }
            _ => {
                text = text.replacen(&place, &format!("{place}{line}"), 1);
                place = line;
            }
        }
    }
    text
}

#[test]
fn the_example_is_accepted_without_a_finding() {
    assert_eq!(said(example()), "");
}

/// What the page says is rewritten by `BLESS=1`.
#[test]
fn each_edit_gives_the_findings_that_are_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(edits.len() >= 8, "{}", edits.len());
    let mut page = String::new();
    let mut rest = PAGE;
    for (diff, after) in edits {
        let (shown, behind) = blocks(after, "text")[0];
        let text = edited(diff);
        assert_ne!(text, example());
        let before = rest.len() - behind.len() - "```\n".len() - shown.len();
        page += &rest[..before];
        page += &said(&text);
        rest = &rest[before + shown.len()..];
    }
    page += rest;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/properties.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&file).expect("the page is there");
    assert_eq!(
        written, page,
        "run this test with BLESS=1 and look at what it changes"
    );
}
