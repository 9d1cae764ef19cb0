//! Statuses of one reconciliation: conditions, times, `last_reported` fields, and Events.

use serde_json::{Value, json};

use super::*;
use crate::cluster::fixture::{Caches, maker, names, ours, thing};
use crate::machine::ir::StateId;

const NOW: &str = "2026-06-01T12:00:00Z";

fn class() -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c", "namespace": "ns" }, "data": { "size": "small" } })
}

fn owned_map() -> Value {
    ours("ConfigMap", "t", json!({ "size": "small" }), json!({}))
}

/// The draft over these objects and an old status.
fn report(objects: &[Value], old: Value, notes: impl FnOnce(&mut Notes<'_>)) -> Draft {
    let caches = Caches::with_objects(objects);
    let spec = json!({ "className": "c" });
    let observed = caches.observe(thing(spec, json!({ "status": old })));
    let machine = maker();
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

fn row(draft: &Draft, name: &str) -> Value {
    let found = old_condition(&draft.status, name);
    found.cloned().unwrap_or_default()
}

fn draft_events(draft: &Draft) -> Vec<(bool, &str)> {
    draft
        .news
        .iter()
        .map(|n| (n.warning, n.reason.as_str()))
        .collect()
}

#[test]
fn a_ready_object_says_so_for_its_generation() {
    let draft = report(&[class(), owned_map()], Value::Null, |_| {});
    let expected = json!({
        "type": "Ready", "status": "True", "reason": "Ready", "message": "",
        "lastTransitionTime": NOW, "observedGeneration": 3,
    });
    assert_eq!(row(&draft, "Ready"), expected);
    assert_eq!(draft.status["phase"], "Ready");
    assert_eq!(
        (&draft.status["made"], &draft.status["classSize"]),
        (&json!("t"), &json!("small"))
    );
    assert!(draft.differs);
    assert_eq!(
        draft_events(&draft),
        [],
        "nothing is told of a normal creation"
    );
}

#[test]
fn an_equal_status_does_not_differ_and_keeps_its_times() {
    let mut first = report(&[class(), owned_map()], Value::Null, |_| {});
    let conditions = first.status["conditions"].as_array_mut().expect("a list");
    for condition in conditions {
        condition["lastTransitionTime"] = json!("2026-01-01T00:00:00Z");
    }
    let second = report(&[class(), owned_map()], first.status.clone(), |_| {});
    assert!(!second.differs);
    assert_eq!(second.status, first.status);
    let worse = report(&[owned_map()], first.status.clone(), |_| {});
    assert_eq!(row(&worse, "Accepted")["lastTransitionTime"], NOW);
    assert!(worse.differs);
}

#[test]
fn only_kept_fields_outlive_their_inputs() {
    let first = report(&[class(), owned_map()], Value::Null, |_| {});
    let without = report(&[], first.status.clone(), |_| {});
    assert_eq!(without.status["made"], "t");
    assert_eq!(without.status.get("classSize"), None);
    assert_eq!(without.status["phase"], "Error");
}

#[test]
fn events_tell_what_became_false_and_what_became_true_again() {
    let bad = report(&[], Value::Null, |_| {});
    assert_eq!(draft_events(&bad), [(true, "GetClass")]);
    assert_eq!(bad.news[0].note, "ConfigMap `ns/c` does not exist");
    let same = report(&[], bad.status.clone(), |_| {});
    assert_eq!((draft_events(&same), same.differs), (vec![], false));
    let healed = report(&[class(), owned_map()], bad.status.clone(), |_| {});
    assert_eq!(draft_events(&healed), [(false, "Ready")]);
    assert_eq!(healed.news[0].note, "the Thing is Ready");
}

#[test]
fn a_recovery_is_an_event_also_where_ready_was_unknown_in_between() {
    let bad = report(&[], Value::Null, |_| {});
    assert_eq!(bad.owes_recovery(), Some(true));
    let making = report(&[class()], bad.status, |_| {});
    assert_eq!(row(&making, "Ready")["status"], "Unknown");
    assert_eq!(
        (draft_events(&making), making.owes_recovery()),
        (vec![], None)
    );
    let all = [class(), owned_map()];
    let begun = report(&all, making.status.clone(), |_| {});
    assert_eq!(
        draft_events(&begun),
        [],
        "nothing is told of a normal creation"
    );
    let healed = report(&all, making.status, |notes| notes.owes_recovery = true);
    assert_eq!(draft_events(&healed), [(false, "Ready")]);
    assert_eq!(healed.owes_recovery(), Some(false));
    let same = report(&all, healed.status, |notes| notes.owes_recovery = true);
    assert_eq!(draft_events(&same), []);
}

#[test]
fn the_note_of_an_event_is_never_empty() {
    let machine = maker();
    let ir = machine.ir();
    let note = |class, name, message: &str| {
        let new = named(name, ConditionStatus::False, "Odd", message.to_owned());
        event_note(ir, class, &new)
    };
    assert_eq!(
        note(Class::State(StateId(0)), "Ready", "it is odd"),
        "it is odd"
    );
    assert_eq!(
        note(Class::State(StateId(0)), "Ready", " "),
        "the Thing is NoName"
    );
    let other = "the condition Made of the Thing is False";
    assert_eq!(note(Class::State(StateId(0)), "Made", ""), other);
    let refused = "the condition Ready of the Thing is False";
    assert_eq!(note(Class::Refused { effect: 0 }, "Ready", ""), refused);
}

#[test]
fn a_refusal_that_no_state_mentions_is_the_reason_of_ready() {
    let caches = {
        let mut caches = Caches::with_objects(&[class()]);
        caches.refused.insert(0, "it may not change".to_owned());
        caches
    };
    let observed = caches.observe(thing(json!({ "className": "c" }), json!({})));
    let machine = maker();
    let notes = Notes {
        class: machine.ir().classify(&observed.observation.world, false),
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
    let ready = row(&draft, "Ready");
    assert_eq!(
        (&ready["reason"], &ready["message"]),
        (
            &json!("Refused"),
            &json!("it may not change; correct what it is built from")
        )
    );
    assert_eq!(draft.status["phase"], "Error");
    assert_eq!(draft_events(&draft), [(true, "Refused")]);
}

#[test]
fn a_world_that_cannot_be_is_a_condition_of_its_own() {
    let draft = report(&[class(), owned_map()], Value::Null, |notes| {
        notes.class = Class::Contradiction;
        notes.ruled_out = Some(&RuledOut::Unplaced);
    });
    let row = self::row(&draft, "Contradiction");
    assert_eq!(
        (&row["status"], &row["reason"]),
        (&json!("True"), &json!("NoState"))
    );
    let ready = self::row(&draft, "Ready");
    assert_eq!(
        (&ready["status"], &ready["reason"]),
        (&json!("False"), &json!("NoState"))
    );
    assert!(
        row["message"]
            .as_str()
            .is_some_and(|m| m.contains("class == Present"))
    );
    assert_eq!(draft_events(&draft), [(true, "NoState")]);
    let healed = report(&[class(), owned_map()], draft.status.clone(), |_| {});
    assert!(healed.differs && old_condition(&healed.status, "Contradiction").is_none());
}

#[test]
fn an_unreadable_input_makes_it_unready_and_leaves_the_rest() {
    let first = report(&[class(), owned_map()], Value::Null, |_| {});
    let mut broken = class();
    broken["data"] = json!({ "size": 3 });
    let draft = report(&[broken, owned_map()], first.status.clone(), |_| {});
    assert_eq!(row(&draft, "Accepted"), row(&first, "Accepted"));
    let ready = row(&draft, "Ready");
    assert_eq!(
        (&ready["status"], &ready["reason"]),
        (&json!("False"), &json!("InputUnreadable"))
    );
    assert_eq!(draft.status["made"], "t");
    assert_eq!(draft_events(&draft), [(true, "InputUnreadable")]);
    assert_eq!(
        (&first.status["phase"], &draft.status["phase"]),
        (&json!("Ready"), &json!("Error"))
    );
    let healed = report(&[class(), owned_map()], draft.status.clone(), |_| {});
    assert_eq!(healed.status["phase"], "Ready");
}

#[test]
fn an_input_that_was_never_readable_has_a_phase_too() {
    let mut broken = class();
    broken["data"] = json!({ "size": 3 });
    let draft = report(&[broken], Value::Null, |_| {});
    assert_eq!(row(&draft, "Ready")["reason"], "InputUnreadable");
    assert_eq!(draft.status["phase"], "Error");
}

#[test]
fn fields_are_written_under_the_names_of_their_type() {
    const FIELDS: &[&str] = &["state", "made", "class_size"];
    let first = report(&[class(), owned_map()], Value::Null, |notes| {
        notes.fields = FIELDS
    });
    assert_eq!(
        (&first.status["state"], &first.status["class_size"]),
        (&json!("Ready"), &json!("small"))
    );
    assert!(first.status.get("classSize").is_none());
    let same = report(&[class(), owned_map()], first.status.clone(), |notes| {
        notes.fields = FIELDS
    });
    assert!(!same.differs);
    let mut broken = class();
    broken["data"] = json!({ "size": 3 });
    let failed = report(&[broken], first.status.clone(), |notes| {
        notes.fields = FIELDS
    });
    assert_eq!(
        (&failed.status["state"], failed.status.get("phase")),
        (&json!("Error"), None)
    );
}

/// Lifecycle whose own condition has the name of the roll-up.
mod own_ready {
    use super::super::*;
    use crate::cluster::fixture::Thing;
    use k8s_openapi::api::core::v1::ConfigMap;

    crate::lifecycle! {
        resource Thing;

        observe { class: ConfigMap by name spec.class_name?; }
        states {
            NoClass when class != Present => Error wakes class, self;
            goal Ready when class => Ready;
        }
        status {
            condition Ready { True when class; False "NoClass" otherwise; }
            field phase = phase;
            field reason = reason;
        }
    }

    struct Own;

    impl ThingLogic for Own {}

    pub(super) fn own() -> impl Machine {
        machine(Own)
    }
}

#[test]
fn a_condition_that_is_called_ready_is_written_once() {
    let machine = own_ready::own();
    let look = |class: Value, old: Value| {
        let caches = Caches::for_machine(std::sync::Arc::new(own_ready::own()), &[class]);
        let observed = caches.observe(thing(json!({ "className": "c" }), json!({ "status": old })));
        let notes = Notes {
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
        draft(&machine, &observed.observation, &notes)
    };
    let good = look(class(), Value::Null);
    let mut broken = class();
    broken["data"] = json!({ "size": 3 });
    let failed = look(broken, good.status.clone());
    let said = |draft: &Draft| {
        let rows = old_conditions(&draft.status).map(|row| row["reason"].clone());
        rows.collect::<Vec<_>>()
    };
    assert_eq!(said(&good), ["Ready"]);
    assert_eq!(said(&failed), ["InputUnreadable"]);
    assert_eq!(
        (&failed.status["phase"], &failed.status["reason"]),
        (&json!("Error"), &json!("InputUnreadable"))
    );
}

#[test]
fn trouble_and_delay_are_told_where_it_is_not_ready() {
    let slow = report(&[class()], Value::Null, |notes| {
        notes.trouble = Some("the quota is used up");
        notes.overdue = Some("it has been Making for more than 10 min".to_owned());
    });
    let message = row(&slow, "Ready")["message"].clone();
    assert_eq!(
        message,
        "ConfigMap `ns/t` does not exist\nthe quota is used up\nit has been Making for more than 10 min"
    );
    let ready = report(&[class(), owned_map()], Value::Null, |notes| {
        notes.trouble = Some("x")
    });
    assert_eq!(row(&ready, "Ready")["message"], "");
}

#[test]
fn the_content_of_a_status_does_not_depend_on_when_it_is_said() {
    let now = report(&[class(), owned_map()], Value::Null, |_| {});
    let later = report(&[class(), owned_map()], Value::Null, |notes| {
        notes.now = "2026-06-01T13:00:00Z".parse().expect("a constant time");
    });
    assert_ne!(now.status, later.status);
    assert_eq!(now.content(), later.content());
}

/// Tests that a message is cut to the length of a condition and still reports the error. A user may
/// write a text of any length into a spec.
#[test]
fn a_message_is_no_longer_than_a_condition_takes() {
    let trouble: &str = "\u{e9}".repeat(40_000).leak();
    let draft = report(&[owned_map()], Value::Null, |notes| {
        notes.trouble = Some(trouble);
    });
    let row = row(&draft, "Ready");
    let message = row["message"].as_str().expect("it is a text");
    assert!(message.ends_with("\u{e9} ..") && message.len() <= 32_768);
    assert!(message.len() > 32_700);
}
