//! Check that rules and their fixtures belong together. A rule is a file beside `check.rs` whose
//! header or `const RULE` names its code. `tests/ui/rules/<rule>/` of some package holds a fixture
//! that fails with each of its codes, and one that nearly fails but passes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Tree, strip_folder};

/// Folder of the rules.
pub const FOLDER: &str = "macros/core/src/check/";

/// The list of the rules.
const LIST: &str = "macros/core/src/check.rs";

/// Folder of the fixtures, in any package.
const FIXTURES: &str = "tests/ui/rules/";

/// Rules without fixtures, fixtures without rules, and codes without or with two homes. `helpers` are files beside the rules that are none.
pub fn findings(tree: &Tree, helpers: &[&str]) -> Vec<String> {
    if tree.text(LIST).is_none() {
        return Vec::new();
    }
    let rules = rules(tree, helpers);
    let mut findings = code_findings(&rules);
    for (rule, codes) in &rules {
        findings.extend(fixture_findings(tree, rule, codes));
    }
    findings.extend(orphan_findings(tree, &rules));
    findings
}

type Rules<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn rules<'a>(tree: &'a Tree, helpers: &[&str]) -> Rules<'a> {
    tree.under(FOLDER)
        .filter_map(|(path, text)| {
            let rule = path.strip_prefix(FOLDER)?.strip_suffix(".rs")?;
            let is_rule = !rule.contains('/') && rule != "tests" && !helpers.contains(&rule);
            is_rule.then(|| (rule, own_codes(text)))
        })
        .collect()
}

/// The codes in the first line of the header, and those of the constant.
fn own_codes(text: &str) -> BTreeSet<&str> {
    let first = text.lines().next().filter(|line| line.starts_with("//!"));
    let constant = text.split_once("const RULE").map(|(_, rest)| rest);
    let constant = constant.and_then(|rest| rest.split_once(';'));
    let mut own = codes(first.unwrap_or_default());
    own.extend(codes(constant.unwrap_or_default().0));
    own
}

/// Returns the fixture whose output a file pins: the output of rustc, or of `check` if rustc adds
/// nothing.
fn pinned_fixture(path: &str) -> Option<&str> {
    let pins = [".stderr", ".txt"];
    pins.iter().find_map(|pin| path.strip_suffix(pin))
}

/// Codes such as LC001.
fn codes(text: &str) -> BTreeSet<&str> {
    text.match_indices("LC")
        .filter_map(|(start, _)| text.get(start..start + 5))
        .filter(|code| code[2..].bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

fn code_findings(rules: &Rules<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    let mut homes: BTreeMap<&str, &str> = BTreeMap::new();
    for (rule, codes) in rules {
        if codes.is_empty() {
            findings.push(format!(
                "{FOLDER}{rule}.rs: neither its first line nor `const RULE` names a code such as LC001"
            ));
        }
        for code in codes {
            if let Some(other) = homes.insert(code, rule) {
                findings.push(format!("{code}: is named by both {other} and {rule}"));
            }
        }
    }
    findings
}

fn fixture_findings(tree: &Tree, rule: &str, codes: &BTreeSet<&str>) -> Vec<String> {
    let folder = format!("{FIXTURES}{rule}/");
    let of_rule = || {
        tree.under("")
            .filter(|(path, _)| strip_folder(path, &folder).is_some())
    };
    let pinned: Vec<&str> = of_rule()
        .filter(|(path, _)| pinned_fixture(path).is_some())
        .map(|(_, text)| text)
        .collect();
    let passes = of_rule().any(|(path, _)| {
        let stem = path.strip_suffix(".rs");
        let is_pinned = |stem| of_rule().any(|(pin, _)| pinned_fixture(pin) == Some(stem));
        stem.is_some_and(|stem| !is_pinned(stem))
    });
    let mut findings: Vec<String> = codes
        .iter()
        .filter(|code| !pinned.iter().any(|text| text.contains(**code)))
        .map(|code| format!("{folder}: no text pins {code}"))
        .collect();
    if !passes {
        findings.push(format!("{folder}: no fixture nearly fails but passes"));
    }
    findings
}

/// Checks that a folder not named after a rule pins only output that no rule owns: codes of an
/// earlier stage, or errors of rustc.
fn orphan_findings(tree: &Tree, rules: &Rules<'_>) -> Vec<String> {
    let owned: BTreeSet<&str> = rules.values().flatten().copied().collect();
    let mut findings = Vec::new();
    for (path, text) in tree.under("") {
        let below = strip_folder(path, FIXTURES);
        let (Some(below), Some(stem)) = (below, pinned_fixture(path)) else {
            continue;
        };
        if tree.text(&format!("{stem}.rs")).is_none() {
            findings.push(format!("{path}: pins the text of no fixture"));
        }
        let folder = below.split('/').next().unwrap_or_default();
        if rules.contains_key(folder) {
            continue;
        }
        let codes = codes(text);
        if let Some(code) = codes.intersection(&owned).next() {
            findings.push(format!(
                "{path}: pins {code}, which belongs to another rule's folder"
            ));
        } else if codes.is_empty() && !text.contains("error[E") {
            findings.push(format!("{path}: pins no code, and `{folder}` is no rule"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLETE: [(&str, &str); 7] = [
        (LIST, "mod stuck;"),
        (
            "macros/core/src/check/stuck.rs",
            "//! LC021: a live drive is stuck.",
        ),
        ("macros/core/src/check/witness.rs", "//! Minimal witnesses."),
        ("tests/ui/rules/stuck/fails.rs", ""),
        (
            "tests/ui/rules/stuck/fails.stderr",
            "error: LC021: dead end",
        ),
        ("tests/ui/rules/stuck/passes.rs", ""),
        (
            "tests/ui/rules/method_missing/a.stderr",
            "error[E0046]: missing",
        ),
    ];

    fn findings_with(changes: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut files: BTreeMap<&str, &str> = COMPLETE.into();
        files.insert("tests/ui/rules/method_missing/a.rs", "");
        for (path, text) in changes {
            match text {
                Some(text) => files.insert(path, text),
                None => files.remove(path),
            };
        }
        let files: Vec<(&str, &str)> = files.into_iter().collect();
        findings(&Tree::made_up(&files), &["witness"])
    }

    #[track_caller]
    fn check(changes: &[(&str, Option<&str>)], expected: &str) {
        let found = findings_with(changes);
        assert!(
            found.iter().any(|line| line.contains(expected)),
            "{found:?}"
        );
    }

    #[test]
    fn a_complete_rule_has_no_findings() {
        assert_eq!(findings_with(&[]), Vec::<String>::new());
    }

    #[test]
    fn a_rule_without_its_fixtures_is_found() {
        check(
            &[("tests/ui/rules/stuck/fails.stderr", None)],
            "no text pins LC021",
        );
        check(
            &[("tests/ui/rules/stuck/passes.rs", None)],
            "nearly fails but passes",
        );
        let second = "//! LC021 and LC022: stuck or looping.";
        check(
            &[("macros/core/src/check/stuck.rs", Some(second))],
            "pins LC022",
        );
    }

    #[test]
    fn a_rule_without_a_code_of_its_own_is_found() {
        let path = "macros/core/src/check/other.rs";
        check(&[(path, Some("//! Nothing."))], "names a code such as");
        check(&[(path, Some("//! LC021 again."))], "named by both");
    }

    #[test]
    fn a_code_may_stand_in_a_constant_and_fixtures_in_another_package() {
        let rule = "//! A live drive is stuck.\nconst RULE: &str = \"LC021\";\n// LC022";
        let moved = [
            ("macros/core/src/check/stuck.rs", Some(rule)),
            ("tests/ui/rules/stuck/fails.rs", None),
            ("tests/ui/rules/stuck/fails.stderr", None),
            ("macros/tests/ui/rules/stuck/fails.rs", Some("")),
            (
                "macros/tests/ui/rules/stuck/fails.txt",
                Some("error: LC021"),
            ),
        ];
        assert_eq!(findings_with(&moved), Vec::<String>::new());
        check(&moved[..3], "no text pins LC021");
    }

    #[test]
    fn fixtures_without_a_rule_are_found() {
        let path = "tests/ui/rules/gone/a.stderr";
        check(&[(path, Some("error: odd"))], "is no rule");
        check(&[(path, Some("LC021"))], "belongs to another");
        check(&[(path, Some("LC001"))], "pins the text of no fixture");
    }

    #[test]
    fn without_a_list_there_are_no_rules_yet() {
        assert!(findings(&Tree::made_up(&COMPLETE[1..3]), &[]).is_empty());
    }
}
