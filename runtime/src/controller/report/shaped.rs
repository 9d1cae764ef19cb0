//! Statuses with a declared shape: messages of clauses, omitted conditions, the words of the
//! roll-up, and situations without a state.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::cluster::fixture::hosted::{guest, host, room, visiting};
use crate::cluster::fixture::{Caches, names};

const NOW: &str = "2026-06-01T12:00:00Z";

/// The draft over these objects, and an old status.
fn report(objects: &[Value], old: Value, notes: impl FnOnce(&mut Notes<'_>)) -> Draft {
    drafted(
        &Caches::for_machine(Arc::new(visiting()), objects),
        old,
        notes,
    )
}

fn drafted(caches: &Caches, old: Value, notes: impl FnOnce(&mut Notes<'_>)) -> Draft {
    let observed = caches.observe(guest(json!({ "status": old })));
    let machine = visiting();
    let mut given = Notes {
        class: machine.ir().classify(&observed.observation.world, false),
        next: machine.ir().next(&observed.observation.world, false),
        fields: &names(&machine),
        failure: observed.failure.as_ref(),
        ruled_out: None,
        trouble: None,
        overdue: None,
        owes_recovery: false,
        now: NOW.parse().expect("a constant time"),
    };
    notes(&mut given);
    draft(&machine, &observed.observation, &given)
}

/// `Type=Status/Reason/message` of every condition, in order.
fn rows(draft: &Draft) -> Vec<String> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let shown = |row| {
        let [name, status] = ["type", "status"].map(|key| text(row, key));
        let [reason, message] = ["reason", "message"].map(|key| text(row, key));
        format!("{name}={status}/{reason}/{message}")
    };
    old_conditions(&draft.status).map(shown).collect()
}

#[track_caller]
fn check(draft: &Draft, expected: &[&str]) {
    assert_eq!(rows(draft), expected);
    let ready = old_condition(&draft.status, "Ready").expect("it is rolled up");
    assert_eq!(draft.status["status"], ready["reason"]);
    assert_eq!(draft.status["message"], ready["message"]);
}

#[test]
fn clauses_and_roll_up_have_the_words_that_were_written() {
    let all = [host(json!({})), room("host-uid")];
    let fine = report(&all, Value::Null, |_| {});
    check(
        &fine,
        &[
            "Hosted=True/Ready/OK",
            "Quiet=True/Ready/there is a party",
            "Roomed=True/Ready/OK",
            "Ready=True/Fine/h has g",
        ],
    );
}

#[test]
fn a_clause_without_a_message_says_all_that_holds_a_sentence_a_line() {
    let both = report(
        &[host(json!({ "full": "", "loud": "" }))],
        Value::Null,
        |_| {},
    );
    check(
        &both,
        &[
            "Hosted=False/Error/every bed is taken\nthere is a party",
            "Quiet=False/Error/it is loud",
            "Roomed=False/Pending/No {room} for g of h",
            "Ready=False/Error/every bed is taken\nthere is a party",
        ],
    );
    let one = report(&[host(json!({ "loud": "" }))], Value::Null, |_| {});
    assert_eq!(rows(&one)[0], "Hosted=False/Error/there is a party");
    assert_eq!(draft_events(&one), [(true, "Error", "there is a party")]);
}

/// Type, reason and note of each event.
fn draft_events(draft: &Draft) -> Vec<(bool, &str, &str)> {
    let news = draft.news.iter();
    news.map(|n| (n.warning, n.reason.as_str(), n.note.as_str()))
        .collect()
}

#[test]
fn an_event_agrees_with_ready_of_the_same_status() {
    let begun = report(&[host(json!({}))], Value::Null, |_| {});
    assert_eq!(
        draft_events(&begun),
        [(false, "Pending", "Not Roomed")],
        "an ordinary start warns of nothing, and one condition that is met is not Ready"
    );
    let same = report(&[host(json!({}))], begun.status.clone(), |_| {});
    assert_eq!(draft_events(&same), []);
    let failed = report(&[], begun.status.clone(), |_| {});
    let why = "ConfigMap `ns/h` does not exist";
    assert_eq!(draft_events(&failed), [(true, "Error", why)]);
    let again = report(&[host(json!({}))], failed.status.clone(), |_| {});
    assert_eq!(draft_events(&again), [(false, "Pending", "Not Roomed")]);
    let late = report(&[host(json!({}))], failed.status, |notes| {
        notes.overdue = Some("it takes long".to_owned());
    });
    assert!(late.news[0].warning, "what takes too long is not ordinary");
    let all = [host(json!({})), room("host-uid")];
    let ready = report(&all, again.status.clone(), |_| {});
    assert_eq!(draft_events(&ready), [(false, "Fine", "h has g")]);
}

#[test]
fn what_is_absent_is_unmet_before_anything_else_and_what_is_omitted_is_not_asked_for() {
    let absent = report(&[host(json!({}))], Value::Null, |_| {});
    check(
        &absent,
        &[
            "Hosted=True/Ready/OK",
            "Quiet=True/Ready/there is a party",
            "Ready=False/Pending/Not Roomed",
        ],
    );
    let nobody = report(&[], Value::Null, |_| {});
    check(
        &nobody,
        &[
            "Hosted=False/Error/ConfigMap `ns/h` does not exist",
            "Roomed=False/Pending/No {room} for g of h",
            "Ready=False/Error/ConfigMap `ns/h` does not exist",
        ],
    );
}

#[test]
fn a_message_takes_in_what_the_object_says_and_nothing_where_it_says_nothing() {
    let check = |spec: Value, expected: &str| {
        let caches = Caches::for_machine(Arc::new(visiting()), &[]);
        let observed = caches.observe(guest(json!({ "spec": spec })));
        let machine = visiting();
        let class = machine.ir().classify(&observed.observation.world, false);
        let notes = Notes {
            class,
            next: machine.ir().next(&observed.observation.world, false),
            fields: &names(&machine),
            failure: None,
            ruled_out: None,
            trouble: None,
            overdue: None,
            owes_recovery: false,
            now: NOW.parse().expect("a constant time"),
        };
        let draft = draft(&machine, &observed.observation, &notes);
        assert_eq!(rows(&draft)[1], format!("Roomed=False/Pending/{expected}"));
    };
    check(json!({}), "No {room} for g of h");
    check(json!({ "city": "rome" }), "No {room} for g of hrome");
    check(json!({ "city": "" }), "No {room} for g of h");
    check(json!({ "host": null }), "No {room} for g of ");
    check(json!({ "nights": -3 }), "No {room} for g of h-3");
    check(json!({ "nights": 0 }), "No {room} for g of h0");
    check(
        json!({ "host": "{spec.city}" }),
        "No {room} for g of {spec.city}",
    );
}

#[test]
fn a_condition_that_is_left_out_now_is_taken_back() {
    let all = [host(json!({})), room("host-uid")];
    let before = report(&all, Value::Null, |_| {});
    let after = report(&[host(json!({}))], before.status.clone(), |_| {});
    assert!(after.differs);
    assert!(old_condition(&after.status, "Roomed").is_none());
    let again = report(&[host(json!({}))], after.status.clone(), |_| {});
    assert!(!again.differs);
}

#[test]
fn a_field_without_a_value_is_left_out() {
    let full = report(&[host(json!({ "full": "" }))], Value::Null, |_| {});
    assert_eq!(full.status["crowded"], true);
    let free = report(&[host(json!({}))], full.status.clone(), |_| {});
    assert!(free.status.get("crowded").is_none() && free.differs);
}

#[test]
fn what_no_state_says_is_told_by_the_declared_condition() {
    let mut caches = Caches::for_machine(Arc::new(visiting()), &[host(json!({}))]);
    caches.refused.insert(0, "it may not be".to_owned());
    let refused = drafted(&caches, Value::Null, |_| {});
    let why = "it may not be; correct what it is built from";
    let [hosted, ready] = ["Hosted", "Ready"].map(|name| format!("{name}=False/Error/{why}"));
    let quiet = "Quiet=True/Ready/there is a party";
    check(&refused, &[&hosted, quiet, &ready]);
    let impossible = report(&[host(json!({}))], Value::Null, |notes| {
        notes.class = Class::Contradiction;
        notes.ruled_out = Some(&RuledOut::Unplaced);
    });
    assert!(
        rows(&impossible)[0]
            .starts_with("Hosted=False/Error/no state takes this world, so nothing is done: ")
    );
    assert!(old_condition(&impossible.status, "Contradiction").is_none());
    let leaving = report(&[host(json!({}))], Value::Null, |notes| {
        notes.class = Class::Deleting;
        notes.trouble = Some("it cannot be given back");
    });
    assert_eq!(
        rows(&leaving)[0],
        "Hosted=False/Error/it cannot be given back"
    );
    assert_eq!(leaving.news.len(), 0, "nobody has to act on a deletion");
}

#[test]
fn an_unreadable_input_is_told_there_too_and_the_rest_stays() {
    let all = [host(json!({})), room("host-uid")];
    let before = report(&all, Value::Null, |_| {});
    let mut broken = host(json!({}));
    broken["data"] = json!({ "bed": 3 });
    let draft = report(&[broken, room("host-uid")], before.status.clone(), |_| {});
    let [hosted, quiet, roomed, ready] = rows(&draft)
        .try_into()
        .expect("three conditions and the roll-up");
    assert!(hosted.starts_with("Hosted=False/Error/ConfigMap `ns/h` cannot be read"));
    assert_eq!(quiet, rows(&before)[1]);
    assert_eq!(roomed, rows(&before)[2]);
    assert!(ready.starts_with("Ready=False/Error/ConfigMap `ns/h` cannot be read"));
    assert_eq!(draft.status["status"], "Error");
    assert_eq!(
        draft.status["message"],
        old_condition(&draft.status, "Ready").expect("there")["message"]
    );
}
