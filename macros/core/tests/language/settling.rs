//! Findings about worlds and trajectories, each with its witness, and near misses.

use lifecycle_macros_core::check;
use proc_macro2::TokenStream;

/// `code item [token] message` of every finding, where the token is the text under its span.
pub(super) fn found(body: &str) -> Vec<String> {
    let tokens: TokenStream = body.parse().expect("it consists of tokens");
    let lines = check(tokens).diagnostics.into_iter().map(|d| {
        let token = d.span.source_text().unwrap_or_default();
        format!("{} {} [{token}] {}", d.code, d.item, d.message)
    });
    lines.collect()
}

/// The help of the first finding.
pub(super) fn help(body: &str) -> String {
    let tokens: TokenStream = body.parse().expect("it consists of tokens");
    let mut found = check(tokens).diagnostics.into_iter();
    found
        .next()
        .and_then(|found| found.help)
        .unwrap_or_default()
}

/// The lifecycle has this one finding, and none after the change.
#[track_caller]
pub(super) fn assert_single_finding(body: &str, finding: &str, from: &str, to: &str) {
    assert_eq!(found(body), [finding]);
    assert_eq!(body.matches(from).count(), 1, "`{from}` occurs once");
    assert_eq!(found(&body.replace(from, to)), [""; 0]);
}

/// Returns a lifecycle of an object that owns one object, which most tests edit slightly.
pub(super) fn service(change: &[(&str, &str)]) -> String {
    let mut text = r#"
        resource Thing;
        observe {
            class: Class by name spec.class;
            service: owned Service by name meta.name;
        }
        facts {
            validity: { Fine, Bad } from class given class else Fine;
            ready: bool from service given service == Current else false;
        }
        states {
            Missing when class == Absent => Error wakes class;
            Wrong when validity == Bad => Error wakes class;
            Taken when service == Foreign => Error wakes service;
            Leaving when service == Terminating => Pending;
            Making when service in { Absent, Stale } => Pending;
            Starting when !ready => Pending;
            goal Ready when ready => Ready;
        }
        effects { apply service from class when validity == Fine; }
        promises { starts: service == Current && !ready sets { ready = true }; }
        transitions { Leaving -> Making; Making -> Starting | Ready; Starting -> Ready; }
    "#
    .to_owned();
    for (from, to) in change {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text = text.replace(from, to);
    }
    text
}

/// Returns a lifecycle with something outside the cluster that is acquired under a record.
pub(super) fn external_store(change: &[(&str, &str)]) -> String {
    let mut text = r#"
        resource Thing;
        observe {
            handle: record String;
            store: poll Info by handle every 30s given handle != Absent;
        }
        facts {
            held entry: { No | Stale, Current } from store given handle != Absent else No given store else Unknown;
        }
        states {
            Unrecorded when handle == Absent => Pending;
            Unseen when entry == Unknown => Pending;
            Moving when handle == Stale => Pending;
            Making when entry in { No, Stale } => Pending;
            goal Ready when entry == Current => Ready;
        }
        effects {
            drop_entry: call store when handle == Stale && entry in { Stale, Current } sets { entry = No } key handle;
            apply handle when handle == Absent || entry == No;
            put: call store when handle == Current && entry in { No, Stale } sets { entry = Current } undo drop_entry key handle;
        }
        transitions {
            Unrecorded -> Unseen | Making;
            Unseen -> Moving | Making | Ready;
            Moving -> Unseen | Making;
            Making -> Ready;
        }
    "#
    .to_owned();
    for (from, to) in change {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text = text.replace(from, to);
    }
    text
}

#[test]
fn the_two_lifecycles_have_no_finding() {
    assert_eq!(found(&service(&[])), [""; 0]);
    assert_eq!(found(&external_store(&[])), [""; 0]);
}

#[test]
fn a_world_without_a_state_is_shown_by_the_facts_that_matter() {
    assert_single_finding(
        &service(&[
            ("Starting when !ready => Pending;", ""),
            (" Starting | Ready; Starting ->", ""),
            (
                "starts: service == Current && !ready sets { ready = true };",
                "",
            ),
        ]),
        "LC011 Thing [Thing] 1 of 20 worlds match no state, for example `class == Present && service == Current && validity == Fine && !ready`",
        "goal Ready when ready",
        "goal Ready when ready || !ready",
    );
}

#[test]
fn a_state_without_a_world_names_those_that_take_them() {
    assert_single_finding(
        &service(&[(
            "Starting when",
            "Odd when service == Stale => Pending; Starting when",
        )]),
        "LC012 Odd [Odd] state `Odd` never matches: the states above take every world of it: `Refused`, `Missing`, `Wrong`, `Making`",
        "Odd when service == Stale => Pending;",
        "",
    );
    assert_single_finding(
        &service(&[(
            "Taken when",
            "Odd when class == Absent && validity == Bad => Pending; Taken when",
        )]),
        "LC012 Odd [Odd] state `Odd` never matches: its predicate is contradictory",
        "Odd when class == Absent && validity == Bad => Pending;",
        "",
    );
}

#[test]
fn a_call_may_not_bring_about_what_never_is() {
    let text = r#"
        resource Thing;
        observe { store: poll Info by meta.uid every 30s; }
        facts { base: bool from store given store; top: bool from store given store; never top && !base; }
        states { Unseen when !store => Pending; Bare when !base || !top => Pending; goal Ready when top => Ready; }
        effects {
            lay: call store when !base sets { base = true } key meta.uid;
            put: call store sets { top = true } key meta.uid;
        }
        transitions { Unseen -> Bare | Ready; Bare -> Ready; }
    "#;
    assert_single_finding(
        text,
        "LC013 put [put] effect `put` leads from `!base && !top` to `!base && top`, which a `never` rules out",
        "put: call store sets",
        "put: call store when base sets",
    );
}

#[test]
fn an_effect_that_never_runs_says_which_one_always_does() {
    let gone = "gone: delete service when service == Absent;";
    assert_single_finding(
        &service(&[("Fine; }", &format!("Fine; {gone} }}"))]),
        "LC016 gone [gone] effect `gone` never runs: no world enables it",
        gone,
        "",
    );
    // Of several that build one object the first that is permitted decides, also where its write was refused.
    let again = "again: apply service from class when validity == Fine;";
    let twice = format!("apply service from class when validity == Fine; {again}");
    assert_single_finding(
        &service(&[("apply service from class when validity == Fine;", &twice)]),
        "LC016 again [again] effect `again` never runs: an earlier effect is always chosen: `apply_service`",
        again,
        "",
    );
}

#[test]
fn which_effect_builds_an_object_depends_on_no_verdict_on_it() {
    let again = "again: apply handle when handle == Stale && entry == No;";
    let text = external_store(&[("put: call", &format!("{again} put: call"))]);
    let circle =
        "LC066 entry [handle != Absent] `entry` depends on itself: entry -> handle -> entry";
    assert_eq!(found(&text), [circle]);
}

#[test]
fn a_dead_end_is_told_with_the_inputs_that_could_help() {
    let text = service(&[(
        "Taken when service == Foreign => Error wakes service;",
        "Taken when service == Foreign => Error;",
    )]);
    assert_single_finding(
        &text,
        "LC021 Taken [Taken] dead end: in state `Taken` with `service == Foreign` no effect is enabled and nothing is promised",
        "service == Foreign => Error;",
        "service == Foreign => Error wakes service, self;",
    );
    assert!(
        help(&text).starts_with("mark it `wakes class, service, self`"),
        "{}",
        help(&text)
    );
}

#[test]
fn a_promise_that_is_not_kept_leads_out_of_no_dead_end() {
    assert_eq!(
        found(&service(&[
            ("&& !ready sets", "&& ready sets"),
            (" Starting -> Ready;", "")
        ])),
        [
            "LC021 Starting [Starting] dead end: in state `Starting` with `!ready` no effect is enabled and nothing is promised",
            "LC097 starts [starts] promise `starts` counts for nothing: wherever it is due, the object is settled, in state `Missing`, `Wrong`, `Ready`"
        ]
    );
}

#[test]
fn a_run_that_goes_round_is_shown_with_its_round() {
    let text = r#"
        resource Thing;
        observe { lamp: Lamp by name meta.name; }
        facts { light: { Red, Green } from lamp; done: bool from lamp; }
        states { Blinking when !done => Pending; goal Done when done => Ready; }
        promises {
            goes: light == Red && !done sets { light = Green };
            stops: light == Green && !done sets { light = Red };
        }
        transitions { }
    "#;
    let round =
        "`light == Red` -> `light == Green` (promise `goes`) -> `light == Red` (promise `stops`)";
    assert_eq!(
        found(text),
        [format!(
            "LC022 Blinking [Blinking] from `Blinking` with `!done` the run can loop forever without settling: {round}"
        )]
    );
    // A third promise is kept in the end, for it stays enabled all the way round.
    let fair = text
        .replace("promises {", "promises { ends: !done sets { done = true };")
        .replace("transitions { }", "transitions { Blinking -> Done; }");
    assert_eq!(found(&fair), [""; 0]);
    // One that is enabled only now and then need not ever be kept.
    let unfair = fair.replace("ends: !done", "ends: !done && light == Red");
    assert_eq!(found(&unfair).len(), 1, "{:?}", found(&unfair));
}

#[test]
fn effects_that_undo_each_other_are_shown_with_their_round() {
    let text = r#"
        resource Thing;
        observe { store: poll Info by meta.uid every 30s; }
        facts { lit: bool from store given store; wanted: { Yes, No } from self; }
        states {
            Unseen when !store => Pending;
            Dark when wanted == Yes && !lit => Pending;
            Bright when wanted == No && lit => Pending;
            goal Done when store => Ready;
        }
        effects {
            light: call store when !lit sets { lit = true } key meta.uid;
            darken: call store when wanted == No && lit sets { lit = false } key meta.uid;
        }
        transitions { Unseen -> Dark | Bright | Done; Dark -> Done; Bright -> Done; }
    "#;
    let found_there = found(text);
    let round = "`!lit` -> `lit` (effect `light`) -> `!lit` (effect `darken`)";
    assert!(
        found_there.contains(&format!(
            "LC023 darken, light [light] effects `light` and `darken` undo each other, for example {round}"
        )),
        "{found_there:#?}"
    );
    assert_eq!(
        found(&text.replace("when !lit sets", "when wanted == Yes && !lit sets")),
        [""; 0]
    );
}

#[test]
fn an_effect_that_may_leave_everything_as_it_is_repeats_itself() {
    let put = "sets { entry = Current } undo";
    assert_single_finding(
        &external_store(&[(put, "sets { entry = Current } or { entry = Stale } undo")]),
        "LC024 put [put] effect `put` stays enabled after itself with the same facts, for example `entry == Stale`: it would run for ever",
        "or { entry = Stale } undo",
        "undo",
    );
}

#[test]
fn work_in_a_goal_is_told_with_the_world() {
    let text = service(&[
        ("service in { Absent, Stale } => ", "service == Absent => "),
        (
            "Starting when !ready",
            "Starting when service == Current && !ready",
        ),
        (
            "goal Ready when ready",
            "goal Ready when ready || service == Stale",
        ),
    ]);
    let finding = "LC025 apply_service [service] effect `apply_service` is still enabled in goal state `Ready` with `service == Stale`: the object would never settle";
    assert!(
        found(&text).contains(&finding.to_owned()),
        "{:#?}",
        found(&text)
    );
    let text = service(&[
        (
            "Starting when !ready",
            "Starting when service == Current && !ready",
        ),
        (
            "goal Ready when ready",
            "goal Ready when ready || service == Stale",
        ),
    ]);
    assert_eq!(found(&text), [""; 0]);
}

#[test]
fn a_deletion_without_an_end_is_told_with_the_world() {
    let undo = "give_back: call store from config sets { entry = No } key handle; put: call";
    let text = external_store(&[
        ("observe {", "observe { config: Config by name spec.config;"),
        ("put: call", undo),
        ("undo drop_entry", "undo give_back"),
    ]);
    let finding = "LC040 entry [entry] no deletion path: with `deleting && config == Absent && entry == Stale` the finalizer can never go, for `entry` is not given back: no undo is enabled and nothing is promised";
    assert_eq!(found(&text), [finding]);
    let text = external_store(&[
        ("put: call", &undo.replace("from config ", "")),
        ("undo drop_entry", "undo give_back"),
    ]);
    assert_eq!(found(&text), [""; 0]);
}

#[test]
fn a_deletion_that_goes_round_is_shown_with_its_round() {
    let text = external_store(&[
        ("observe {", "observe { config: Config by name spec.config;"),
        (
            "drop_entry: call store when",
            "drop_entry: call store from config when",
        ),
        (
            "}\n        transitions",
            "} promises { fades: entry == Current sets { entry = Stale }; wakes_up: entry == Stale sets { entry = Current }; } transitions",
        ),
    ]);
    let found = found(&text);
    let finding = "LC040 entry [entry] no deletion path: with `deleting && config == Absent && entry == Stale` the finalizer can never go, for `entry` is not given back: the run goes round, `entry == Stale` -> `entry == Current` (promise `wakes_up`) -> `entry == Stale` (promise `fades`)";
    assert!(found.contains(&finding.to_owned()), "{found:#?}");
}

#[test]
fn what_cannot_be_seen_is_not_given_back() {
    let text = external_store(&[
        ("given store else Unknown", "given store else Lost"),
        ("entry == Unknown", "entry == Lost"),
    ]);
    assert_eq!(found(&text), [""; 0]);
}

#[test]
fn nothing_is_acquired_before_it_is_recorded() {
    let finding = "LC048 put [entry in { No, Stale }] effect `put` may run with `handle == Stale`, before its key `handle` is recorded";
    let text = external_store(&[
        (
            "put: call store when handle == Current && entry",
            "put: call store when entry",
        ),
        ("handle == Absent || entry == No;", "handle == Absent;"),
    ]);
    assert!(
        found(&text).contains(&finding.to_owned()),
        "{:#?}",
        found(&text)
    );
}

#[test]
fn no_record_is_overwritten_while_something_is_held_under_it() {
    let finding = "LC049 apply_handle [handle] effect `apply_handle` overwrites the record with `entry == Unknown`, although something may still be owned under the old one";
    let text = external_store(&[(
        "handle == Absent || entry == No;",
        "handle == Absent || entry in { No, Unknown };",
    )]);
    assert!(
        found(&text).contains(&finding.to_owned()),
        "{:#?}",
        found(&text)
    );
}

/// Conditions for the object with one thing of its own.
const STATUS: &str = r#"
    Starting -> Ready; }
    status {
        condition Made {
            False "Missing" when class == Absent;
            False "Wrong" when validity == Bad;
            False "Taken" when service == Foreign;
            True when service == Current;
            Unknown "Making" otherwise;
        }
        condition Up { True when ready; Unknown "Starting" otherwise; }
        ready from Made, Up;
    }
"#;

fn service_with_status(change: &[(&str, &str)]) -> String {
    let mut status = STATUS.to_owned();
    for (from, to) in change {
        assert_eq!(status.matches(from).count(), 1, "`{from}` occurs once");
        status = status.replace(from, to);
    }
    service(&[("Starting -> Ready; }", &status)])
}

#[test]
fn phase_and_conditions_tell_the_same() {
    assert_eq!(found(&service_with_status(&[])), [""; 0]);
    assert_eq!(
        found(&service_with_status(&[(
            "Up { True when ready;",
            "Up { True when ready && class;"
        )])),
        [""; 0]
    );
    assert_eq!(
        found(&service_with_status(&[(
            "Unknown \"Starting\" otherwise",
            "True otherwise"
        )])),
        [
            "LC051 Starting [Starting] phase Pending in `Starting` but every condition is True in `!ready`"
        ]
    );
    assert_eq!(
        found(&service_with_status(&[(
            "Up { True when ready;",
            "Up { Unknown \"Late\" when ready;"
        )])),
        ["LC051 Ready [Ready] phase Ready in `Ready` but condition `Up` is Unknown in `ready`"]
    );
}

#[test]
fn a_condition_has_a_value_everywhere() {
    assert_eq!(
        found(&service_with_status(&[(
            "Unknown \"Making\" otherwise;",
            ""
        )])),
        [
            "LC052 Made [Made] condition `Made` has no value for `class == Present && service == Absent && validity == Fine`; end it with an `otherwise` clause"
        ]
    );
}

#[test]
fn an_error_has_a_reason() {
    assert_eq!(
        found(&service_with_status(&[(
            "False \"Taken\" when",
            "Unknown \"Taken\" when"
        )])),
        [
            "LC053 Taken [Taken] state `Taken` is Error but the first unmet condition there is `Made` = Unknown, for example with `service == Foreign`"
        ]
    );
    assert_eq!(
        found(&service_with_status(&[(
            "False \"Taken\" when",
            "False when"
        )])),
        [
            "LC053 Taken [Taken] state `Taken` is Error but the first unmet condition there is `Made` = False without a reason, for example with `service == Foreign`"
        ]
    );
}

#[test]
fn a_clause_that_never_applies_is_a_warning() {
    let odd =
        "False \"Odd\" when class == Absent && validity == Bad; True when service == Current;";
    assert_eq!(
        found(&service_with_status(&[(
            "True when service == Current;",
            odd
        )])),
        [
            "LC054 Made [False \"Odd\" when class == Absent && validity == Bad] condition `Made`: clause 4 never applies"
        ]
    );
}

#[test]
fn wakes_that_cannot_help_are_told_what_could() {
    let text = service(&[
        (
            "Taken when service == Foreign => Error wakes service",
            "Taken when service == Foreign => Error wakes other",
        ),
        ("observe {", "observe { other: Other by name spec.other;"),
        (
            "&& !ready sets",
            "&& !ready && !other sets { ready = true }; also: service == Current && other && !ready sets",
        ),
    ]);
    assert_single_finding(
        &text,
        "LC065 Taken [other] state `Taken` declares `wakes other`, but with `service == Foreign` no change of these leads out of it",
        "wakes other",
        "wakes other, service",
    );
    assert_eq!(help(&text), "write `wakes class, service, self`");
}

/// As many independent facts, of five values each.
fn wide(facts: usize, more: &str) -> String {
    let facts: Vec<String> = (0..facts)
        .map(|fact| format!("f{fact}: {{ A, B, C, D, E }} from class;"))
        .collect();
    format!(
        "resource Thing; observe {{ class: Class by name spec.class; }} facts {{ {} {more} }}
         states {{ goal Ready when class => Ready; Missing when !class => Error wakes class; }}",
        facts.concat()
    )
}

#[test]
fn too_many_worlds_are_counted_as_far_as_that_is_cheap() {
    // Nothing evaluates these facts. The finding about that is not the subject of this test.
    let found = |body: &str| {
        let mut found = found(body);
        found.retain(|one| !one.starts_with("LC167"));
        found
    };
    let finding = "LC091 Thing [f0] 156 250 worlds exceed the limit of 32 768";
    assert_eq!(found(&wide(7, "")), [finding]);
    assert_eq!(found(&wide(6, "")), [""; 0]);
    // They are counted after each `never`, which is evaluated as soon as it is decided.
    assert_eq!(found(&wide(7, "never f0 != A;")), [""; 0]);
    let more = "LC091 Thing [f0] more than 1 048 576 worlds exceed the limit of 32 768";
    assert_eq!(found(&wide(60, "")), [more]);
    let few = "LC091 Thing [f0] more than 4 194 304 combinations must be searched to find the worlds that no `never` rules out";
    assert_eq!(found(&wide(60, "never f0 != f1;").replace("f0 != f1", "f59 != A || f58 != A || f57 != A || f56 != A || f55 != A || f54 != A || f53 != A || f52 != A || f51 != A || f50 != A")), [few]);
}
