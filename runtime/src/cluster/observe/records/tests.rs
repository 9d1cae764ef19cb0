//! Tests of records on an object: read back, compared, and planned to be written.

#![allow(dead_code, reason = "the lifecycle is looked at and not run")]

use std::future::ready;

use k8s_openapi::api::core::v1::Secret;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Observed;
use super::*;
use crate::cluster::act;
use crate::cluster::fixture::Caches;
use crate::lifecycle;
use crate::lifecycle::call::Outcome;
use crate::lifecycle::{Because, CallError, Desired, Once, This};
use crate::machine::policy::Decision;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Bucket", namespaced)]
pub(crate) struct BucketSpec {
    name: String,
}

#[derive(PartialEq)]
pub(crate) struct BucketInfo;

include!("bucket.txt");

struct Names;

impl BucketLogic for Names {
    fn poll_store(
        &self,
        _: This<'_, Bucket>,
        _: &String,
    ) -> impl Future<Output = Result<BucketInfo, CallError>> + Send {
        ready(Ok(BucketInfo))
    }

    fn bucket(&self, _: This<'_, Bucket>, _: &BucketInfo) -> Because<BucketValue> {
        Because::plain(BucketValue::No)
    }

    fn drop_bucket(
        &self,
        _: DropBucket<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<DropBucketResult>> + Send {
        once.spend(ready(Ok(DropBucketResult::No)))
    }

    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        at.this.spec.name.clone()
    }

    fn put_bucket(
        &self,
        _: PutBucket<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<PutBucketResult>> + Send {
        once.spend(ready(Ok(PutBucketResult::Current)))
    }

    fn apply_secret(&self, _: ApplySecret<'_>) -> Desired<Secret> {
        Desired::from_object(&Secret::default())
    }
}

const KEY: &str = "op/thing.handle";

/// A bucket that wants to be called `new`, with this record.
fn observe(recorded: Option<&str>) -> Observed {
    let mut bucket = json!({
        "apiVersion": "tests/v1", "kind": "Bucket", "spec": { "name": "new" },
        "metadata": { "name": "b", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 3 },
    });
    if let Some(recorded) = recorded {
        bucket["metadata"]["annotations"] = json!({ KEY: recorded });
    }
    Caches::for_machine(Arc::new(machine(Names)), &[]).observe(bucket)
}

fn check(recorded: Option<&str>, value: &str, asks: &[&str], written: Option<&str>) {
    let observed = observe(recorded);
    assert_eq!(observed.failure, None);
    let handle = IR.inputs[0].var.expect("a record brings a fact");
    assert_eq!(IR.value(&observed.observation.world, handle), value);
    let asked: Vec<_> = observed.polls.iter().map(|(_, key)| key.as_str()).collect();
    assert_eq!(asked, asks, "the outside is asked by what is recorded");
    let apply = IR.effects.iter().position(|e| e.name == "apply_handle");
    let plans = &observed.plans[apply.expect("it is declared")];
    let written: Vec<_> = written.into_iter().collect();
    let planned: Vec<_> = plans
        .iter()
        .filter_map(|p| p.body["metadata"]["annotations"][KEY].as_str())
        .collect();
    assert_eq!(planned, written);
}

#[test]
fn a_record_is_absent_stale_or_current() {
    check(None, "Absent", &[], Some("\"new\""));
    check(Some("\"old\""), "Stale", &["old"], Some("\"new\""));
    check(Some("\"new\""), "Current", &["new"], None);
}

#[test]
fn nothing_is_done_about_a_record_that_cannot_be_read() {
    for broken in ["old", "5", ""] {
        let failure = observe(Some(broken)).failure.expect("it cannot be read");
        assert_eq!(
            failure.to_string(),
            "Bucket `ns/b` cannot be read: its annotation `op/thing.handle` holds no String; correct it, or delete it"
        );
    }
}

#[test]
fn a_record_is_written_to_exactly_the_version_that_was_seen() {
    let observed = observe(None);
    let next = IR.next(&observed.observation.world, false);
    let Decision::Effect(effect) = next else {
        panic!("{next:?}");
    };
    let plan = &observed.plans[effect][0];
    let kind = crate::lifecycle::Kind::for_type::<Bucket>();
    let sent = act::write(plan, &kind).expect("it is a request");
    let sent = sent.expect("it can be built");
    assert_eq!(sent.method(), "PATCH");
    assert_eq!(
        sent.uri().to_string(),
        "/apis/tests/v1/namespaces/ns/buckets/b?&fieldManager=op%2Fthing"
    );
    assert_eq!(
        sent.headers()["content-type"],
        "application/merge-patch+json"
    );
    let body: Value = serde_json::from_slice(sent.body()).expect("it is JSON");
    let wanted = json!({ "metadata": {
        "uid": "u", "resourceVersion": "7", "annotations": { KEY: "\"new\"" },
    } });
    assert_eq!(body, wanted);
}
