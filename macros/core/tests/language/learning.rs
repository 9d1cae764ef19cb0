//! Tests that the learning pages (`docs/no.md`, `docs/real.md`, `docs/record.md`) show the
//! compiler's messages: each shows a lifecycle, edits of it, and the findings below them. `BLESS=1
//! cargo test --workspace --test language learning` rewrites the findings.

use std::path::Path;

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::{Diagnostic, Severity};

use super::shipped::body_of;

/// Base of an edit: the result of the previous edit, or the original.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edits {
    InTurn,
    Apart,
}

/// As pages show a finding: without places and notes.
fn render_finding(found: &Diagnostic) -> String {
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let (code, message) = (found.code, &found.message);
    let help = found.help.as_deref().expect("it helps");
    format!("{level}[{code}]: {message}\n  = help: {help}\n")
}

fn render_findings(lifecycle: &str) -> String {
    let found = check(body_of(lifecycle)).diagnostics;
    let found: Vec<String> = found.iter().map(render_finding).collect();
    match found.as_slice() {
        [] => "0 errors, 0 warnings\n".to_owned(),
        found => found.join("\n"),
    }
}

/// A lifecycle after an edit.
fn edited(lifecycle: &str, diff: &str) -> String {
    let of = |mark: char| {
        let is_of = |line: &&str| line.starts_with([mark, ' ']);
        let lines = diff.lines().filter(is_of);
        lines
            .map(|line| format!("{}\n", &line[1..]))
            .collect::<String>()
    };
    let (old, new) = (of('-'), of('+'));
    assert_eq!(lifecycle.matches(&old).count(), 1, "{old}");
    lifecycle.replace(&old, &new)
}

/// Returns the page with the actual output in its places, and the lifecycle after the last edit.
fn as_it_is(page: &str, edits: Edits) -> (String, String) {
    let (mut text, mut rest) = (String::new(), page);
    let (mut first, mut now) = (None::<String>, String::new());
    while let Some((before, after)) = rest.split_once("\n```") {
        let (language, after) = after.split_once('\n').expect("a fence is a line");
        let (block, after) = after.split_once("```\n").expect("the block ends");
        let mut block = block.to_owned();
        match (language, &first) {
            ("rust", None) => {
                first = Some(block.clone());
                now.clone_from(&block);
            }
            ("diff", Some(first)) => {
                let base = match edits {
                    Edits::InTurn => &now,
                    Edits::Apart => first,
                };
                now = edited(base, &block);
            }
            // A method, or a part of the lifecycle above.
            ("text", Some(_)) if is_said(&block) => block = render_findings(&now),
            _ => {}
        }
        text += &format!("{before}\n```{language}\n{block}```\n");
        rest = after;
    }
    (text + rest, now)
}

fn is_said(block: &str) -> bool {
    ["error[", "warning[", "0 errors"]
        .iter()
        .any(|start| block.starts_with(start))
}

/// The lifecycle of a page after its last edit.
fn holds(name: &str, edits: Edits) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    let page = std::fs::read_to_string(&path).expect("the page can be read");
    let (now, last) = as_it_is(&page, edits);
    assert!(page.matches("\n```diff").count() > 4, "{name} shows edits");
    if now != page && std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).expect("the page can be written");
    } else {
        assert!(
            now == page,
            "docs/{name} is not up to date: bless it\n{now}"
        );
    }
    last
}

/// Tests that each edit answers the finding above it, and that nothing is found after the last.
#[test]
fn the_page_on_findings_ends_without_one() {
    let last = holds("no.md", Edits::InTurn);
    assert_eq!(render_findings(&last), "0 errors, 0 warnings\n");
}

/// The first lifecycle of a page is accepted, and each edit of it is not.
fn accepts_and_refuses(name: &str) {
    holds(name, Edits::Apart);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    let page = std::fs::read_to_string(path).expect("the page can be read");
    let (_, rest) = page.split_once("```rust\n").expect("it shows one");
    let (lifecycle, rest) = rest.split_once("```").expect("it ends");
    assert_eq!(render_findings(lifecycle), "0 errors, 0 warnings\n");
    assert!(!rest.contains("0 errors"), "an edit is accepted");
}

#[test]
fn a_real_one_is_accepted_and_each_edit_of_it_is_not() {
    accepts_and_refuses("real.md");
}

#[test]
fn what_is_outside_is_accepted_and_each_edit_of_it_is_not() {
    accepts_and_refuses("record.md");
}

/// Tests the dependent facts of `docs/recipes.md`: they are accepted, with as many worlds as the
/// page states.
#[test]
fn chained_facts_have_seven_worlds() {
    let page = include_str!("../../../../docs/recipes.md");
    let (_, rest) = page.split_once("```rust\n").expect("it shows one");
    let (lifecycle, rest) = rest.split_once("```").expect("it ends");
    assert_eq!(render_findings(lifecycle), "0 errors, 0 warnings\n");
    assert!(rest.contains("the whole lifecycle has seven worlds"));
    let line = "        Full    when !room           => Error wakes cloud, self;\n";
    assert_eq!(lifecycle.matches(line).count(), 1);
    let said = render_findings(&lifecycle.replace(line, ""));
    assert!(said.starts_with("error[LC011]: 1 of 7 worlds"), "{said}");
}

#[test]
fn the_volume_of_the_page_is_accepted() {
    let page = include_str!("../../../../docs/volume.md");
    let (_, rest) = page.split_once("```rust\n").expect("it shows one");
    let (lifecycle, _) = rest.split_once("```").expect("it ends");
    assert_eq!(render_findings(lifecycle), "0 errors, 0 warnings\n");
}
