//! `--watch`: it prints again when something has changed, and not before.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use lifecycle_tests::harness::{Case, Need, blocking};

use crate::sandbox::Sandbox;

pub(crate) fn cases() -> Vec<Case> {
    vec![blocking(
        "a_change_is_printed_once",
        &[Need::Binaries],
        a_change_is_printed_once,
    )]
}

fn a_change_is_printed_once() {
    let sandbox = Sandbox::start(&["deploy/examples/explain.yaml"]);
    let mut command = sandbox.shell("exec kubectl-lifecycle explain listener web --watch");
    let mut watching = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| line.unwrap());
    let mut head = || {
        let head = lines.find(|line| line.starts_with("Listener `default/web` is "));
        head.unwrap()
    };
    let mut last = head();
    assert!(last.contains(" is NoClass"), "{last}");
    let patch = "kubectl patch listeners.listeners.stackable.tech web --type merge -p '{\"spec\":{\"className\":\"cluster-internal\"}}'";
    let patched = sandbox.prints(patch);
    assert!(patched.contains("patched"), "{patched}");
    // Intermediate states may appear.
    while !last.contains(" is Ready") {
        last = head();
        assert!(!last.contains(" is NoClass"), "{last}");
    }
    let deleted = sandbox.prints("kubectl delete listeners.listeners.stackable.tech web");
    assert!(deleted.contains("deleted"), "{deleted}");
    assert_eq!(head(), "Listener `default/web` is gone");
    assert!(watching.wait().unwrap().success());
}
