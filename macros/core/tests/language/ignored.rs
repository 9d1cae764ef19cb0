//! States of objects that another controller manages: the parts that they may leave out, and the
//! parts that they may not have.

use lifecycle_macros_core::check;
use lifecycle_macros_core::space::summary::Summary;

const LIFECYCLE: &str = r#"
resource Thing;
observe {
    class:  Class        by name spec.class;
    store:  poll Info    by meta.uid every 30s;
    secret: owned Secret by name meta.name;
}
facts {
    keeper: { Ours, Other } from class given class else Ours;
    held entry: { No, Stale, Current } from store given store else Unseen;
}
states {
    Elsewhere when keeper == Other => Ignored;
    NoClass  when !class => Error wakes class;
    Unseen   when entry == Unseen => Pending;
    Making   when entry in { No, Stale } => Pending;
    Taken    when secret == Foreign => Error wakes secret;
    Leaving  when secret == Terminating => Pending;
    Handing  when secret != Current => Pending;
    goal Ready when entry == Current => Ready;
}
effects {
    put:  call store when class && entry in { No, Stale } sets { entry = Current } undo drop_ key meta.uid;
    drop_: call store sets { entry = No } key meta.uid;
    apply secret when class && entry == Current;
}
status {
    condition Stored {
        False "NoClass" when !class;
        False "Taken" when keeper == Ours && entry == Current && secret == Foreign;
        True when keeper == Ours && entry == Current && secret == Current;
        Unknown "Working" when keeper == Ours;
    }
    ready from Stored;
}
"#;

/// Checks the codes and items of the findings after one edit of the lifecycle.
#[track_caller]
fn expect(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(LIFECYCLE.matches(from).count(), 1, "`{from}` occurs once");
    let text = LIFECYCLE.replace(from, to);
    let found = check(text.parse().expect("the lifecycle consists of tokens"));
    let found: Vec<_> = found
        .diagnostics
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected);
}

/// Tests that the state settles, and that a deletion from there releases every held fact: otherwise
/// LC040 would be reported.
#[test]
fn it_rests_without_wakes_and_without_a_condition() {
    expect("resource Thing;", "resource Thing;", &[]);
}

#[test]
fn the_same_state_as_one_of_ours_goes_on_and_needs_its_conditions() {
    let found = check(
        LIFECYCLE
            .replace("=> Ignored", "=> Pending")
            .parse()
            .expect("tokens"),
    );
    let codes: Vec<_> = found.diagnostics.iter().map(|d| d.code).collect();
    assert!(
        codes.contains(&"LC021") && codes.contains(&"LC052"),
        "{codes:?}"
    );
}

#[test]
fn no_effect_is_enabled_there() {
    expect(
        "apply secret when class && entry == Current;",
        "apply secret when class && entry == Current && keeper == Other;",
        &["LC021 Handing", "LC016 apply_secret"],
    );
}

#[test]
fn a_clause_that_holds_only_there_never_applies() {
    expect(
        r#"False "NoClass" when !class;"#,
        r#"False "NoClass" when !class; False "Kept" when keeper == Other;"#,
        &["LC054 Stored"],
    );
}

#[test]
fn whose_it_is_does_not_depend_on_how_our_writes_went() {
    expect(
        "keeper: { Ours, Other } from class given class else Ours;",
        "keeper: { Ours, Other } from class given class && !refused(put) else Ours;",
        &["LC066 keeper"],
    );
}

#[test]
fn nothing_that_we_cause_begins_there() {
    let found = check(LIFECYCLE.parse().expect("tokens"));
    let model = found.model.expect("it is understood");
    let summary = Summary::explore(&model).expect("it is small");
    assert!(!summary.edges.is_empty());
    assert!(summary.edges.keys().all(|(from, _)| from.0 != 0));
}
