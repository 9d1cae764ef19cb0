//! Tests of a group by its existing members. The worst one decides, in the order of sets, and each
//! is planned separately.

#![allow(dead_code, reason = "the lifecycle is looked at and not run")]

use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Job, Observed};
use crate::cluster::fixture::Caches;
use crate::lifecycle;
use crate::lifecycle::{Because, Desired, ObjectRef, This};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Stall", namespaced)]
pub(crate) struct StallSpec {
    /// True if the object has a lock.
    locked: bool,
}

lifecycle! {
    /// A stall: a sign, a till and perhaps a lock.
    resource Stall;

    observe {
        kit: owned {
            sign: ConfigMap       by name meta.name;
            lock: optional Secret by ref;
            till: Service         by name meta.name;
        };
    }
    facts {
        red: bool from sign;
    }
    states {
        Taken   when kit == Foreign  => Error wakes kit;
        Setting when kit != Current  => Pending;
        Plain   when !red            => Pending wakes kit;
        goal Up when red             => Ready;
    }
    effects {
        apply each kit;
        delete each kit;
    }
}

struct Seller;

impl StallLogic for Seller {
    fn lock(&self, _: This<'_, Stall>) -> Option<ObjectRef> {
        Some(ObjectRef::new::<Secret>(None, "key"))
    }

    fn red(&self, _: This<'_, Stall>, sign: Option<&ConfigMap>) -> Because<bool> {
        Because::plain(sign.is_some())
    }

    fn apply_kit_sign(&self, _: ApplyKit<'_>) -> Desired<ConfigMap> {
        Desired::from_json(json!({ "data": { "colour": "red" } }))
    }

    fn apply_kit_lock(&self, at: ApplyKit<'_>) -> Option<Desired<Secret>> {
        let wanted = at.this.spec.locked;
        wanted.then(|| Desired::from_json(json!({ "type": "Opaque" })))
    }

    fn apply_kit_till(&self, _: ApplyKit<'_>) -> Desired<Service> {
        Desired::from_json(json!({ "spec": { "type": "ClusterIP" } }))
    }
}

const SIGN: usize = 1;
const LOCK: usize = 2;
const TILL: usize = 3;

/// Returns an object of this kind that is ours or not, optionally being deleted.
fn object(kind: &str, name: &str, ours: bool, leaves: bool) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-{kind}"), "resourceVersion": "5" },
    });
    if ours {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "tests/v1", "kind": "Stall", "name": "s", "uid": "u", "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    if leaves {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    object
}

/// Returns an object of ours in its desired state, with managed fields of ours.
fn as_wanted(kind: &str, name: &str, mut fields: Value, owned: Value) -> Value {
    let mut object = object(kind, name, true, false);
    let fields = fields.as_object_mut().expect("fields");
    object.as_object_mut().expect("an object").append(fields);
    object["metadata"]["managedFields"] = json!([{
        "manager": "op/thing", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": owned,
    }]);
    object
}

fn sign() -> Value {
    let owned = json!({ "f:data": { "f:colour": {} } });
    as_wanted(
        "ConfigMap",
        "s",
        json!({ "data": { "colour": "red" } }),
        owned,
    )
}

fn till() -> Value {
    let owned = json!({ "f:spec": { "f:type": {} } });
    as_wanted(
        "Service",
        "s",
        json!({ "spec": { "type": "ClusterIP" } }),
        owned,
    )
}

fn observe(objects: &[Value], locked: bool) -> Observed {
    let stall = json!({
        "apiVersion": "tests/v1", "kind": "Stall", "spec": { "locked": locked },
        "metadata": { "name": "s", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3 },
    });
    let observed = Caches::for_machine(Arc::new(machine(Seller)), objects).observe(stall);
    assert_eq!(observed.failure, None);
    observed
}

/// The verdict with its sentence, and which members are applied and deleted next.
fn judged(objects: &[Value], locked: bool) -> (&'static str, String, Vec<usize>, Vec<usize>) {
    let observed = observe(objects, locked);
    let var = IR.inputs[0].var.expect("it has a verdict");
    let said = observed.observation.sentences[var].clone();
    let written = |effect: usize| {
        let plans = observed.plans[effect].iter();
        plans.filter_map(|plan| plan.input).collect()
    };
    let value = IR.value(&observed.observation.world, var);
    (value, said.unwrap_or_default(), written(0), written(1))
}

#[test]
fn the_worst_member_decides_and_is_named() {
    let check = |objects: &[Value], locked: bool, expected: (&str, &str), applied: &[usize]| {
        let (value, said, applies, _) = judged(objects, locked);
        assert_eq!((value, said.as_str()), expected);
        assert_eq!(applies, applied);
    };
    let missing = "ConfigMap `ns/s` does not exist";
    check(&[], false, ("Behind", missing), &[SIGN, TILL]);
    check(&[], true, ("Behind", missing), &[SIGN, LOCK, TILL]);
    check(&[sign(), till()], false, ("Current", ""), &[]);
    let no_lock = "Secret `ns/key` does not exist";
    check(&[sign(), till()], true, ("Behind", no_lock), &[LOCK]);
    let going = object("Service", "s", true, true);
    let leaves = "Service `ns/s` is being deleted";
    check(&[sign(), going.clone()], false, ("Draining", leaves), &[]);
    let theirs = object("Service", "s", false, false);
    let taken = "Service `ns/s` exists and is not controlled by this Stall: rename the Stall or remove that Service";
    check(&[sign(), theirs.clone()], false, ("Foreign", taken), &[]);
    // A taken name does not keep the others from being made.
    check(&[theirs], false, ("Behind", missing), &[SIGN]);
    check(&[going], false, ("Behind", missing), &[SIGN]);
}

#[test]
fn what_is_not_wanted_any_more_goes_if_it_is_ours() {
    let lock = |ours| object("Secret", "key", ours, false);
    let (value, said, _, deletes) = judged(&[sign(), till(), lock(true)], false);
    let unwanted = "Secret `ns/key` is not wanted any more";
    assert_eq!((value, said.as_str()), ("Surplus", unwanted));
    assert_eq!(deletes, [LOCK]);
    let (value, _, _, deletes) = judged(&[sign(), till(), lock(false)], false);
    assert_eq!((value, deletes.len()), ("Current", 0));
    let (value, ..) = judged(&[sign(), till(), lock(false)], true);
    assert_eq!(value, "Foreign");
}

#[test]
fn who_reads_a_member_gets_it_only_where_it_is_ours_to_read() {
    let reads = |sign: Value| {
        let observed = observe(&[sign], false);
        observed.observation.one::<ConfigMap>(SIGN).is_some()
    };
    assert!(reads(sign()));
    assert!(reads(object("ConfigMap", "s", true, false)));
    assert!(!reads(object("ConfigMap", "s", false, false)));
    assert!(!reads(object("ConfigMap", "s", true, true)));
}

#[test]
fn each_write_says_which_member_it_is() {
    let observed = observe(&[object("ConfigMap", "s", true, false)], false);
    let plans: Vec<_> = observed.plans[0]
        .iter()
        .map(|plan| (plan.input, plan.job, plan.body["kind"].clone()))
        .collect();
    let expected = [
        (Some(SIGN), Job::Update, json!("ConfigMap")),
        (Some(TILL), Job::Create, json!("Service")),
    ];
    assert_eq!(plans, expected);
}
