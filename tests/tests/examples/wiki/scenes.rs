//! The wiki on the simulated cluster, in situations in which one concern must not stop another.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use k8s_openapi::api::networking::v1::Ingress;
use kube::CustomResourceExt as _;
use kube::api::{Api, DeleteParams};
use serde_json::{Value, json};

use crate::simulated::{Simulated, condition};
use crate::wiki::{Wiki, operator};

/// A Wiki with a host and a backup.
fn wiki(version: &str, more: &str) -> String {
    format!(
        "
apiVersion: examples.test/v1
kind: Wiki
metadata: {{name: notes, namespace: default}}
spec: {{version: {version}{more}}}
"
    )
}

const WHOLE: &str = ", host: notes.example.test, backup: \"0 3 * * *\"";

async fn start(objects: &str) -> Simulated {
    Simulated::with_operator(operator(), Wiki::crd(), objects).await
}

/// Returns true if a condition is as wanted.
fn has_status(object: &Value, name: &str, status: &str) -> bool {
    condition(object, name).is_some_and(|one| one["status"] == status)
}

async fn is_served(cluster: &Simulated, version: &str) {
    let wanted = |object: &Value| {
        object["status"]["version"] == version && has_status(object, "Ready", "True")
    };
    cluster.until::<Wiki>("notes", wanted).await;
}

#[tokio::test]
async fn all_regions_come_to_their_goals() {
    let cluster = start(&wiki("v1", WHOLE)).await;
    is_served(&cluster, "v1").await;
    let wiki = cluster.ready::<Wiki>("notes").await;
    for name in ["Prepared", "Migrated", "Available", "Exposed", "BackedUp"] {
        assert!(has_status(&wiki, name, "True"), "{name}: {wiki:#}");
    }
    assert_eq!(wiki["status"]["url"], "http://notes.example.test/");
}

#[tokio::test]
async fn a_refused_schedule_stops_no_upgrade() {
    let bad = ", host: notes.example.test, backup: every night";
    let cluster = start(&wiki("v1", bad)).await;
    is_served(&cluster, "v1").await;
    cluster.apply(&wiki("v2", bad)).await;
    is_served(&cluster, "v2").await;
    let refused = |object: &Value| {
        let backed_up = condition(object, "BackedUp");
        backed_up.is_some_and(|one| one["status"] == "False" && one["reason"] == "Refused")
    };
    let wiki = cluster.until::<Wiki>("notes", refused).await;
    assert!(has_status(&wiki, "Exposed", "True"), "{wiki:#}");
}

#[tokio::test]
async fn what_is_not_wanted_any_more_goes_and_the_rest_stays() {
    let cluster = start(&wiki("v1", WHOLE)).await;
    cluster.ready::<Wiki>("notes").await;
    cluster.until::<CronJob>("notes", Value::is_object).await;
    let wikis: Api<Wiki> = Api::namespaced(cluster.client.clone(), "default");
    let patch = json!({"spec": {"host": null, "backup": null}});
    let patch = kube::api::Patch::Merge(&patch);
    wikis
        .patch("notes", &kube::api::PatchParams::default(), &patch)
        .await
        .unwrap();
    cluster.until::<Ingress>("notes", Value::is_null).await;
    cluster.until::<CronJob>("notes", Value::is_null).await;
    let wiki = cluster.ready::<Wiki>("notes").await;
    assert!(has_status(&wiki, "BackedUp", "True"), "{wiki:#}");
}

#[tokio::test]
async fn a_taken_name_in_one_region_stops_no_other() {
    let stranger = "
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: notes, namespace: default}
spec: {rules: [{host: other.example.test}]}
";
    let cluster = start(&[stranger, "---", &wiki("v1", WHOLE)].concat()).await;
    is_served(&cluster, "v1").await;
    let taken = |object: &Value| {
        let exposed = condition(object, "Exposed");
        exposed.is_some_and(|one| one["reason"] == "NameTaken")
    };
    let wiki = cluster.until::<Wiki>("notes", taken).await;
    assert!(has_status(&wiki, "BackedUp", "True"), "{wiki:#}");
}

#[tokio::test]
async fn it_drains_before_it_goes() {
    let cluster = start(&wiki("v1", ", keep: true")).await;
    cluster.ready::<Wiki>("notes").await;
    let wikis: Api<Wiki> = Api::namespaced(cluster.client.clone(), "default");
    wikis
        .delete("notes", &DeleteParams::default())
        .await
        .unwrap();
    cluster.until::<Wiki>("notes", Value::is_null).await;
    cluster.until::<StatefulSet>("notes", Value::is_null).await;
    cluster.until::<Job>("notes-to-v1", Value::is_null).await;
    let claim = cluster
        .until::<PersistentVolumeClaim>("notes", Value::is_object)
        .await;
    assert!(claim["metadata"]["ownerReferences"].is_null(), "{claim:#}");
}
