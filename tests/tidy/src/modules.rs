//! Every source file is reached from a `mod`: a file that lost its line is edited for years without being compiled.
//! Knows `mod` lines, modules inside a file by their indentation, and `#[path]`; not macros.

use std::collections::BTreeSet;

use crate::Tree;
use crate::members::Member;

/// Sources that no `mod` line leads to from the roots (the files that Cargo's targets name).
pub fn unreached(tree: &Tree, roots: &[String]) -> Vec<String> {
    let reached = reached(tree, roots);
    tree.sources()
        .filter(|(path, _)| !reached.contains(*path))
        .map(|(path, _)| format!("{path}: no `mod` line leads to it, so nothing compiles it"))
        .collect()
}

/// Returns sources in the `tests` folders of members that are not part of any suite that `cargo
/// test` runs.
pub fn outside_suites(tree: &Tree, members: &[Member]) -> Vec<String> {
    let mut findings = Vec::new();
    for member in members {
        let suites = member.crates.iter().filter(|root| root.is_suite);
        let suites: Vec<String> = suites.map(|root| root.path.clone()).collect();
        let reached = reached(tree, &suites);
        let folder = format!("{}/tests/", member.folder);
        let lost = tree
            .sources()
            .filter(|(path, _)| path.starts_with(&folder) && !reached.contains(*path));
        findings.extend(lost.map(|(path, _)| format!("{path}: no suite that runs leads to it")));
    }
    findings
}

/// Returns sources with tests that are not part of any crate whose tests `cargo test` runs.
pub fn tests_that_never_run(tree: &Tree, members: &[Member]) -> Vec<String> {
    let crates = members.iter().flat_map(|member| &member.crates);
    let tested = crates.filter(|root| root.is_tested);
    let tested: Vec<String> = tested.map(|root| root.path.clone()).collect();
    let reached = reached(tree, &tested);
    let is_test = |line: &str| {
        ["#[test]", "#[tokio::test"]
            .iter()
            .any(|test| line.starts_with(test))
    };
    let lost = tree.sources().filter(|(path, text)| {
        !reached.contains(*path) && text.lines().any(|line| is_test(line.trim_start()))
    });
    lost.map(|(path, _)| format!("{path}: has tests, and its crate says `test = false`"))
        .collect()
}

fn reached(tree: &Tree, roots: &[String]) -> BTreeSet<String> {
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut waiting: Vec<(String, bool)> = roots.iter().map(|root| (root.clone(), true)).collect();
    while let Some((path, is_root)) = waiting.pop() {
        let Some(text) = tree.text(&path) else {
            continue;
        };
        if reached.insert(path.clone()) {
            let children = children(&path, is_root, text);
            waiting.extend(children.into_iter().map(|child| (child, false)));
        }
    }
    reached
}

/// Files named `mod.rs`.
pub fn mod_files(tree: &Tree) -> Vec<String> {
    tree.sources()
        .filter(|(path, _)| path.ends_with("/mod.rs"))
        .map(|(path, _)| format!("{path}: name it after its module, beside the folder"))
        .collect()
}

fn children(path: &str, is_root: bool, text: &str) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.trim_end_matches(".rs");
    let below = if is_root || stem == "mod" {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    let mut children = Vec::new();
    let mut named_path = None;
    // Modules inside this file that are open: the line that closes each, and its name.
    let mut open: Vec<(String, &str)> = Vec::new();
    for line in text.lines() {
        let code = line.trim();
        if let Some(rest) = code.strip_prefix("#[path = \"") {
            named_path = rest
                .strip_suffix("\"]")
                .map(|name| plain(&format!("{folder}/{name}")));
        } else if let Some(name) = declared(code, ";") {
            let inside: String = open.iter().map(|(_, name)| format!("{name}/")).collect();
            let beside = format!("{below}/{inside}{name}.rs");
            children.push(named_path.take().unwrap_or(beside));
            children.push(format!("{below}/{inside}{name}/mod.rs"));
        } else if let Some(name) = declared(code, "{") {
            let indent = line.len() - line.trim_start().len();
            open.push((format!("{}}}", " ".repeat(indent)), name));
        } else if open.last().is_some_and(|(close, _)| close == line) {
            open.pop();
        }
    }
    children
}

/// A path without `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the name in `mod name` followed by `;` or `{`, with any visibility.
fn declared<'a>(line: &'a str, end: &str) -> Option<&'a str> {
    let name = line.strip_suffix(end)?;
    let name = match name.strip_prefix("pub") {
        Some(rest) => rest.split_once("mod ").and_then(|(visibility, name)| {
            let visibility = visibility.trim();
            (visibility.is_empty() || visibility.starts_with('(')).then_some(name)
        })?,
        None => name.strip_prefix("mod ")?,
    };
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::Root;

    fn unreached_of(files: &[(&str, &str)]) -> Vec<String> {
        let roots = ["a/src/lib.rs".to_owned(), "a/tests/it.rs".to_owned()];
        unreached(&Tree::made_up(files), &roots)
    }

    #[test]
    fn a_file_without_a_mod_line_is_found() {
        let found = unreached_of(&[("a/src/lib.rs", "// mod lost;"), ("a/src/lost.rs", "")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/src/lost.rs"), "{found:?}");
    }

    #[test]
    fn a_file_below_an_unreached_file_is_found_too() {
        let found = unreached_of(&[
            ("a/src/lib.rs", ""),
            ("a/src/lost.rs", "mod deeper;"),
            ("a/src/lost/deeper.rs", ""),
        ]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_root_of_another_target_does_not_lend_its_modules() {
        let found = unreached_of(&[
            ("a/src/lib.rs", ""),
            ("a/tests/it.rs", "mod shared;"),
            ("a/src/shared.rs", ""),
        ]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn reached_files_are_not_findings() {
        let found = unreached_of(&[
            (
                "a/src/lib.rs",
                "pub mod one;\n#[cfg(test)]\nmod tests;\n#[path = \"odd/name.rs\"]\nmod odd;",
            ),
            (
                "a/src/one.rs",
                "pub(super) mod two;\npub(in crate::one) mod three;",
            ),
            ("a/src/one/two.rs", ""),
            ("a/src/one/three.rs", ""),
            ("a/src/tests.rs", ""),
            ("a/src/odd/name.rs", ""),
            ("a/tests/it.rs", "mod shared;"),
            ("a/tests/shared.rs", ""),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn a_module_inside_a_file_lends_its_name_until_it_closes() {
        let text =
            "mod inside {\n    pub mod one;\n    fn f() {\n    }\n    mod two;\n}\nmod three;";
        let found = unreached_of(&[
            ("a/tests/it.rs", text),
            ("a/tests/inside/one.rs", ""),
            ("a/tests/inside/two.rs", ""),
            ("a/tests/three.rs", ""),
            ("a/tests/inside/three.rs", ""),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a/tests/inside/three.rs"), "{found:?}");
    }

    #[test]
    fn a_file_of_tests_that_no_running_suite_leads_to_is_found() {
        let root = |path: &str, is_suite| Root {
            path: path.to_owned(),
            is_suite,
            is_tested: is_suite,
        };
        let member = Member {
            folder: "a".to_owned(),
            crates: vec![root("a/tests/it.rs", true), root("a/tests/off.rs", false)],
            ..Member::default()
        };
        let tree = Tree::made_up(&[
            ("a/tests/it.rs", "mod part;"),
            ("a/tests/part.rs", ""),
            ("a/tests/off.rs", "mod its;"),
            ("a/tests/off/its.rs", ""),
            ("b/tests/its_own.rs", ""),
        ]);
        let found = outside_suites(&tree, &[member]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a/tests/off.rs"), "{found:?}");
    }

    #[test]
    fn a_test_of_a_crate_whose_tests_do_not_run_is_found() {
        let root = |path: &str, is_tested| Root {
            path: path.to_owned(),
            is_suite: false,
            is_tested,
        };
        let member = Member {
            folder: "a".to_owned(),
            crates: vec![root("a/src/lib.rs", true), root("a/src/main.rs", false)],
            ..Member::default()
        };
        let with_test = "mod tests {\n    #[test]\n    fn it() {}\n}";
        let tree = Tree::made_up(&[
            ("a/src/lib.rs", "mod part;"),
            ("a/src/part.rs", with_test),
            ("a/src/main.rs", with_test),
        ]);
        let found = tests_that_never_run(&tree, &[member]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a/src/main.rs"), "{found:?}");
    }

    #[test]
    fn a_file_named_mod_is_found() {
        let tree = Tree::made_up(&[("a/src/x/mod.rs", ""), ("a/src/model.rs", "")]);
        assert_eq!(mod_files(&tree).len(), 1);
    }
}
