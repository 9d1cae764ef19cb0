//! Tests of an object that exists only sometimes, by the field that wants it and the existing
//! object.

#![allow(dead_code, reason = "the lifecycle is looked at and not run")]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Job, Observed};
use crate::cluster::fixture::Caches;
use crate::lifecycle;
use crate::lifecycle::{Because, Desired, This};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Shop", namespaced)]
pub(crate) struct ShopSpec {
    /// Name of the door, if there is one.
    door: Option<String>,
}

lifecycle! {
    /// A shop, perhaps with a door, and a plan of it.
    resource Shop;

    observe {
        door: owned Service   by name meta.name if spec.door;
        plan: owned ConfigMap by name meta.name;
    }
    facts {
        open: bool from door given door == Current;
    }
    states {
        Taken   when any(door, plan) == Foreign => Error wakes door, plan;
        Setting when door != Current || plan != Current => Pending;
        Shut    when !open => Pending wakes door, self;
        goal Up when open  => Ready;
    }
    effects {
        apply door;
        apply plan from door;
    }
}

struct Builder;

impl ShopLogic for Builder {
    fn open(&self, _: This<'_, Shop>, door: Option<&Service>) -> Because<bool> {
        Because::plain(door.is_some())
    }

    fn apply_door(&self, at: ApplyDoor<'_>) -> Desired<Service> {
        let name = at.this.spec.door.as_ref();
        let name = name.expect("it is built only where it is wanted");
        Desired::from_json(json!({ "metadata": { "labels": { "door": name } } }))
    }

    fn apply_plan(&self, at: ApplyPlan<'_>) -> Desired<ConfigMap> {
        let doors = usize::from(at.door.is_some());
        Desired::from_json(json!({ "data": { "doors": doors.to_string() } }))
    }
}

const APPLY_DOOR: usize = 0;
const APPLY_PLAN: usize = 1;

fn door(ours: bool, leaves: bool) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": { "name": "s", "namespace": "ns", "uid": "uid-door", "resourceVersion": "5" },
    });
    if ours {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "tests/v1", "kind": "Shop", "name": "s", "uid": "u", "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    if leaves {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    object
}

fn as_wanted() -> Value {
    let mut object = door(true, false);
    object["metadata"]["labels"] = json!({ "door": "red" });
    object["metadata"]["managedFields"] = json!([{
        "manager": "op/thing", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:metadata": { "f:labels": { "f:door": {} } } },
    }]);
    object
}

fn observe(objects: &[Value], wanted: bool) -> Observed {
    let name = wanted.then_some("red");
    let shop = json!({
        "apiVersion": "tests/v1", "kind": "Shop", "spec": { "door": name },
        "metadata": { "name": "s", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3 },
    });
    let observed = Caches::for_machine(Arc::new(machine(Builder)), objects).observe(shop);
    assert_eq!(observed.failure, None);
    observed
}

/// Checks the verdict on the door with its sentence, and the writes that its effect plans.
#[track_caller]
fn check(objects: &[Value], wanted: bool, verdict: &str, sentence: &str, jobs: &[Job]) {
    let observed = observe(objects, wanted);
    let var = IR.inputs[0].var.expect("it has a verdict");
    let said = observed.observation.sentences[var].clone();
    let planned = observed.plans[APPLY_DOOR].iter().map(|plan| plan.job);
    assert_eq!(IR.value(&observed.observation.world, var), verdict);
    assert_eq!(said.unwrap_or_default(), sentence);
    assert_eq!(Vec::from_iter(planned), jobs);
}

/// Returns the number of doors that the builder of the plan saw.
fn doors(objects: &[Value], wanted: bool) -> Vec<Value> {
    let observed = observe(objects, wanted);
    let plans = observed.plans[APPLY_PLAN].iter();
    plans
        .map(|plan| plan.body["data"]["doors"].clone())
        .collect()
}

#[test]
fn where_it_is_wanted_it_is_made_like_any_other() {
    let missing = "Service `ns/s` does not exist";
    check(&[], true, "Absent", missing, &[Job::Create]);
    check(&[as_wanted()], true, "Current", "", &[]);
    let differs = "Service `ns/s` is not as wanted yet: `metadata.labels` differs";
    check(&[door(true, false)], true, "Stale", differs, &[Job::Update]);
    let leaves = "Service `ns/s` is being deleted";
    check(&[door(true, true)], true, "Terminating", leaves, &[]);
    let foreign = "Service `ns/s` exists and is not controlled by this Shop: rename the Shop or remove that Service";
    check(&[door(false, false)], true, "Foreign", foreign, &[]);
}

#[test]
fn where_it_is_not_wanted_ours_goes_and_that_of_another_owner_stays() {
    check(&[], false, "Current", "", &[]);
    let surplus = "Service `ns/s` is not wanted any more: `spec.door` is not set";
    check(&[as_wanted()], false, "Stale", surplus, &[Job::Delete]);
    let leaves = "Service `ns/s` is being deleted";
    check(&[door(true, true)], false, "Terminating", leaves, &[]);
    check(&[door(false, false)], false, "Current", "", &[]);
    check(&[door(false, true)], false, "Current", "", &[]);
}

#[test]
fn readers_get_only_what_is_ours() {
    let open = |objects: &[Value], wanted| {
        let observed = observe(objects, wanted);
        let var = IR.vars.iter().position(|var| var.name == "open");
        IR.value(&observed.observation.world, var.expect("it is a fact"))
    };
    assert_eq!(open(&[as_wanted()], true), "true");
    assert_eq!(open(&[], false), "false");
    assert_eq!(open(&[door(false, false)], false), "false");
    // What is missing or being deleted where it matters is waited for.
    assert_eq!(doors(&[], true), [] as [Value; 0]);
    assert_eq!(doors(&[door(true, true)], false), [] as [Value; 0]);
    assert_eq!(doors(&[as_wanted()], true), ["1"]);
    assert_eq!(doors(&[as_wanted()], false), ["1"]);
    assert_eq!(doors(&[], false), ["0"]);
    assert_eq!(doors(&[door(false, false)], false), ["0"]);
}
