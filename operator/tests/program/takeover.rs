//! `lifecycle-operator takeover --check` on a simulated cluster as the replaced operator leaves it: all that it prints, and how it ends.
//! `BLESS=1 cargo test --workspace --test program takeover` writes it anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lifecycle_listener::controller::KINDS;
use tempfile::TempDir;

use crate::cluster::{PROGRAM, started, stop};

const REPLACED: &str = include_str!("../../src/takeover/replaced.yaml");
/// What the chart of the replaced operator leaves in each definition.
const WEBHOOK: &str = r#"{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"listener-operator","namespace":"stackable-operators","path":"/convert","port":8443}}}}"#;

/// Runs the command on a cluster with these objects.
fn checked(objects: &str, conversion: &str, words: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let definitions = written(&folder, "crds.yaml", &definitions(conversion));
    let objects = written(&folder, "objects.yaml", objects);
    let kubeconfig = folder.path().join("kubeconfig");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let child = started(&[
        "--crds",
        &text(&definitions),
        "--apply",
        &text(&objects),
        "--kubeconfig",
        &text(&kubeconfig),
    ]);
    let mut command = Command::new(PROGRAM);
    command.args(["takeover", "--check"]).args(words);
    command.env_clear().env("KUBECONFIG", &kubeconfig);
    let output = command.output().unwrap();
    assert_eq!(stop(child), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    let printed = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), printed)
}

fn written(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Our definitions with another conversion, so that nothing else of them would change.
fn definitions(conversion: &str) -> String {
    let all = (KINDS.definitions)().into_iter().map(|definition| {
        let mut definition = serde_json::to_value(definition).unwrap();
        definition["spec"]["conversion"] = serde_json::from_str(conversion).unwrap();
        definition.to_string()
    });
    all.collect::<Vec<_>>().join("\n---\n")
}

#[track_caller]
fn check(name: &str, printed: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/program/takeover")
        .join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, printed).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(printed, expected, "{}", file.display());
}

#[test]
fn all_that_is_in_the_way_of_a_take_over_is_printed() {
    let (code, printed) = checked(REPLACED, WEBHOOK, &[]);
    check("blocked.txt", &printed);
    assert_eq!(code, Some(1));
}

#[test]
fn nothing_blocks_once_both_parts_of_the_replaced_operator_are_gone() {
    let is_left = |one: &&str| !one.contains("kind: DaemonSet");
    let left: Vec<&str> = REPLACED.split("\n---\n").filter(is_left).collect();
    let left = left.join("\n---\n").replace("replicas: 1", "replicas: 0");
    let words = ["--listener-class-preset=ephemeral-nodes"];
    let (code, printed) = checked(&left, WEBHOOK, &words);
    check("free.txt", &printed);
    assert_eq!(code, Some(0));
}

#[test]
fn whoever_may_read_nothing_is_told_what_is_missing() {
    let (code, printed) = checked(REPLACED, WEBHOOK, &["--as", "nobody"]);
    check("unread.txt", &printed);
    assert_eq!(code, Some(2));
}

#[test]
fn a_take_over_without_a_check_is_refused() {
    let output = Command::new(PROGRAM).arg("takeover").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("--check"), "{said}");
}
