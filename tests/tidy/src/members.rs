//! Dependencies between the members of the workspace: the output of `cargo metadata`, compared with
//! the architecture. The architecture holds a fenced block `packages` with a line for each member:
//! `a -> b, c`, or `a -> nothing`. A line that begins with a space continues the previous line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A package of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Its folder from the root of the repository.
    pub folder: String,
    /// Members that it is built of.
    pub built_of: BTreeSet<String>,
    /// Members that its tests need, and true if the dependency has a version.
    pub tested_with: BTreeMap<String, bool>,
    /// The files that Cargo compiles as crates of it.
    pub crates: Vec<Root>,
    /// True if `cargo run` knows which of its programs is meant.
    pub is_run: bool,
}

/// The first file of a crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its path from the root of the repository.
    pub path: String,
    /// True if `cargo test` runs it as a suite.
    pub is_suite: bool,
    /// True if `cargo test` runs the tests in it.
    pub is_tested: bool,
}

/// Reads the members in `cargo metadata --no-deps`. Returns `None` if the format differs from the
/// one that Cargo prints today.
pub fn read(metadata: &Value) -> Option<Vec<Member>> {
    let root = metadata["workspace_root"].as_str()?;
    let packages = metadata["packages"].as_array()?.iter();
    packages.map(|package| member(root, package)).collect()
}

fn member(root: &str, package: &Value) -> Option<Member> {
    let inside = |path: &str| Some(path.strip_prefix(root)?.trim_start_matches('/').to_owned());
    let manifest = inside(package["manifest_path"].as_str()?)?;
    let mut member = Member {
        name: package["name"].as_str()?.to_owned(),
        folder: manifest
            .trim_end_matches("Cargo.toml")
            .trim_end_matches('/')
            .to_owned(),
        ..Member::default()
    };
    for dependency in package["dependencies"].as_array()? {
        let name = dependency["name"].as_str()?.to_owned();
        if dependency["path"].is_null() {
            continue;
        }
        if dependency["kind"] == "dev" {
            let asks = dependency["req"].as_str()? != "*";
            *member.tested_with.entry(name).or_default() |= asks;
        } else {
            member.built_of.insert(name);
        }
    }
    let targets = package["targets"].as_array()?;
    let programs = targets.iter().filter(|target| target["kind"][0] == "bin");
    member.is_run = programs.count() == 1 || package["default_run"].is_string();
    let defaults = package["features"]["default"].as_array();
    let is_default = |feature| defaults.is_some_and(|all| all.contains(feature));
    for target in targets {
        let is_test = target["kind"].as_array()?.contains(&Value::from("test"));
        let required = target["required-features"].as_array();
        let is_built = required.is_none_or(|all| all.iter().all(is_default));
        let is_tested = is_built && target["test"].as_bool()?;
        member.crates.push(Root {
            path: inside(target["src_path"].as_str()?)?,
            is_suite: is_test && is_tested,
            is_tested,
        });
    }
    Some(member)
}

/// Returns the differences between the block of a document and the members. Each member names only
/// members further down, so there are no circles.
pub fn differences(document: &str, members: &[Member]) -> Vec<String> {
    let listed = match listed(document) {
        Ok(listed) => listed,
        Err(finding) => return vec![finding],
    };
    let mut findings = Vec::new();
    for member in members {
        let name = &member.name;
        match listed.iter().filter(|(listed, _)| listed == name).count() {
            0 => findings.push(format!("{name}: is a member and has no line")),
            1 => {}
            _ => findings.push(format!("{name}: has more than one line")),
        }
    }
    for (place, (name, said)) in listed.iter().enumerate() {
        let Some(member) = members.iter().find(|member| member.name == *name) else {
            findings.push(format!("{name}: has a line and is no member"));
            continue;
        };
        let undocumented = member.built_of.difference(said);
        findings.extend(undocumented.map(|other| format!("{name}: must not depend on {other}")));
        let unused = said.difference(&member.built_of);
        findings
            .extend(unused.map(|other| format!("{name}: does not depend on {other}, remove that")));
        let below = &listed[place + 1..];
        let above = said
            .iter()
            .filter(|other| !below.iter().any(|(name, _)| name == *other));
        findings.extend(above.map(|other| format!("{name}: {other} stands not below it")));
    }
    findings
}

type Lines = Vec<(String, BTreeSet<String>)>;

fn listed(document: &str) -> Result<Lines, String> {
    let block = document
        .split_once("\n```packages\n")
        .and_then(|(_, rest)| rest.split_once("\n```"));
    let (block, _) = block.ok_or("the document has no block `packages`")?;
    let mut listed = Lines::new();
    for line in block.lines() {
        let names = match line.split_once(" ->") {
            Some((name, names)) => {
                listed.push((name.trim().to_owned(), BTreeSet::new()));
                names
            }
            None if line.starts_with(' ') => line,
            None => return Err(format!("`{line}`: is no line such as `a -> b, c`")),
        };
        let (_, last) = listed.last_mut().ok_or("the block begins with a space")?;
        let names = names.split(',').map(str::trim);
        last.extend(
            names
                .filter(|name| !["", "nothing"].contains(name))
                .map(str::to_owned),
        );
    }
    Ok(listed)
}

/// Returns members that need one another, one of them for tests only and with a version: neither
/// could be packed first.
pub fn versions_in_circles(members: &[Member]) -> Vec<String> {
    let mut findings = Vec::new();
    for member in members {
        let name = &member.name;
        let versioned = member.tested_with.iter().filter(|(_, asks)| **asks);
        let closing = versioned.filter(|(other, _)| all_of(other, members).contains(name));
        findings.extend(closing.map(|(other, _)| {
            format!("{name}: {other} is built of it, so as a dev-dependency it has a path and no version")
        }));
    }
    findings
}

/// Commands of a document that name a member for `cargo run`, and not which of its programs.
pub fn unclear_commands(document: &str, text: &str, members: &[Member]) -> Vec<String> {
    let mut findings = Vec::new();
    for (at, start) in text.match_indices("cargo run") {
        let command = text[at + start.len()..].split(['`', '\n']).next();
        let ours = command.and_then(|command| command.split(" -- ").next());
        let words: Vec<&str> = ours.unwrap_or_default().split_whitespace().collect();
        let named = words
            .iter()
            .position(|word| ["-p", "--package"].contains(word));
        let name = named.and_then(|place| words.get(place + 1));
        let is_unclear = |member: &Member| name == Some(&&*member.name) && !member.is_run;
        if members.iter().any(is_unclear) && !words.contains(&"--bin") {
            let words = words.join(" ");
            findings.push(format!(
                "{document}: `cargo run {words}`: the package has several programs; give it a `default-run`, or say `--bin`"
            ));
        }
    }
    findings
}

/// A member and everything that it is built of.
fn all_of(name: &str, members: &[Member]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![name.to_owned()];
    while let Some(name) = waiting.pop() {
        if found.insert(name.clone()) {
            let member = members.iter().find(|member| member.name == name);
            waiting.extend(
                member
                    .into_iter()
                    .flat_map(|member| member.built_of.clone()),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn members() -> Vec<Member> {
        let dependency = |name: &str, kind: &str, req: &str| json!({"name": name, "kind": kind, "req": req, "path": format!("/x/{name}")});
        let target = |path: &str, kind: &str, test: bool| json!({"src_path": format!("/x/{path}"), "kind": [kind], "test": test});
        let crates = json!({"name": "serde", "kind": null, "req": "^1", "path": null});
        let package = |name: &str, dependencies: Value, targets: Value| {
            json!({
                "name": name, "manifest_path": format!("/x/{name}/Cargo.toml"),
                "dependencies": dependencies, "targets": targets,
            })
        };
        let top = [dependency("low", "build", "*"), crates];
        let low = [dependency("top", "dev", "*")];
        let suites = [
            target("low/tests/it.rs", "test", true),
            target("low/src/lib.rs", "lib", true),
        ];
        let packages = [
            package(
                "top",
                json!(top),
                json!([target("top/tests/off.rs", "test", false)]),
            ),
            package("low", json!(low), json!(suites)),
        ];
        read(&json!({"workspace_root": "/x", "packages": packages})).unwrap()
    }

    fn document(block: &str) -> String {
        format!("# Title\n\n```packages\n{block}\n```\n\nmore\n")
    }

    #[test]
    fn members_are_read_with_folders_and_suites() {
        let members = members();
        assert_eq!(members[0].folder, "top");
        assert_eq!(members[0].built_of, ["low".to_owned()].into());
        assert_eq!(members[1].tested_with, [("top".to_owned(), false)].into());
        assert!(members[1].built_of.is_empty());
        let suites = |member: &Member| {
            member
                .crates
                .iter()
                .map(|root| root.is_suite)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (suites(&members[0]), suites(&members[1])),
            (vec![false], vec![true, false])
        );
        assert_eq!(read(&json!({})), None);
    }

    #[test]
    fn a_suite_that_requires_a_feature_runs_if_the_feature_is_a_default() {
        let suite = json!({
            "src_path": "/x/a/tests/it.rs", "kind": ["test"], "test": true, "required-features": ["amqp"],
        });
        let runs_with = |features: Value| {
            let package = json!({
                "name": "a", "manifest_path": "/x/a/Cargo.toml", "dependencies": [],
                "targets": [suite], "features": features,
            });
            let members = read(&json!({"workspace_root": "/x", "packages": [package]})).unwrap();
            members[0].crates[0].is_suite
        };
        assert!(runs_with(json!({"default": ["amqp"], "amqp": []})));
        assert!(!runs_with(
            json!({"default": ["tls"], "amqp": [], "tls": []})
        ));
        assert!(!runs_with(json!({"amqp": []})));
    }

    #[test]
    fn a_command_says_which_program_it_means() {
        let program = |name: &str| json!({"src_path": format!("/x/a/{name}.rs"), "kind": ["bin"], "test": true});
        let read_with = |default: Value| {
            let package = json!({
                "name": "a", "manifest_path": "/x/a/Cargo.toml", "dependencies": [],
                "targets": [program("one"), program("two")], "default_run": default,
            });
            read(&json!({"workspace_root": "/x", "packages": [package]})).unwrap()
        };
        let text = "`cargo run -p a -- x --bin y`\ncargo run --release -p a\ncargo run -p a --bin one\ncargo run -p b";
        let found = unclear_commands("d.md", text, &read_with(Value::Null));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].contains("`cargo run --release -p a`"), "{found:?}");
        assert!(unclear_commands("d.md", text, &read_with(json!("one"))).is_empty());
    }

    #[track_caller]
    fn check(block: &str, expected: &[&str]) {
        assert_eq!(differences(&document(block), &members()), expected);
    }

    #[test]
    fn a_block_that_says_the_same_has_no_findings() {
        check("top -> low\nlow -> nothing", &[]);
        check("top ->\n    low\nlow -> nothing", &[]);
        check("top, low", &["`top, low`: is no line such as `a -> b, c`"]);
    }

    #[test]
    fn each_difference_is_found() {
        check(
            "top -> nothing\nlow -> nothing",
            &["top: must not depend on low"],
        );
        check(
            "top -> low",
            &[
                "low: is a member and has no line",
                "top: low stands not below it",
            ],
        );
        check(
            "top -> low\nlow -> nothing\nlow -> nothing",
            &["low: has more than one line"],
        );
        check(
            "top -> low\ngone -> nothing\nlow -> nothing",
            &["gone: has a line and is no member"],
        );
        check(
            "low -> nothing\ntop -> low",
            &["top: low stands not below it"],
        );
        let both = [
            "low: does not depend on top, remove that",
            "low: top stands not below it",
        ];
        check("top -> low\nlow -> top", &both);
        assert_eq!(differences("# Title", &members()).len(), 1);
    }

    #[test]
    fn a_version_in_a_circle_is_found() {
        let mut members = members();
        assert!(versions_in_circles(&members).is_empty());
        members[1].tested_with.insert("top".to_owned(), true);
        let expected =
            "low: top is built of it, so as a dev-dependency it has a path and no version";
        assert_eq!(versions_in_circles(&members), [expected]);
        members[0].built_of.clear();
        assert!(versions_in_circles(&members).is_empty());
    }
}
