//! Tests of the rule by which the check judges failed tests. Runs `run-tests` in a small workspace
//! with seeded tests: a flaky one, a broken one, and a broken one in a program that only computes.
//! Checks the lists of the rule against the repository.

use std::fs;
use std::path::Path;
use std::process::Command;

use lifecycle_tidy::{Tree, verdict};
use tempfile::TempDir;

/// A program that waits, by its source (`lifecycle_tidy::verdict::WAITS`): `flaky` fails once, and on request breaks the sources as it does;
/// `broken` fails always; each if it is seeded.
const WAITS: &str = r#"
#[test]
fn flaky() {
    let mark = concat!(env!("CARGO_MANIFEST_DIR"), "/mark");
    if seeded("flaky") && !std::fs::exists(mark).unwrap() {
        std::fs::write(mark, "").unwrap();
        if seeded("edited") {
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs"), "fn").unwrap();
        }
        panic!("the server was late");
    }
}

#[test]
fn broken() {
    assert!(!seeded("broken"), "the server never answers");
}

fn seeded(bug: &str) -> bool {
    std::env::var("SEEDED").is_ok_and(|seeded| seeded.split(',').any(|name| name == bug))
}
"#;

/// A program that only computes.
const COMPUTES: &str = r#"
#[test]
fn computes() {
    let seeded = std::env::var("SEEDED").unwrap_or_default();
    assert!(!seeded.contains("computes"), "two and two are five");
}
"#;

/// Output of `run-tests`, its table, and its success.
struct Ran {
    output: String,
    table: String,
    has_passed: bool,
}

/// A workspace with both programs, built once.
fn workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in [
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"operator/router\"]\n",
        ),
        (
            "operator/router/Cargo.toml",
            "[package]\nname = \"seeded\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\ndoctest = false\n",
        ),
        ("operator/router/src/lib.rs", ""),
        ("operator/router/tests/link.rs", WAITS),
        ("operator/router/tests/computes.rs", COMPUTES),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let built = cargo(folder.path())
        .args(["test", "--workspace", "--no-run", "--message-format=json"])
        .output()
        .expect("cargo runs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    fs::write(folder.path().join("messages"), built.stdout).expect("a file");
    folder
}

fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    alone(cargo.current_dir(folder));
    cargo
}

/// Isolates the seeded workspace from the variables that the check of the real one sets.
fn alone(command: &mut Command) {
    for name in ["CARGO_TARGET_DIR", "LIFECYCLE_TIMES", "LIFECYCLE_REQUIRE"] {
        command.env_remove(name);
    }
    let runners = std::env::vars_os().map(|(name, _)| name);
    for runner in runners.filter(|name| name.to_string_lossy().ends_with("_RUNNER")) {
        command.env_remove(runner);
    }
}

fn run(folder: &Path, seeded: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_run-tests"));
    alone(command.current_dir(folder).args(["messages", "table"]));
    let ran = command.env("SEEDED", seeded).env("CARGO", env!("CARGO"));
    let ran = ran.output().expect("run-tests runs");
    Ran {
        output: String::from_utf8_lossy(&ran.stdout).into_owned(),
        table: fs::read_to_string(folder.join("table")).unwrap_or_default(),
        has_passed: ran.status.success(),
    }
}

#[test]
fn each_seeded_test_is_judged_by_the_rule() {
    let folder = workspace();
    let folder = folder.path();
    let link = "operator/router/tests/link.rs";

    let green = run(folder, "");
    assert!(green.has_passed, "{}", green.output);
    assert!(
        green
            .table
            .contains("failed: none\npassed only when rerun: none\n")
    );

    let flaky = run(folder, "flaky");
    assert!(flaky.has_passed, "{}", flaky.output);
    assert!(
        flaky
            .output
            .contains(&format!("== once more, alone: {link} flaky"))
    );
    let listed = format!("failed: none\npassed only when rerun: 1\n  {link} flaky\n");
    assert!(flaky.table.contains(&listed), "{}", flaky.table);
    assert!(
        flaky.table.contains("the server was late"),
        "{}",
        flaky.table
    );

    let broken = run(folder, "broken");
    assert!(!broken.has_passed);
    assert!(
        broken
            .output
            .contains(&format!("== once more, alone: {link} broken"))
    );
    assert!(
        broken
            .table
            .contains(&format!("failed: 1\n  {link} broken\n"))
    );
    assert!(
        broken.table.contains("the server never answers"),
        "{}",
        broken.table
    );

    let computes = run(folder, "computes");
    assert!(!computes.has_passed && !computes.output.contains("once more, alone"));
    let listed = "failed: 1\n  operator/router/tests/computes.rs computes\n";
    assert!(computes.table.contains(listed), "{}", computes.table);
}

#[test]
fn a_test_that_runs_again_is_of_the_same_program() {
    let folder = workspace();
    let folder = folder.path();
    // Code that Cargo would compile for the second run fails.
    let ran = run(folder, "flaky,edited");
    assert!(ran.has_passed, "{}", ran.output);
    assert!(ran.table.contains("passed only when rerun: 1\n"));
    let edited = fs::read_to_string(folder.join("operator/router/src/lib.rs"));
    assert_eq!(edited.expect("the file"), "fn");
}

#[test]
fn a_workspace_that_does_not_compile_fails_the_check() {
    let folder = workspace();
    fs::write(folder.path().join("operator/router/src/lib.rs"), "fn").expect("a file");
    let ran = run(folder.path(), "");
    assert!(!ran.has_passed);
    assert!(ran.output.contains("could not compile"), "{}", ran.output);
}

#[test]
fn the_lists_of_programs_that_wait_and_of_flaky_tests_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    let tree = Tree::read(root.expect("two folders up")).expect("the repository");
    let findings = verdict::flaky::findings(&tree);
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    let gone: Vec<&str> = verdict::WAITS
        .into_iter()
        .filter(|program| !tree.has(program))
        .collect();
    assert!(gone.is_empty(), "they wait, and do not exist: {gone:?}");
}
