//! What stays when its owner goes says whose it is; what is nobody's is taken over, and what anybody controls, owns or keeps is not.

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

fn look(keeps: bool, meta: &Value) -> Observed {
    Caches::with(Arc::new(heirs()), &[estate(meta)]).look(heir(keeps))
}

/// Who keeps it, as the annotation says.
fn kept(name: &str, uid: &str, adopted: bool) -> Value {
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

/// What is said of it, by the verdict.
#[track_caller]
fn check(keeps: bool, meta: &Value, expected: &str) -> String {
    let observed = look(keeps, meta);
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
    let request = act::write(plan, &Kind::of::<ConfigMap>()).expect("it is a request");
    let request = request.expect("it can be built");
    let body: Value = serde_json::from_slice(request.body()).expect("it is JSON");
    body["metadata"].clone()
}

#[test]
fn whose_it_is_owners_say_first_and_then_who_keeps_it() {
    let (none, namesake) = (json!({}), kept("h", "earlier", false));
    check(false, &owned("heir-uid", true), "Current");
    check(true, &kept("h", "heir-uid", false), "Current");
    check(true, &none, "Adoptable");
    check(true, &namesake, "Adoptable");
    check(true, &owned("heir-uid", false), "Adoptable");
    for strange in [
        owned("other", true),
        owned("other", false),
        kept("another", "other", false),
        both(kept("h", "heir-uid", false), owned("other", true)),
        both(kept("h", "earlier", false), owned("other", false)),
        json!({ "annotations": { KEPT_BY: "no JSON" } }),
        json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" }),
    ] {
        check(true, &strange, "Foreign");
    }
}

#[test]
fn it_is_said_who_has_it_and_what_to_do() {
    let said = check(true, &kept("another", "other", false), "Foreign");
    assert!(
        said.contains("is kept by Heir `ns/another`: remove that ConfigMap, or its annotation"),
        "{said}"
    );
    let said = check(true, &kept("h", "earlier", false), "Adoptable");
    assert!(
        said.ends_with("was kept when an earlier one of this name went, and can be taken over"),
        "{said}"
    );
    let said = check(true, &json!({}), "Adoptable");
    assert!(
        said.ends_with("exists and belongs to nobody, and can be taken over"),
        "{said}"
    );
}

#[test]
fn what_is_made_to_stay_has_no_owner_and_says_whose_it_is() {
    let made = Caches::with(Arc::new(heirs()), &[]).look(heir(true));
    let meta = sent(&only(&made, APPLY));
    assert_eq!(meta.get("ownerReferences"), None);
    assert_eq!(
        meta["annotations"],
        kept("h", "heir-uid", false)["annotations"]
    );
    let made = Caches::with(Arc::new(heirs()), &[]).look(heir(false));
    let meta = sent(&only(&made, APPLY));
    assert_eq!(
        meta["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
    assert_eq!(meta.get("annotations"), None);
}

#[test]
fn a_policy_that_changes_is_one_ordinary_write() {
    let plan = only(&look(true, &owned("heir-uid", true)), APPLY);
    assert_eq!(plan.job, Job::Update);
    assert_eq!(sent(&plan).get("ownerReferences"), None);
    check(false, &kept("h", "heir-uid", false), "Stale");
    let plan = only(&look(false, &kept("h", "heir-uid", false)), APPLY);
    assert_eq!(plan.job, Job::Update);
    assert_eq!(
        sent(&plan)["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
}

#[test]
fn a_reference_of_ours_that_others_say_as_well_is_taken_out_of_the_version_that_was_seen() {
    let meta = both(kept("h", "heir-uid", false), owned("heir-uid", true));
    check(true, &meta, "Stale");
    let plan = only(&look(true, &meta), APPLY);
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
    let observed = look(true, &owned("heir-uid", false));
    let plan = only(&observed, KEEP);
    assert_eq!(plan.job, Job::Adopt);
    let mut wanted = kept("h", "heir-uid", true);
    wanted["uid"] = json!("estate-uid");
    wanted["resourceVersion"] = json!("5");
    wanted["ownerReferences"] = json!([]);
    assert_eq!(sent(&plan), wanted);
    let taken = sent(&only(&look(false, &kept("h", "earlier", false)), TAKE));
    assert_eq!(
        taken["ownerReferences"],
        owned("heir-uid", true)["ownerReferences"]
    );
    assert_eq!(taken["annotations"], json!({ KEPT_BY: null }));
}

#[test]
fn what_was_adopted_stays_whatever_the_policy_says() {
    check(false, &kept("h", "heir-uid", true), "Current");
    check(true, &kept("h", "heir-uid", true), "Current");
}
