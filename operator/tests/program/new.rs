//! Tests of `lifecycle-operator new`: its output and the input that it refuses. The long form also
//! checks that the generated crate builds, passes its tests and runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lifecycle-operator");
const WORDS: [&str; 6] = [
    "new",
    "gadget-operator",
    "--kind",
    "Gadget",
    "--group",
    "gadgets.acme.test",
];

fn new(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(words).current_dir(folder).output().unwrap()
}

fn checkout() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.canonicalize().unwrap()
}

/// A new crate that is built of this checkout, with the versions that this checkout is built of.
pub(crate) fn create_crate(folder: &Path) -> PathBuf {
    made_with(folder, &[])
}

/// Generates a crate with additional arguments.
fn made_with(folder: &Path, more: &[&str]) -> PathBuf {
    let root = checkout();
    let path = root.to_str().unwrap();
    let output = new(folder, &[&WORDS[..], more, &["--path", path]].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    let failed = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{failed}");
    assert!(said.contains("cargo run -- sandbox example.yaml"), "{said}");
    let made = folder.join("gadget-operator");
    std::fs::copy(root.join("Cargo.lock"), made.join("Cargo.lock")).unwrap();
    made
}

/// Runs cargo offline if possible. The network is the fallback, because dependencies that no other
/// build on this system needs may not be downloaded yet.
fn cargo(folder: &Path, words: &[&str]) -> Output {
    let run = |offline: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(words).args(offline).current_dir(folder);
        cargo.output().unwrap()
    };
    let output = run(&["--offline"]);
    match output.status.success() {
        true => output,
        false => run(&[]),
    }
}

#[test]
fn what_is_written_is_a_package_whose_dependencies_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let made = create_crate(folder.path());
    let output = cargo(&made, &["metadata", "--format-version=1"]);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{failed}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let members = metadata["workspace_members"].as_array().unwrap();
    assert_eq!(members.len(), 1, "it is a workspace of its own");
    let packages = metadata["packages"].as_array().unwrap();
    let named = |name: &str| packages.iter().find(|package| package["name"] == name);
    let targets = named("gadget-operator").unwrap()["targets"]
        .as_array()
        .unwrap();
    let targets: Vec<_> = targets
        .iter()
        .map(|target| target["name"].as_str().unwrap())
        .collect();
    assert_eq!(targets, ["gadget_operator", "gadget-operator", "suite"]);
    let runtime = named("lifecycle-runtime").unwrap();
    assert!(runtime["source"].is_null(), "it is the one of the checkout");
    // As the versions of this workspace were, so that a build of both needs nothing twice.
    let kube = |metadata: &serde_json::Value| {
        let packages = metadata["packages"].as_array().unwrap().iter();
        let kube = packages.filter(|package| package["name"] == "kube");
        kube.map(|package| package["version"].clone())
            .collect::<Vec<_>>()
    };
    let ours = cargo(&checkout(), &["metadata", "--format-version=1", "--locked"]);
    assert_eq!(
        kube(&metadata),
        kube(&serde_json::from_slice(&ours.stdout).unwrap())
    );
}

#[test]
fn what_is_written_is_formatted_and_its_lifecycle_has_no_findings() {
    for (template, imports) in [
        // With the names of the template this line is in another order.
        (
            "website",
            "use crate::lifecycle::{ApplyDeployment, Gadget, GadgetLogic, Rollout};",
        ),
        (
            "shop",
            "ApplyData, ApplyMigration, ApplyPassword, ApplyServer, Gadget, GadgetLogic, Login, Migrated,",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let made = made_with(folder.path(), &["--template", template]);
        let check = new(&made, &["check", "src/lifecycle.rs", "src/logic.rs"]);
        let said = String::from_utf8(check.stdout).unwrap();
        assert_eq!(check.status.code(), Some(0), "{said}");
        assert!(said.ends_with("0 errors, 0 warnings\n"), "{said}");
        let sources = ["src/lib.rs", "src/main.rs", "tests/suite.rs"];
        let mut rustfmt = Command::new("rustfmt");
        rustfmt.args(["--edition", "2024", "--check"]).args(sources);
        let formatted = rustfmt.current_dir(&made).output().unwrap();
        let said = String::from_utf8_lossy(&formatted.stdout);
        assert!(formatted.status.success(), "{said}");
        let logic = std::fs::read_to_string(made.join("src/logic.rs")).unwrap();
        assert!(logic.contains(imports), "{logic}");
    }
}

#[test]
fn nothing_is_written_over_and_bad_names_are_told_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |words: &[&str], code: i32| {
        let output = new(folder.path(), words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    };
    let with = |name, kind, group| ["new", name, "--kind", kind, "--group", group];
    assert!(refused(&with("Gadget", "Gadget", "acme.test"), 2).contains("lower-case letters"));
    assert!(refused(&with("a", "gadget", "acme.test"), 2).contains("a capital first"));
    assert!(refused(&with("a", "Deployment", "acme.test"), 2).contains("means something else"));
    assert!(refused(&with("a", "Gadget", "acme"), 2).contains("a domain of yours"));
    let elsewhere = [&WORDS[..], &["--path", "nowhere"]].concat();
    assert!(refused(&elsewhere, 1).contains("nowhere is no checkout of this repository"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    std::fs::create_dir(folder.path().join("gadget-operator")).unwrap();
    let published = [&WORDS[..], &["--version", "=0.1.2"]].concat();
    let output = new(folder.path(), &published);
    assert!(output.status.success(), "an empty folder is fine");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("are not published yet"), "{said}");
    let job = [&with("a", "Job", "acme.test")[..], &["--template", "shop"]].concat();
    assert!(refused(&job, 1).contains("a kind cannot be called Job"));
    let said = refused(&WORDS, 1);
    assert!(
        said.contains("gadget-operator is there and is not empty"),
        "{said}"
    );
    let manifest = std::fs::read_to_string(folder.path().join("gadget-operator/Cargo.toml"));
    assert!(manifest.unwrap().contains("lifecycle-runtime = \"=0.1.2\""));
}

#[test]
fn without_a_checkout_nothing_is_written_and_path_is_advised() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |from: &Path| {
        let output = new(from, &WORDS);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(folder.path());
    assert!(said.contains("are not published yet"), "{said}");
    assert!(said.contains("with --path CHECKOUT;"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // Inside of a checkout the advice names it.
    let root = checkout();
    let said = refused(&root.join("docs"));
    assert!(
        said.contains(&format!("--path {};", root.display())),
        "{said}"
    );
    assert!(!root.join("docs/gadget-operator").exists());
}

#[test]
fn a_state_that_is_taken_out_gives_the_finding_that_the_page_shows() {
    let folder = tempfile::tempdir().unwrap();
    let made = create_crate(folder.path());
    let lifecycle = std::fs::read_to_string(made.join("src/lifecycle.rs")).unwrap();
    let lines = lifecycle
        .lines()
        .filter(|line| !line.trim_start().starts_with("Taken "));
    let without: Vec<&str> = lines.collect();
    assert_eq!(without.len() + 1, lifecycle.lines().count());
    std::fs::write(made.join("src/lifecycle.rs"), without.join("\n")).unwrap();
    let check = new(&made, &["check", "--output", "json", "src/lifecycle.rs"]);
    let found: serde_json::Value = serde_json::from_slice(&check.stdout).unwrap();
    let text = |field: &str| found[0][field].as_str().unwrap();
    let said = format!("error: {}: {}\n", text("code"), text("message"));
    let page = include_str!("../../../docs/start.md");
    assert!(page.contains(&format!("```text\n{said}```\n")), "{said}");
}

/// The commands of a page that are run in the new crate.
fn commands(page: &str) -> Vec<String> {
    let mut fenced = page.split("```sh\n").skip(1);
    let mut all = Vec::new();
    while let Some((block, _)) = fenced.next().and_then(|rest| rest.split_once("```")) {
        let lines = block
            .lines()
            .map(|line| line.split(" #").next().unwrap_or(line).trim());
        all.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    all
}

/// Follows a page with a generated copy of the template. This takes minutes, because a separate
/// crate has its own profile and features and everything is rebuilt. Every check already builds,
/// tests and runs the templates themselves as members of this workspace. `START=1` or `LONG=1`
/// builds the copies and prints how long that took.
fn follow(page: &str, template: &[&str]) {
    let all = commands(page);
    let first = all.iter().find(|line| line.contains(" new ")).unwrap();
    let words: Vec<&str> = first.split(" -- ").last().unwrap().split(' ').collect();
    let made_by = [&WORDS[..], template, &["--path", "."]].concat();
    assert_eq!(words, made_by, "the page makes the crate of this test");
    let rest = all
        .iter()
        .filter(|line| line.starts_with("cargo ") && !line.contains(" new "));
    let rest: Vec<Vec<&str>> = rest
        .map(|line| line.split_whitespace().skip(1).collect())
        .collect();
    assert!(rest.len() > 1, "{all:?}");
    let long = |name| std::env::var(name).is_ok_and(|value| value == "1");
    if !long("START") && !long("LONG") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let made = made_with(folder.path(), template);
    for mut words in rest {
        // The page describes the effect of `--once` by the line that it waits for.
        if words.contains(&"sandbox") {
            words.insert(words.len() - 1, "--once");
        }
        run(&made, &words);
    }
    let lifecycle = made.join("src/lifecycle.rs");
    let text = std::fs::read_to_string(&lifecycle).unwrap();
    std::fs::write(&lifecycle, text + "\n").unwrap();
    run(&made, &["build"]);
}

/// Runs a command of a page, and prints how long it took and how many crates it built.
fn run(made: &Path, words: &[&str]) {
    let begun = std::time::Instant::now();
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(words).current_dir(made).output().unwrap();
    let (said, failed) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "cargo {words:?}: {said}{failed}");
    let built = failed.matches("Compiling ").count();
    let words = words.join(" ");
    eprintln!("cargo {words}: {built} crates, {:.1?}", begun.elapsed());
}

#[test]
fn each_command_of_the_first_operator_does_what_the_page_says() {
    follow(include_str!("../../../docs/start.md"), &[]);
}

#[test]
fn each_command_of_the_real_one_does_what_the_page_says() {
    follow(
        include_str!("../../../docs/real.md"),
        &["--template", "shop"],
    );
}
