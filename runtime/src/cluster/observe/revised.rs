//! Tests of objects that are built from their own current content. Such a write replaces exactly
//! the observed version. An object that no builder makes is only cleaned up.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::act;
use crate::cluster::fixture::Caches;
use crate::cluster::fixture::ledger::{keeping, ledger, owned};
use crate::cluster::observe::{Job, Observed, Plan};
use crate::lifecycle::Kind;
use k8s_openapi::api::core::v1::ConfigMap;

fn observe(spec: Value, objects: &[Value]) -> Observed {
    Caches::for_machine(Arc::new(keeping()), objects).observe(ledger(spec))
}

/// The plans of an effect, by its place.
fn plans(observed: &Observed, effect: usize) -> &[Plan] {
    &observed.plans[effect]
}

const ADD: usize = 0;
const BEGIN: usize = 1;
const SWEEP: usize = 2;

#[test]
fn what_is_there_is_revised_in_the_version_that_was_read() {
    let observed = observe(
        json!({ "entry": "second" }),
        &[owned("ConfigMap", "l", "ledger-uid")],
    );
    assert!(plans(&observed, BEGIN).is_empty());
    let [plan] = plans(&observed, ADD) else {
        panic!("{:?}", plans(&observed, ADD));
    };
    assert_eq!(plan.job, Job::Revise);
    assert_eq!(plan.body["data"], json!({ "first": "", "second": "" }));
    let request = act::write(plan, &Kind::for_type::<ConfigMap>()).expect("it is a request");
    let request = request.expect("it can be built");
    let body: Value = serde_json::from_slice(request.body()).expect("it is JSON");
    let meta = &body["metadata"];
    assert_eq!(
        (&meta["uid"], &meta["resourceVersion"]),
        (&json!("uid-of-l"), &json!("5"))
    );
}

#[test]
fn what_is_missing_is_begun_by_the_builder_that_reads_nothing() {
    let observed = observe(json!({ "entry": "first" }), &[]);
    assert!(plans(&observed, ADD).is_empty());
    let jobs: Vec<Job> = plans(&observed, BEGIN)
        .iter()
        .map(|plan| plan.job)
        .collect();
    assert_eq!(jobs, [Job::Create]);
    let said = observe(
        json!({ "entry": "first" }),
        &[owned("ConfigMap", "l", "ledger-uid")],
    );
    assert!(
        said.plans.iter().all(Vec::is_empty),
        "it is written down already"
    );
}

#[test]
fn of_a_set_that_nothing_makes_all_that_is_ours_goes() {
    let spec = json!({ "entry": "first", "scraps": ["ours", "theirs", "gone"] });
    let objects = [
        owned("ConfigMap", "l", "ledger-uid"),
        owned("Secret", "ours", "ledger-uid"),
        owned("Secret", "theirs", "somebody"),
        owned("Secret", "kept", "ledger-uid"),
    ];
    let observed = observe(spec, &objects);
    let deleted = plans(&observed, SWEEP).iter();
    let deleted: Vec<_> = deleted
        .map(|plan| (plan.job, plan.name.name.as_str()))
        .collect();
    assert_eq!(deleted, [(Job::Delete, "ours")]);
}
