//! Advice of a finding: the cause first, and nothing that reinforces the mistake.

use lifecycle_macros_core::check;
use proc_macro2::TokenStream;

use super::settling::{external_store, found, service};

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
        "LC097 starts [starts] promise `starts` counts for nothing: wherever it is due, the object is settled, in state `Missing`, `Wrong`, `Starting`",
        "LC031 Starting -> Ready [Ready] nothing causes `Starting -> Ready`",
    );
    assert_eq!(found(&rests), [promise, edge]);
    let waits_for_nobody = "`Starting` settles by its `wakes`, and a settled object waits for no promise: leave out the `wakes` if the environment fulfils `starts` by itself";
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
        "promise what the environment does by itself, as `starts` does in other worlds of `Starting`; or give these worlds a state of their own, with `wakes class, service, self` if only a change of these can help"
    );
}

#[test]
fn an_undo_with_a_when_is_told_to_run_in_life() {
    let text = external_store(&[(
        "drop_entry: call store when handle == Stale && entry",
        "drop_entry: call store when entry",
    )]);
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let notes = found.iter().flat_map(|one| &one.notes);
    let said = "`drop_entry` is an undo: with a `when` it runs wherever that holds, without one only on deletion";
    assert!(
        notes.map(|(_, note)| note).any(|note| note == said),
        "{found:?}"
    );
}

#[test]
fn a_deletion_whose_undo_is_refused_rests() {
    let text = external_store(&[]) + "properties { always entry == No in Deleting at rest; }";
    assert_eq!(
        help_of("LC092", &text),
        "a deletion also settles where its undo is refused, because a user must act then: exclude that case, `always refused(drop_entry) || ..`"
    );
    let but_for_that =
        "properties { always refused(drop_entry) || entry == No in Deleting at rest; }";
    assert_eq!(found(&(external_store(&[]) + but_for_that)), [""; 0]);
}

#[test]
fn a_value_that_is_missing_is_asked_for_where_it_belongs() {
    let asks = |pred: &str| service(&[("when service == Foreign", &format!("when {pred}"))]);
    let behind = "after the brackets comes a value that all facts in them have: `any(service, ..) == Current`";
    assert_eq!(help_of("LC001", &asks("any(class, service)")), behind);
    for pred in ["service", "class || service", "(service) || class"] {
        let help = "write `service == Current`, or which of them is meant";
        assert_eq!(help_of("LC001", &asks(pred)), help);
    }
}

#[test]
fn a_dead_end_where_a_when_keeps_an_effect_off_says_so() {
    let text = service(&[("Wrong when validity == Bad => Error wakes class;", "")]);
    assert_eq!(
        help_of("LC021", &text),
        "effect `apply_service` would run there, but for its `when`, which does not hold with `validity == Bad`: widen that; or give these worlds a state of their own, with `wakes class, service, self` if only a change of these can help"
    );
}

#[test]
fn what_keeps_an_undo_from_running_is_named() {
    let text = external_store(&[("given handle != Absent else No given store", "given store")]);
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let mut notes = found.iter().flat_map(|one| &one.notes);
    let said = "`drop_entry` cannot run there: its inputs are observed only where this `given` holds, and here is `handle == Absent`";
    let told = notes.find(|(_, note)| note == said);
    let (span, _) = told.unwrap_or_else(|| panic!("{found:#?}"));
    let token = span.and_then(|span| span.source_text());
    assert_eq!(token.as_deref(), Some("handle != Absent"));
}

#[test]
fn an_else_that_stands_there_is_no_advice() {
    let text = external_store(&[(
        "{ No | Stale, Current }",
        "{ No, Unknown | Stale, Current }",
    )]);
    assert_eq!(
        help_of("LC047", &text),
        "`Unknown` is left of the bar, where nothing is owned: remove it there, so that only this `else` names it"
    );
}

#[test]
fn a_sets_that_does_not_name_the_object_is_told_to() {
    let text = service(&[(
        "when validity == Fine;",
        "when validity == Fine sets { ready = true };",
    )]);
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let helps: Vec<String> = found.into_iter().filter_map(|one| one.help).collect();
    let said = "write `service = Current` in the `sets` of `apply_service`: a written list replaces the default, so nothing declares what the write makes of its own object";
    assert!(helps.iter().any(|help| help == said), "{helps:#?}");
}

#[test]
fn that_nothing_is_unmet_is_told_once() {
    let text = service(&[]) + "status { condition Made { True otherwise; } ready from Made; }";
    let found = found(&text);
    assert!(
        found.iter().any(|one| one.starts_with("LC051 Taken")),
        "{found:#?}"
    );
    assert!(
        !found.iter().any(|one| one.starts_with("LC053")),
        "{found:#?}"
    );
}

#[test]
fn any_condition_may_say_what_is_wrong() {
    let text = |second: &str| {
        service(&[])
            + "status { condition Known { False \"Missing\" when !class; False \"Wrong\" when validity == Bad; Unknown \"Making\" when service != Current; Unknown \"Starting\" when !ready; True otherwise; }"
            + second
    };
    let told = "condition Free { False \"Taken\" when service == Foreign; True otherwise; } ready from Known, Free; }";
    assert_eq!(found(&text(told)), [""; 0]);
    let untold = found(&text("ready from Known; }"));
    assert_eq!(untold.len(), 1, "{untold:#?}");
    assert!(untold[0].starts_with("LC053 Taken"), "{untold:#?}");
}

#[test]
fn what_is_written_is_chained_where_there_are_too_many_worlds() {
    let facts: String = (0..5)
        .map(|fact| format!("f{fact}: {{ A, B, C, D, E }} from class;"))
        .collect();
    let text = format!(
        "resource Thing; observe {{ class: Class by name spec.class; a: owned A by name meta.name; b: owned B by name meta.name; c: owned C by name meta.name; }}
         facts {{ {facts} }} states {{ goal Ready when class => Ready; Missing when !class => Error wakes class; }} effects {{ apply a; apply b; apply c; }}"
    );
    assert!(
        help_of("LC091", &text).starts_with("declare concerns that do not wait for each other as regions, each of which is checked by itself: `region backup { .. }`; or judge several objects as one, with the worlds of one of them: `parts: owned { a: ..; b: ..; c: ..; };` and `apply each parts`; or observe an input that is written later only where the one before exists: `b: .. given a == Current`, `c: .. given b == Current` (meanwhile it is neither observed nor repaired); the largest facts are `"),
        "{}",
        help_of("LC091", &text)
    );
}

#[test]
fn what_stands_above_all_is_decided_by_nothing_above_it() {
    let text = service(&[
        (
            "ready: bool",
            "theirs: bool from class given class; ready: bool",
        ),
        (
            "Missing when",
            "Elsewhere when !theirs => Ignored; Missing when",
        ),
    ]);
    let help = help_of("LC014", &text);
    assert!(
        help.ends_with(
            "no state of owned objects may be above `Elsewhere`, which decides who owns the object"
        ),
        "{help}"
    );
}

#[test]
fn facts_of_the_object_and_two_names_of_one_object_share_what_decides_them() {
    let is_related = |facts: &str, never: &str| {
        let text = service(&[
            ("facts {", &format!("facts {{ {facts} never {never};")),
            (
                "class: Class by name spec.class;",
                "class: Class by name spec.class; seen: Service by name meta.name;",
            ),
        ]);
        !found(&text).iter().any(|one| one.starts_with("LC015"))
    };
    let itself = "one: bool from self; other: bool from self, class;";
    assert!(is_related(itself, "one && other"));
    assert!(!is_related(
        "one: bool from self; other: bool from class;",
        "one && other"
    ));
    assert!(is_related("", "seen == Absent && service == Current"));
    assert!(!is_related("", "class == Absent && seen == Absent"));
}

#[test]
fn what_keeps_what_is_held_and_what_is_on_its_way_back_need_no_undo() {
    let codes = |text: &str| {
        let found = found(text);
        let codes = found
            .iter()
            .map(|one| one.split(' ').take(2).collect::<Vec<_>>().join(" "));
        codes.collect::<Vec<_>>()
    };
    let missing = "LC041 mend".to_owned();
    let mend = |when: &str| {
        external_store(&[(
            "put: call store when handle == Current && entry in { No, Stale }",
            &format!(
                "mend: call store when {when} sets {{ entry = Current }} key handle; put: call store when handle == Current && entry == No"
            ),
        )])
    };
    assert!(!codes(&mend("handle == Current && entry == Stale")).contains(&missing));
    assert!(!codes(&mend("handle == Current && entry not in { No, Current }")).contains(&missing));
    assert!(codes(&mend("handle == Current && entry in { No, Stale }")).contains(&missing));
    assert!(codes(&mend("handle == Current")).contains(&missing));
    let slow = external_store(&[
        ("{ No | Stale, Current }", "{ No | Going, Stale, Current }"),
        (
            "entry in { Stale, Current } sets { entry = No } key",
            "entry in { Stale, Current } sets { entry = No } or { entry = Going } key",
        ),
    ]);
    assert!(
        !codes(&slow).iter().any(|one| one == "LC041 drop_entry"),
        "{:?}",
        codes(&slow)
    );
}

#[test]
fn what_nobody_adopts_is_never_adoptable() {
    let text = service(&[("service == Foreign", "service in { Foreign, Adoptable }")]);
    let help = help_of("LC001", &text);
    assert!(help.contains("write `adopt service when ..;`"), "{help}");
}

#[test]
fn a_name_that_is_misspelt_often_is_told_once() {
    let text = service(&[]);
    let text = text.replace("validity ==", "validty ==")
        + "properties { never apply_service while validty == Bad; }";
    let tokens: TokenStream = text.parse().expect("it consists of tokens");
    let found = check(tokens).diagnostics;
    let all = found.len();
    assert!(all > 1, "{found:#?}");
    let told = lifecycle_macros_core::errors::deduplicate(found);
    assert_eq!(told.len(), 1, "{told:#?}");
    let said = format!("so it is written in {} more", all - 1);
    assert!(
        told[0]
            .notes
            .iter()
            .any(|(_, note)| note.starts_with(&said)),
        "{told:#?}"
    );
}

#[test]
fn an_effect_that_resembles_none_is_told_which_there_are() {
    let text = service(&[]) + "properties { never conjure while !class; }";
    assert_eq!(help_of("LC001", &text), "the effects are `apply_service`");
}

#[test]
fn what_leaves_a_fact_open_between_two_steps_is_named() {
    let text = "resource Thing;
        observe { node: poll Info by meta.uid every 10s; }
        facts {
            load: { None, Some, Drained } from node given node;
            disks: { Detached, Attached } from node given node;
        }
        states { Unseen when !node => Pending; goal Ready when node => Ready; }
        effects {
            drain: call node sets { load = Drained } key meta.uid;
            detach: call node sets { disks = Detached } key meta.uid;
        }
        teardown { drain until load == Drained; detach until disks == Detached; }";
    let help = help_of("LC143", text);
    assert!(
        help.starts_with("write `load = Drained` in the `sets` of `detach`"),
        "{help}"
    );
}
