//! Fields of a report that tools read: the generation it describes, and the progress of the object.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::*;
use crate::cluster::fixture::{Caches, Thing, names, ours, thing};
use crate::lifecycle::{Because, Desired, This};
use crate::machine::kstatus::Progress;

crate::lifecycle! {
    resource Thing;

    observe {
        class: ConfigMap       by name spec.class_name?;
        made:  owned ConfigMap by name meta.name;
    }
    facts {
        paused: bool from self;
    }
    states {
        Paused     when paused                    => Suspended wakes self;
        NoClass    when class != Present          => Error wakes class, self;
        Taken      when made == Foreign           => Error wakes made;
        Making     when made in { Absent, Stale } => Pending;
        Draining   when made == Terminating       => Pending;
        goal Ready when made == Current           => Ready;
    }
    effects { apply made from class; }
    status {
        condition Made {
            True when class && made == Current;
            False "NoClass" when class != Present;
            False "Taken" when made == Foreign;
            Unknown "Making" otherwise;
        }
        ready from Made;
        kstatus;
    }
}

struct Logic;

impl ThingLogic for Logic {
    fn paused(&self, this: This<'_, Thing>) -> Because<bool> {
        match this.spec.misnamed.is_some() {
            true => Because::new(true, "it is paused"),
            false => Because::plain(false),
        }
    }

    fn apply_made(&self, at: ApplyMade<'_>) -> Desired<ConfigMap> {
        let size = at.class.data.as_ref().and_then(|d| d.get("size"));
        Desired::from_json(json!({ "data": { "size": size } }))
    }
}

/// Returns the draft for these objects, a spec and an old status, with the additional knowledge of
/// a reconciliation.
fn report(objects: &[Value], spec: Value, old: Value, notes: impl FnOnce(&mut Notes<'_>)) -> Value {
    let caches = Caches::for_machine(Arc::new(machine(Logic)), objects);
    let observed = caches.observe(thing(spec, json!({ "status": old })));
    let machine = machine(Logic);
    let (ir, world) = (machine.ir(), &observed.observation.world);
    let mut given = Notes {
        class: match observed.failure {
            Some(_) => Class::Contradiction,
            None => ir.classify(world, false),
        },
        next: match observed.failure {
            Some(_) => Decision::Rest,
            None => ir.next(world, false),
        },
        fields: &names(&machine),
        failure: observed.failure.as_ref(),
        ruled_out: None,
        trouble: None,
        overdue: None,
        owes_recovery: false,
        now: jiff::Timestamp::UNIX_EPOCH,
    };
    notes(&mut given);
    draft(&machine, &observed.observation, &given).status
}

/// Returns the observed generation, and the messages beside the declared conditions.
fn read_report(status: &Value) -> (Option<i64>, Vec<String>) {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let rows = status["conditions"].as_array().into_iter().flatten();
    let tools = rows.filter(|row| {
        ["Reconciling", "Stalled"]
            .map(Value::from)
            .contains(&row["type"])
    });
    let line = |row| {
        let [kind, status, reason] = ["type", "status", "reason"].map(|key| text(row, key));
        format!("{kind}={status}/{reason}")
    };
    (
        status["observedGeneration"].as_i64(),
        tools.map(line).collect(),
    )
}

fn class() -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c", "namespace": "ns" }, "data": { "size": "small" } })
}

fn owned_map() -> Value {
    ours("ConfigMap", "t", json!({ "size": "small" }), json!({}))
}

fn spec() -> Value {
    json!({ "className": "c" })
}

fn expected_report(generation: i64, lines: &[&str]) -> (Option<i64>, Vec<String>) {
    let lines = lines.iter().map(|line| (*line).to_owned());
    (Some(generation), lines.collect())
}

#[test]
fn a_report_is_of_a_generation_and_says_how_far_the_object_is() {
    let plain = |objects: &[Value]| read_report(&report(objects, spec(), Value::Null, |_| {}));
    assert_eq!(plain(&[class(), owned_map()]), expected_report(3, &[]));
    assert_eq!(
        plain(&[class()]),
        expected_report(3, &["Reconciling=True/Making"])
    );
    assert_eq!(plain(&[]), expected_report(3, &["Stalled=True/NoClass"]));
    let late = report(&[class()], spec(), Value::Null, |notes| {
        notes.overdue = Some("it has been Making for more than 10 min".to_owned());
    });
    assert_eq!(
        read_report(&late),
        expected_report(3, &["Stalled=True/Making"])
    );
    let message = late["conditions"][2]["message"]
        .as_str()
        .unwrap_or_default();
    assert!(message.ends_with("for more than 10 min"), "{message}");
}

#[test]
fn what_could_not_be_looked_at_was_not_observed() {
    let mut broken = class();
    broken["data"] = json!({ "size": 3 });
    let first = report(&[broken.clone()], spec(), Value::Null, |_| {});
    assert_eq!(
        read_report(&first),
        (None, vec!["Stalled=True/InputUnreadable".to_owned()])
    );
    let old = json!({ "observedGeneration": 2, "conditions": [] });
    let later = report(&[broken, owned_map()], spec(), old, |_| {});
    assert_eq!(
        read_report(&later),
        expected_report(2, &["Stalled=True/InputUnreadable"])
    );
}

#[test]
fn what_is_suspended_is_not_done_and_of_the_generation_of_before() {
    let paused = json!({ "className": "c", "misnamed": "x" });
    let old = json!({
        "observedGeneration": 2,
        "conditions": [{ "type": "Stalled", "status": "True", "reason": "NoClass", "message": "" }],
    });
    let suspended = report(&[class(), owned_map()], paused, old, |_| {});
    assert_eq!(
        read_report(&suspended),
        expected_report(2, &["Reconciling=True/Paused"])
    );
}

#[test]
fn the_same_report_differs_from_itself_by_its_generation_alone() {
    let machine = machine(Logic);
    let ir = machine.ir();
    let first = report(&[class(), owned_map()], spec(), Value::Null, |_| {});
    assert!(!differs(ir, &[], &first, &first));
    let mut older = first.clone();
    older["observedGeneration"] = json!(2);
    assert!(differs(ir, &[], &first, &older));
}

#[test]
fn only_what_is_ready_and_at_rest_is_done() {
    let machine = machine(Logic);
    let ir = machine.ir();
    let state = |phase: Phase| {
        let found = ir.states.position(|state| state.phase == phase);
        Class::State(found.expect("it has such a state"))
    };
    let (rest, work) = (Decision::Rest, Decision::Effect(0));
    let table = [
        (state(Phase::Ready), rest, false, Progress::Done),
        (
            state(Phase::Ready),
            Decision::Claim,
            false,
            Progress::Reconciling,
        ),
        (state(Phase::Pending), work, false, Progress::Reconciling),
        (state(Phase::Pending), rest, false, Progress::Reconciling),
        (state(Phase::Pending), rest, true, Progress::Stalled),
        (state(Phase::Suspended), rest, false, Progress::Reconciling),
        (state(Phase::Error), rest, false, Progress::Stalled),
        (
            Class::Deleting,
            Decision::Release,
            false,
            Progress::Reconciling,
        ),
        (Class::Refused { effect: 0 }, rest, false, Progress::Stalled),
        (Class::Contradiction, rest, false, Progress::Stalled),
    ];
    for (class, next, is_overdue, expected) in table {
        let found = ir.progress(class, next, is_overdue);
        assert_eq!(found, expected, "{class:?} {next:?} {is_overdue}");
    }
}

/// The state name is used without a roll-up, and if the roll-up is already True.
#[test]
fn it_is_told_in_the_words_of_ready_and_else_by_the_name_of_the_state() {
    let told = |progress: Progress, ready: Option<&Projected>| {
        let told = progress.condition(ready, ("Making", "it is made".to_owned()))?;
        Some((told.name, told.reason, told.message))
    };
    let ready = |status| named("Ready", status, "NoClass", "there is no class".to_owned());
    let unmet = ready(ConditionStatus::Unknown);
    let said = (
        "Stalled",
        "NoClass".to_owned(),
        "there is no class".to_owned(),
    );
    assert_eq!(told(Progress::Stalled, Some(&unmet)), Some(said));
    let state = || ("Reconciling", "Making".to_owned(), "it is made".to_owned());
    let met = ready(ConditionStatus::True);
    assert_eq!(told(Progress::Reconciling, Some(&met)), Some(state()));
    assert_eq!(told(Progress::Reconciling, None), Some(state()));
    assert_eq!(told(Progress::Done, Some(&unmet)), None);
}
