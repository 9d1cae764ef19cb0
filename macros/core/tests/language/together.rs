//! Tests that `docs/together.md` is true: its lifecycle is accepted, and waits in the places that
//! the page names. Also tests the form of a claim, and the findings about it that need no rustc.

use lifecycle_macros_core::model::StateId;
use lifecycle_macros_core::{check, expand};

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/together.md");

fn page() -> &'static str {
    let (_, after) = PAGE.split_once("```rust\n").expect("there is a lifecycle");
    after.split_once("```").expect("it ends").0
}

fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(ToString::to_string).collect()
}

/// The page with another claim.
fn claiming(claim: &str) -> String {
    let (old, new) = ("claimed by Gate in Serving | Ready", claim);
    assert_eq!(page().matches(old).count(), 1);
    page().replace(old, new)
}

#[track_caller]
fn assert_finding(text: &str, part: &str) {
    let found = found(text);
    assert!(
        found.iter().any(|one| one.contains(part)),
        "{part}\n{found:#?}"
    );
}

/// The states that wait, each with the promises that are due together.
fn waits(text: &str) -> Vec<(String, Vec<usize>)> {
    let checked = check(body_of(text));
    let model = checked.model.expect("it resolves");
    let name = |state: StateId| model.states[state.0].name.to_string();
    let waits = checked.shown.expect("it is explored").waits.into_iter();
    waits.map(|(state, due)| (name(state), due)).collect()
}

#[test]
fn the_lifecycle_of_the_page_is_accepted_and_waits_where_it_says() {
    assert_eq!(found(page()), [""; 0]);
    assert_eq!(waits(page()), [("Waiting".to_owned(), vec![0])]);
}

#[test]
fn who_keeps_it_and_where_is_in_the_description() {
    let generated = expand(body_of(page())).to_string().replace(' ', "");
    assert!(
        generated.contains("states:&[\"Serving\",\"Ready\"]"),
        "{generated}"
    );
    assert!(generated.contains("waits:&[ir::Wait{state:ir::StateId(1usize),promises:&[0usize]}]"));
    assert!(generated.contains("claimed(\"lists\",<Gateas"));
    let unclaimed = claiming("");
    assert_eq!(found(&unclaimed), [""; 0]);
    let generated = expand(body_of(&unclaimed)).to_string().replace(' ', "");
    assert!(
        generated.contains("claim:::std::option::Option::None"),
        "{generated}"
    );
    assert!(generated.contains("waits:&[],"));
}

#[test]
fn what_another_promise_leads_out_of_waits_for_nobody() {
    let text = page().replace(
        "    promises {",
        "    promises {\n        heals: gate && !listed sets { table = Present, listed = true };",
    );
    assert_eq!(waits(&text), []);
}

#[test]
fn a_keeper_is_a_type_and_its_states_are_names() {
    assert_eq!(
        found(&claiming("claimed by super::gates::Gate in Ready")),
        [""; 0]
    );
    assert_finding(&claiming("claimed by Gate in Ready | Ready"), "LC180");
    assert_finding(
        &claiming("claimed by in Ready"),
        "expected the type whose lifecycle keeps the promise",
    );
    assert_finding(&claiming("claimed by Gate"), "expected `in`");
    assert_finding(
        &claiming("claimed by Gate in"),
        "expected a state of its lifecycle",
    );
    assert_finding(&claiming("claimed Gate in Ready"), "expected `by`");
    assert_finding(
        &claiming("kept by Gate in Ready"),
        "expected `claimed` or `:`",
    );
}
