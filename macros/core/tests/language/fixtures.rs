//! The fixtures of `tests/ui/rules` without rustc: a failing one has findings of its rule and no others, a passing one has none.

use std::path::{Path, PathBuf};

use lifecycle_macros_core::check::RULES;
use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::{LockText, check_fragment, check_locked, find, lock};
use proc_macro2::TokenStream;

fn folder(rule: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../tests/ui/rules").join(rule)
}

fn findings(file: &Path) -> Vec<Diagnostic> {
    let text =
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens: TokenStream = text.parse().expect("a fixture consists of Rust tokens");
    let mut found = find(tokens);
    let bodies = &mut found.lifecycles;
    assert_eq!(bodies.len(), 1, "{} has one lifecycle", file.display());
    let body = bodies.remove(0);
    let lock = lock::named(&body).map_or(LockText::Unread, |(path, _)| {
        let folder = file.parent().expect("it is in a folder");
        match std::fs::read_to_string(folder.join(path)) {
            Ok(text) => LockText::Read(text),
            Err(why) => LockText::Unreadable(why.to_string()),
        }
    });
    let of_lifecycle = check_locked(body, &found.fragments, lock).diagnostics;
    let of_fragments = found.fragments.into_iter();
    let of_fragments = of_fragments.flat_map(|body| check_fragment(body).diagnostics);
    of_fragments.chain(of_lifecycle).collect()
}

fn render_findings(found: &[Diagnostic]) -> String {
    let lines = found.iter().map(|d| {
        let at = d.span.start();
        format!("  {}:{} {} {}\n", at.line, at.column, d.code, d.message)
    });
    lines.collect()
}

#[test]
fn each_failing_fixture_breaks_its_rule_and_no_other() {
    let mut wrong = String::new();
    for rule in RULES {
        let found = findings(&folder(rule.name).join("fails.rs"));
        if found.is_empty() || found.iter().any(|d| d.code != rule.code) {
            wrong += &format!(
                "{} ({}):\n{}",
                rule.name,
                rule.code,
                render_findings(&found)
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn each_passing_fixture_has_no_finding() {
    let mut wrong = String::new();
    for rule in RULES {
        let found = findings(&folder(rule.name).join("passes.rs"));
        if !found.is_empty() {
            wrong += &format!("{}:\n{}", rule.name, render_findings(&found));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
