//! Tests that the complete examples of `docs/outside.md` are true: its lifecycle is accepted
//! without a finding, and each error that it mentions is one.

use lifecycle_macros_core::check;

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/outside.md");

fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("there is a lifecycle");
    rest.split("```").next().expect("the block ends")
}

fn codes(text: &str) -> Vec<&'static str> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(|found| found.code).collect()
}

/// Checks the codes of the findings after an edit of the example.
#[track_caller]
fn check_edit(from: &str, to: &str, expected: &[&str]) {
    assert!(example().contains(from), "the example has `{from}`");
    assert_eq!(codes(&example().replace(from, to)), expected, "{to}");
}

#[test]
fn the_example_is_accepted_without_a_finding() {
    assert_eq!(codes(example()), [""; 0]);
}

#[test]
fn keys_may_be_paths_inputs_and_paths_of_inputs() {
    let keys = "spec.url, spec.branch, secret every";
    let more = "secret, spec.url, secret.meta.resource_version, meta.uid every";
    check_edit(keys, more, &[]);
    check_edit(keys, "secret every", &[]);
}

#[test]
fn a_key_that_stands_there_twice_is_found() {
    let keys = "spec.url, spec.branch, secret every";
    check_edit(keys, "spec.url, secret, spec.url every", &["LC115"]);
    check_edit(keys, "secret, spec.url, secret every", &["LC115"]);
}

#[test]
fn a_poll_names_its_provider_and_that_is_no_input() {
    let poll = "poll Head by";
    check_edit(poll, "poll Head of forge by", &[]);
    check_edit(poll, "poll Head of secret by", &["LC117"]);
    check_edit(
        "secret: Secret    by",
        "secret: Secret of forge by",
        &["LC001", "LC005"],
    );
}

#[test]
fn what_hangs_on_a_key_that_may_go_cannot_be_given_back() {
    let poll = "kept:   poll Kept by meta.uid every 30s;";
    let given = "kept:   poll Kept by secret, meta.uid every 30s given secret;";
    let found = codes(&example().replace(poll, given));
    assert!(found.contains(&"LC040"), "{found:?}");
    // It is queried without a Secret, and reports what is known in that case.
    check_edit(poll, "kept: poll Kept by meta.uid, secret every 30s;", &[]);
}

/// Tests that any of the keys decides what is read: a write to the last counts as much as one to
/// the first.
#[test]
fn every_key_counts_for_what_an_effect_may_change() {
    let facts = |keys: &str| {
        let text = format!(
            "lifecycle! {{ resource Thing;
            observe {{ a: owned Secret by name spec.a; b: owned Service by name spec.b; seen: poll Info by {keys} every 2s; }}
            facts {{ up: bool from seen given seen; }}
            states {{ Odd when any(a, b) == Foreign => Error wakes a, b, self; Busy when any(a, b) in {{ Absent, Stale, Terminating }} => Pending;
                Silent when !seen => Pending; Down when !up => Error wakes seen, self; goal Ready when up => Ready; }}
            effects {{ apply a; apply b sets {{ b = Current, up = true }}; }} }}"
        );
        codes(&text)
    };
    assert!(!facts("meta.uid, a, b").contains(&"LC017"));
    assert!(!facts("b, meta.uid").contains(&"LC017"));
    assert!(facts("meta.uid, a").contains(&"LC017"));
}
