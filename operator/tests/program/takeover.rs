//! `lifecycle-operator takeover --check` on a simulated cluster as the replaced operator, or the existing controller of Skupper sites, leaves it: all that it
//! prints, and how it ends.
//! `BLESS=1 cargo test --workspace --test program takeover` writes it anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lifecycle_listener::controller::KINDS;
use lifecycle_skupper::controller::KINDS as SKUPPER;
use tempfile::TempDir;

use crate::cluster::{PROGRAM, started, stop};

const REPLACED: &str = include_str!("../../src/takeover/replaced.yaml");
const SITES: &str = include_str!("../../src/takeover/skupper/replaced.yaml");
/// The conversion that the chart of the replaced operator leaves in each definition.
const WEBHOOK: &str = r#"{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"name":"listener-operator","namespace":"stackable-operators","path":"/convert","port":8443}}}}"#;

/// Runs the command on a cluster with these objects, with the definitions of the Listener operator.
fn checked(objects: &str, conversion: &str, words: &[&str]) -> (Option<i32>, String) {
    run(&definitions(conversion), objects, words)
}

/// Runs the command on a cluster with these objects, with the definitions of the controller of Skupper sites.
fn checked_sites(words: &[&str]) -> (Option<i32>, String) {
    let all = (SKUPPER.definitions)().into_iter();
    let all = all.map(|definition| serde_json::to_string(&definition).unwrap());
    let all = all.collect::<Vec<_>>().join("\n---\n");
    run(&all, SITES, words)
}

fn run(definitions: &str, objects: &str, words: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let definitions = written(&folder, "crds.yaml", definitions);
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

#[test]
fn all_that_is_in_the_way_of_taking_over_sites_is_printed() {
    let (code, printed) = checked_sites(&["skupper", "--controller-name=new"]);
    // The plan has uids and times.
    let (found, plan) = printed.split_once("\nWould change").unwrap();
    check("sites.txt", found);
    assert!(plan.contains("~ Site.skupper.io west/west"), "{plan}");
    assert_eq!(code, Some(1));
}

#[test]
fn nothing_blocks_a_namespace_that_is_looked_at_alone() {
    let words = [
        "skupper",
        "--controller-name=new",
        "--watch-namespace=north",
    ];
    let (code, printed) = checked_sites(&words);
    check("site.txt", &printed);
    assert_eq!(code, Some(0));
}

#[test]
fn whoever_may_read_nothing_of_sites_is_told_what_is_missing() {
    let (code, printed) = checked_sites(&["--as", "nobody", "skupper"]);
    check("sites-unread.txt", &printed);
    assert_eq!(code, Some(2));
}

#[test]
fn options_of_the_other_product_are_refused() {
    let refused = |words: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(["takeover", "--check"]).args(words);
        // A variable may be there for something else.
        command.env("LISTENER_CLASS_PRESET", "none");
        let output = command.env("KUBECONFIG", "/nowhere").output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, said) = refused(&["--kubelet-dir=/x", "skupper"]);
    assert_eq!(code, Some(2));
    let expected =
        "--kubelet-dir is an option of the Listener operator: leave it out with `skupper`";
    assert!(said.contains(expected), "{said}");
    let (code, said) = refused(&["skupper", "--listener-class-preset=none"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("unexpected argument '--listener-class-preset'"),
        "{said}"
    );
    let (code, said) = refused(&["--controller-name=new"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("unexpected argument '--controller-name'"),
        "{said}"
    );
    let (_, said) = refused(&["skupper"]);
    assert!(
        !said.contains("LISTENER") && !said.contains("option"),
        "{said}"
    );
}
