//! `docs/checks.md` is made from the headers of the rules, so that what users read about a check stands beside it.
//! `BLESS=1 cargo test --workspace --test language list_of_checks` rewrites it.

use std::collections::BTreeSet;
use std::path::Path;

use lifecycle_macros_core::check::{RULES, WARNINGS};
use lifecycle_macros_core::rule::{Rule, Stage};

const HEAD: &str = "# Checks

What the compiler refuses in a `lifecycle!`, by code. Made from the headers of the rules in `macros/core/src/check/`.

A later stage runs only if the stages before it found no error; all findings of a stage come at once. Results hold on the declared abstraction: that a fact computes what its name says, and that an
effect does what it sets, no compiler can know.

Three more are rustc's own, through the emitted types: LC063 (`This` has no `status`, E0609: nothing may be decided from our own report), LC071 (a `call` spends its `Once` once, E0382), LC072 (a
missing method of the logic, E0046).
";

fn page() -> String {
    let mut rules: Vec<&Rule> = RULES.iter().collect();
    rules.sort_by_key(|rule| rule.code);
    let mut page = HEAD.to_owned();
    for rule in rules {
        let stage = match rule.stage {
            Stage::Names => "names",
            Stage::Declaration => "declarations",
            Stage::World | Stage::Graph => "worlds",
        };
        let (title, text) = (rule.name.replace('_', " "), header(rule));
        page += &format!("\n## {}: {title}\n\nStage: {stage}.\n\n{text}\n", rule.code);
    }
    page
}

/// The header of a rule.
fn header(rule: &Rule) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/check/{}.rs", rule.name));
    let text = std::fs::read_to_string(&file).expect("a rule has a file of its name");
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    assert!(!lines.is_empty(), "{} has a header", rule.name);
    lines.join("\n")
}

#[test]
fn the_list_of_checks_is_current() {
    let (file, now) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md"),
        page(),
    );
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &now).expect("the list is writable");
    }
    let then = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        now == then,
        "docs/checks.md differs from the headers of the rules; bless it"
    );
}

#[test]
fn every_code_is_used_once() {
    let codes: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(codes.len(), RULES.len());
}

/// What a header calls a warning can be allowed, but for the warning about an `allow`; and the guide names them all.
#[test]
fn what_warns_can_be_allowed() {
    let warns = RULES
        .iter()
        .filter(|rule| header(rule).starts_with("A warning:"));
    let warns: BTreeSet<&str> = warns.map(|rule| rule.code).collect();
    let known = WARNINGS.into_iter().chain(["LC004"]);
    assert_eq!(warns, known.collect());
    let guide = include_str!("../../../../docs/language.md");
    let all: Vec<&str> = warns.into_iter().collect();
    let (last, others) = all.split_last().expect("some warn");
    let said = format!("{} and {last} warn today.", others.join(", "));
    assert!(
        guide.contains(&said),
        "docs/language.md does not say: {said}"
    );
}
