//! Tests of retained objects. An object that stays when its owner goes names its keeper. An unowned
//! object is adopted, but not one that has a controller, an owner or a keeper.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::act;
use crate::cluster::fixture::Caches;
use crate::cluster::fixture::heir::{estate, heir, heirs};
use crate::cluster::observe::{Job, Observed, Plan};
use crate::lifecycle::Kind;
use crate::lifecycle::kept_by::KEPT_BY;
use k8s_openapi::api::core::v1::ConfigMap;

const KEEP: usize = 0;
const TAKE: usize = 1;
const APPLY: usize = 2;

fn observe(keeps: bool, meta: &Value) -> Observed {
    Caches::for_machine(Arc::new(heirs()), &[estate(meta)]).observe(heir(keeps))
}

/// Returns metadata with the annotation that names the keeper.
fn keeper_annotation(name: &str, uid: &str, adopted: bool) -> Value {
    let mut kept = json!({ "apiVersion": "tests/v1", "kind": "Heir", "namespace": "ns", "name": name, "uid": uid });
    if adopted {
        kept["adopted"] = json!(true);
    }
    let kept: crate::KeptBy = serde_json::from_value(kept).expect("it says who keeps it");
    json!({ "annotations": { KEPT_BY: kept.text() } })
}

fn owned(uid: &str, controller: bool) -> Value {
    let mut reference =
        json!({ "apiVersion": "tests/v1", "kind": "Heir", "name": "h", "uid": uid });
    if controller {
        reference["controller"] = json!(true);
        reference["blockOwnerDeletion"] = json!(true);
    }
    json!({ "ownerReferences": [reference] })
}

fn both(mut one: Value, other: Value) -> Value {
    crate::cluster::fixture::merge(&mut one, other);
    one
}

/// Checks the verdict on the object, and returns its sentence.
#[track_caller]
fn check(keeps: bool, meta: &Value, expected: &str) -> String {
    let observed = observe(keeps, meta);
    let observation = &observed.observation;
    let ir = crate::cluster::fixture::heir::IR;
    let var = ir.inputs[0].var.expect("it has a verdict");
    assert_eq!(ir.value(&observation.world, var), expected, "{meta}");
    observation.sentences[var].clone().unwrap_or_default()
}

#[track_caller]
fn only(observed: &Observed, effect: usize) -> Plan {
    let [plan] = observed.plans[effect].as_slice() else {
        panic!("{:?}", observed.plans[effect]);
    };
    plan.clone()
}

/// The metadata that a plan would send.
fn sent(plan: &Plan) -> Value {
    let request = act::write(plan, &Kind::for_type::<ConfigMap>()).expect("it is a request");
    let request = request.expect("it can be built");
    let body: Value = serde_json::from_slice(request.body()).expect("it is JSON");
    body["metadata"].clone()
}

#[test]
fn whose_it_is_owners_say_first_and_then_who_keeps_it() {
    let (none, namesake) = (json!({}), keeper_annotation("h", "earlier", false));
    check(false, &owned("heir-uid", true), "Current");
    check(true, &keeper_annotation("h", "heir-uid", false), "Current");
    check(true, &none, "Adoptable");
    check(true, &namesake, "Adoptable");
    check(true, &owned("heir-uid", false), "Adoptable");
    for strange in [
        owned("other", true),
        owned("other", false),
        keeper_annotation("another", "other", false),
        both(
            keeper_annotation("h", "heir-uid", false),
            owned("other", true),
        ),
        both(
            keeper_annotation("h", "earlier", false),
            owned("other", false),
        ),
        json!({ "annotations": { KEPT_BY: "no JSON" } }),
        json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" }),
    ] {
        check(true, &strange, "Foreign");
    }
}

#[test]
fn it_is_said_who_has_it_and_what_to_do() {
    let said = check(
        true,
        &keeper_annotation("another", "other", false),
        "Foreign",
    );
    assert!(
        said.contains("is kept by Heir `ns/another`: remove that ConfigMap, or its annotation"),
        "{said}"
    );
    let said = check(true, &keeper_annotation("h", "earlier", false), "Adoptable");
    assert!(
        said.ends_with("was kept when an earlier one of this name went, and can be taken over"),
        "{said}"
    );
    let said = check(true, &json!({}), "Adoptable");
    assert!(
        said.ends_with("exists without an owner, and can be taken over"),
        "{said}"
    );
}

#[test]
fn what_is_made_to_stay_has_no_owner_and_says_whose_it_is() {
    let made = Caches::for_machine(Arc::new(heirs()), &[]).observe(heir(true));
    let meta = sent(&only(&made, APPLY));
    assert_eq!(meta.get("ownerReferences"), None);
    assert_eq!(
        meta["annotations"],
        keeper_annotation("h", "heir-uid", false)["annotations"]
    );
    let made = Caches::for_machine(Arc::new(heirs()), &[]).observe(heir(false));
    let meta = sent(&only(&made, APPLY));
    assert_eq!(
        meta["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
    assert_eq!(meta.get("annotations"), None);
}

#[test]
fn a_policy_that_changes_is_one_ordinary_write() {
    let plan = only(&observe(true, &owned("heir-uid", true)), APPLY);
    assert_eq!(plan.job, Job::Update);
    assert_eq!(sent(&plan).get("ownerReferences"), None);
    check(false, &keeper_annotation("h", "heir-uid", false), "Stale");
    let plan = only(
        &observe(false, &keeper_annotation("h", "heir-uid", false)),
        APPLY,
    );
    assert_eq!(plan.job, Job::Update);
    assert_eq!(
        sent(&plan)["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
}

#[test]
fn a_reference_of_ours_that_others_say_as_well_is_taken_out_of_the_version_that_was_seen() {
    let meta = both(
        keeper_annotation("h", "heir-uid", false),
        owned("heir-uid", true),
    );
    check(true, &meta, "Stale");
    let plan = only(&observe(true, &meta), APPLY);
    assert_eq!(plan.job, Job::Disown);
    let sent = sent(&plan);
    assert_eq!(sent["ownerReferences"], json!([]));
    assert_eq!(
        (&sent["uid"], &sent["resourceVersion"]),
        (&json!("estate-uid"), &json!("5"))
    );
}

#[test]
fn an_adoption_says_whose_it_is_of_exactly_the_version_that_was_seen_and_nothing_else() {
    let observed = observe(true, &owned("heir-uid", false));
    let plan = only(&observed, KEEP);
    assert_eq!(plan.job, Job::Adopt);
    let mut wanted = keeper_annotation("h", "heir-uid", true);
    wanted["uid"] = json!("estate-uid");
    wanted["resourceVersion"] = json!("5");
    wanted["ownerReferences"] = json!([]);
    assert_eq!(sent(&plan), wanted);
    let taken = sent(&only(
        &observe(false, &keeper_annotation("h", "earlier", false)),
        TAKE,
    ));
    assert_eq!(
        taken["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
    assert_eq!(taken["annotations"], json!({ KEPT_BY: null }));
}

#[test]
fn what_was_adopted_stays_whatever_the_policy_says() {
    check(false, &keeper_annotation("h", "heir-uid", true), "Current");
    check(true, &keeper_annotation("h", "heir-uid", true), "Current");
}
