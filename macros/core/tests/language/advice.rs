//! What a finding advises: the cause first, and nothing that cements the mistake.

use lifecycle_macros_core::check;
use proc_macro2::TokenStream;

use super::settling::{found, held, service};

/// The help of the finding of a rule.
fn help_of(code: &str, body: &str) -> String {
    let tokens: TokenStream = body.parse().expect("it consists of tokens");
    let found = check(tokens).diagnostics;
    let mut of_rule = found.iter().filter(|found| found.code == code);
    let help = of_rule.next().and_then(|found| found.help.clone());
    help.unwrap_or_else(|| panic!("{found:#?}"))
}

#[test]
fn a_promise_in_a_state_that_rests_is_told_wherever_it_is_missed() {
    let rests = service(&[(
        "Starting when !ready => Pending;",
        "Starting when !ready => Error wakes service, self;",
    )]);
    let (promise, edge) = (
        "LC097 starts [starts] promise `starts` counts for nothing: wherever it is due the object rests, in state `Missing`, `Wrong`, `Starting`",
        "LC031 Starting -> Ready [Ready] nothing causes `Starting -> Ready`",
    );
    assert_eq!(found(&rests), [promise, edge]);
    let waits_for_nobody = "`Starting` rests by its `wakes`, and a rest waits for no promise: leave out the `wakes` if the outside does by itself what `starts` says";
    assert_eq!(
        help_of("LC031", &rests),
        format!("remove it; or: {waits_for_nobody}")
    );
    let claimed = rests + "properties { reaches Ready from Starting; }";
    assert_eq!(help_of("LC095", &claimed), waits_for_nobody);
}

#[test]
fn a_dead_end_beside_worlds_that_wait_is_not_to_be_marked_as_a_whole() {
    let text = service(&[
        ("ready: bool", "paused: bool from service; ready: bool"),
        (
            "Current && !ready sets",
            "Current && !paused && !ready sets",
        ),
    ]);
    assert_eq!(
        help_of("LC021", &text),
        "promise what the outside does by itself, as `starts` does in other worlds of `Starting`; or give these worlds a state of their own, with `wakes class, service, self` if only a change of these can help"
    );
}

#[test]
fn an_undo_with_a_when_is_told_to_run_in_life() {
    let text = held(&[(
        "drop_entry: call store when handle == Stale && entry",
        "drop_entry: call store when entry",
    )]);
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let notes = found.iter().flat_map(|one| &one.notes);
    let said = "`drop_entry` is an undo: with a `when` it runs wherever that holds, without one on deletion alone";
    assert!(
        notes.map(|(_, note)| note).any(|note| note == said),
        "{found:?}"
    );
}

#[test]
fn a_deletion_whose_undo_is_refused_rests() {
    let text = held(&[]) + "properties { always entry == No in Deleting at rest; }";
    assert_eq!(
        help_of("LC092", &text),
        "a deletion also rests where its undo is refused, for a person has to look then: claim it but for that, `always refused(drop_entry) || ..`"
    );
    let but_for_that =
        "properties { always refused(drop_entry) || entry == No in Deleting at rest; }";
    assert_eq!(found(&(held(&[]) + but_for_that)), [""; 0]);
}

#[test]
fn a_value_that_is_missing_is_asked_for_where_it_belongs() {
    let asks = |pred: &str| service(&[("when service == Foreign", &format!("when {pred}"))]);
    let behind =
        "behind the brackets stands a value that all in them have: `any(service, ..) == Absent`";
    assert_eq!(help_of("LC001", &asks("any(class, service)")), behind);
    for pred in ["service", "class || service", "(service) || class"] {
        assert_eq!(help_of("LC001", &asks(pred)), "write `service == Absent`");
    }
}
