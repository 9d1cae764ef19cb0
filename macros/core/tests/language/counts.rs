//! Tests that the complete examples of `docs/counts.md` are true: its lifecycle is accepted without
//! a finding, and each error that it mentions is one.

use lifecycle_macros_core::check;

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/counts.md");

fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("there is a lifecycle");
    rest.split("```").next().expect("the block ends")
}

fn check_messages(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    let line = |found: &lifecycle_macros_core::errors::Diagnostic| {
        format!("{}: {}", found.code, found.message)
    };
    found.iter().map(line).collect()
}

const READY: &str = "ready:  count { Empty, None, Some, All } of pods;";

/// Checks the findings for the example with another count.
#[track_caller]
fn check_edit(ready: &str, expected: &[&str]) {
    assert!(example().contains(READY));
    assert_eq!(
        check_messages(&example().replace(READY, ready)),
        expected,
        "{ready}"
    );
}

#[test]
fn the_example_is_accepted_without_a_finding() {
    assert_eq!(check_messages(example()), [""; 0]);
}

#[test]
fn a_count_has_four_values_of_one_set_and_holds_nothing() {
    check_edit(
        "ready: count { None, Some, All } of pods;",
        &[
            "LC116: `ready` counts and has 3 values, where there are 4 cases",
            "LC001: state `Ready`: `Empty` is not a value of `ready`",
        ],
    );
    check_edit(
        "ready: count { Empty, None, Some, Most, All } of pods;",
        &["LC116: `ready` counts and has 5 values, where there are 4 cases"],
    );
    check_edit(
        "ready: count { Empty, None, Some, All } of class;",
        &["LC116: `ready` counts, and `class` is no set"],
    );
    check_edit(
        "held ready: count { Empty, None, Some, All } of pods;",
        &["LC116: `ready` counts, and holds nothing"],
    );
}

#[test]
fn slips_of_a_count_are_called_that() {
    check_edit(
        "ready: count { Empty, None, Some, All } from pods;",
        &["LC000: expected `of`, found `from`: a count is `of` a set"],
    );
    check_edit(
        "ready: count of pods;",
        &["LC000: expected `{`, found `of`"],
    );
    check_edit(
        "ready: count { Empty, None, Some, All } of pods, class;",
        &["LC000: expected `given`, `else` or `;`, found `,`: a count is of one set"],
    );
    check_edit(
        "ready: count { Empty, None | Some, All } of pods;",
        &["LC000: expected `,` or `}`, found `|`"],
    );
}

/// Tests that any value of a count may follow any other, regardless of the verdict on the set.
#[test]
fn a_count_is_an_ordinary_fact_of_its_set() {
    let never = "never pods == Draining && ready == Empty;";
    check_edit(&format!("{READY} {never}"), &[]);
    let of_others = "never class && ready == Empty;";
    let found = check_messages(&example().replace(READY, &format!("{READY} {of_others}")));
    assert!(
        found.iter().any(|found| found.starts_with("LC015")),
        "{found:?}"
    );
    // Without the state that covers them, the worlds in which some members are ready are reported.
    let starting =
        "Starting   when ready in { None, Some }                       => Pending overdue 5min;";
    assert!(example().contains(starting));
    let found = check_messages(&example().replace(starting, ""));
    assert!(
        found.iter().any(|found| found.starts_with("LC011")),
        "{found:?}"
    );
}
