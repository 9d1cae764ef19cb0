//! `docs/suspend.md` is true: its lifecycle is accepted, each edit of it has the result on the
//! page, and its statements about polls, effects and conditions hold.

use lifecycle_macros_core::check;
use lifecycle_macros_core::model::{Lifecycle, Node};
use lifecycle_macros_core::space::summary::Summary;

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/suspend.md");

/// The lifecycle of the page.
fn topic() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("it shows one");
    rest.split("```").next().expect("it ends")
}

fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(|d| format!("error: {d}")).collect()
}

/// Checks the codes and items of the findings after one edit of the lifecycle.
#[track_caller]
fn expect(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(topic().matches(from).count(), 1, "`{from}` occurs once");
    let found = check(body_of(&topic().replace(from, to))).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected);
}

fn model() -> Lifecycle {
    check(body_of(topic())).model.expect("it is understood")
}

#[test]
fn the_lifecycle_of_the_page_is_accepted() {
    assert_eq!(found(topic()), [""; 0]);
}

/// Each block of a finding follows the line of the lifecycle that brings it about.
#[test]
fn each_finding_of_the_page_is_what_one_gets() {
    let mut shown = 0;
    for block in PAGE.split("```diff\n").skip(1) {
        let (edit, rest) = block.split_once("```\n").expect("the edit ends");
        let (_, rest) = rest.split_once("```text\n").expect("its finding follows");
        let said = rest.split("```").next().expect("the finding ends");
        let line = |mark: char| {
            let mut lines = edit.lines().filter_map(|line| line.strip_prefix(mark));
            lines.next().expect("the line is there").trim().to_owned()
        };
        let (from, to) = (line('-'), line('+'));
        assert_eq!(topic().matches(&from).count(), 1, "`{from}` occurs once");
        assert_eq!(found(&topic().replace(&from, &to)), [said.trim_end()]);
        shown += 1;
    }
    assert_eq!(shown, 2);
}

#[test]
fn the_same_state_as_one_of_ours_has_its_effects_and_needs_its_conditions() {
    let ours = topic().replace("=> Suspended wakes self", "=> Pending wakes self");
    let found = check(body_of(&ours)).diagnostics;
    let codes: Vec<_> = found.iter().map(|d| d.code).collect();
    assert!(
        codes.contains(&"LC051") || codes.contains(&"LC120"),
        "{codes:?}"
    );
}

#[test]
fn no_effect_is_enabled_there() {
    expect(
        "apply secret from broker when entry == Current;",
        "apply secret from broker when entry == Current && paused;",
        &[
            "LC021 Publishing",
            "LC016 apply_secret",
            "LC031 Publishing -> Ready",
        ],
    );
}

/// Checks that the cleanup of held resources runs although the object is paused, and waits while it
/// is frozen. The checker finds a deletion that could not continue after the suspension.
#[test]
fn a_deletion_is_looked_at_in_both() {
    let remove = "remove: call broker sets { entry = No } key meta.uid;";
    let needy = "remove: call broker from secret sets { entry = No } key meta.uid;";
    expect(remove, needy, &["LC040 entry"]);
    // Frozen for ever: the deletion waits for a person, and needs no undo that could run.
    let frozen = "frozen: bool from window given window else false;";
    let text = topic().replace(frozen, "frozen: bool from self; never !frozen;");
    let text = text.replace(remove, needy);
    let codes: Vec<_> = check(body_of(&text))
        .diagnostics
        .iter()
        .map(|d| d.code)
        .collect();
    assert!(!codes.contains(&"LC040"), "{codes:?}");
    let paused = text.replace("even deleting", "");
    let codes: Vec<_> = check(body_of(&paused))
        .diagnostics
        .iter()
        .map(|d| d.code)
        .collect();
    assert!(codes.contains(&"LC040"), "{codes:?}");
}

#[test]
fn polls_wait_and_are_asked_again_on_deletion() {
    let model = model();
    let broker = model.inputs.iter().find(|input| input.name == "broker");
    let var = broker
        .and_then(|broker| broker.var)
        .expect("a poll brings a fact");
    let asked: Vec<String> = model.vars[var.0]
        .given
        .iter()
        .flat_map(|guard| guard.pred.vars())
        .map(|asked| model.vars[asked.0].name.to_string())
        .collect();
    for name in ["paused", "frozen", "deleting"] {
        assert!(asked.iter().any(|asked| asked == name), "{asked:?}");
    }
}

#[test]
fn what_suspends_it_is_looked_at_before_anything_else() {
    let model = model();
    let first = &model.nodes[..4];
    let is_poll =
        |node: &Node| matches!(node, Node::Input(input) if model.inputs[input.0].name == "broker");
    assert!(!first.iter().any(is_poll), "{first:?}");
}

#[test]
fn nothing_that_we_cause_begins_there() {
    let model = model();
    let summary = Summary::explore(&model).expect("it is small");
    assert!(!summary.edges.is_empty());
    assert!(summary.edges.keys().all(|(from, _)| from.0 > 1));
}

/// Tests that a condition that queries more is not written anew, so a clause that holds only there
/// never applies.
#[test]
fn only_what_is_known_there_is_said_there() {
    expect(
        "True when entry == Current && secret == Current;",
        "False \"Paused\" when paused; True when entry == Current && secret == Current;",
        &["LC054 Stored"],
    );
    expect(
        "False \"Running\" otherwise;",
        "False \"Running\" when !frozen && !paused;",
        &[],
    );
    expect(
        "False \"Running\" otherwise;",
        "False \"Running\" when !frozen && !paused && frozen;",
        &["LC052 Suspended", "LC054 Suspended"],
    );
}
