//! Garbage collection and the end of namespaces.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim};
use kube::core::ApiResource;
use lifecycle_simulator::world::Sweep;
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};

use super::place::{TestCluster, both, build_object, core_path, owned_by};

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        both(
            "simulated: what_has_lost_all_its_owners_goes",
            "real: what_has_lost_all_its_owners_goes",
            lost,
        ),
        both(
            "simulated: an_owner_deleted_in_the_foreground_waits_for_what_it_blocks",
            "real: an_owner_deleted_in_the_foreground_waits_for_what_it_blocks",
            foreground,
        ),
        both(
            "simulated: what_is_orphaned_stays",
            "real: what_is_orphaned_stays",
            orphaned,
        ),
        both(
            "simulated: an_owner_that_never_was_is_no_owner",
            "real: an_owner_that_never_was_is_no_owner",
            never_was,
        ),
        both(
            "simulated: an_owner_in_another_namespace_is_no_owner",
            "real: an_owner_in_another_namespace_is_no_owner",
            elsewhere,
        ),
        both(
            "simulated: a_claim_goes_when_no_pod_uses_it",
            "real: a_claim_goes_when_no_pod_uses_it",
            claim,
        ),
        both(
            "simulated: a_sweep_takes_away_what_nothing_keeps",
            "real: a_sweep_takes_away_what_nothing_keeps",
            swept,
        ),
        both(
            "simulated: a_namespace_ends_when_it_is_empty",
            "real: a_namespace_ends_when_it_is_empty",
            namespace,
        ),
        both(
            "simulated: a_namespace_that_ends_ends_its_pods_first",
            "real: a_namespace_that_ends_ends_its_pods_first",
            pods_first,
        ),
    ];
    cases.into_iter().flatten().collect()
}

const MAPS: &str = "/api/v1/namespaces/ns/configmaps";
const BUCKETS: &str = "/apis/store.tests/v1/namespaces/ns/buckets";

async fn bucket(place: &TestCluster, name: &str) -> Result<Value> {
    let bucket = build_object("store.tests/v1", "Bucket", name, json!({ "spec": {} }));
    place.post(BUCKETS, bucket).await
}

async fn map(place: &TestCluster, name: &str, owners: &[Value]) -> Result<Value> {
    let more = json!({ "metadata": { "ownerReferences": owners } });
    place
        .post(MAPS, build_object("v1", "ConfigMap", name, more))
        .await
}

async fn lost(place: TestCluster) -> Result<()> {
    let (a, b) = (bucket(&place, "a").await?, bucket(&place, "b").await?);
    let one = map(&place, "one", &[owned_by(&a, false)]).await?;
    map(&place, "two", &[owned_by(&a, false), owned_by(&b, false)]).await?;
    map(&place, "grandchild", &[owned_by(&one, false)]).await?;
    place.delete(&format!("{BUCKETS}/a"), "Background").await?;
    place.gone(&core_path("configmaps", "one")).await?;
    place.gone(&core_path("configmaps", "grandchild")).await?;
    let has_one = |o: &Value| {
        o["metadata"]["ownerReferences"]
            .as_array()
            .is_some_and(|a| a.len() == 1)
    };
    let two = place
        .comes_to(
            &core_path("configmaps", "two"),
            "one owner is left",
            has_one,
        )
        .await?;
    ensure!(two["metadata"]["ownerReferences"][0]["uid"] == b["metadata"]["uid"]);
    Ok(())
}

async fn foreground(place: TestCluster) -> Result<()> {
    let a = bucket(&place, "a").await?;
    let held = json!({ "metadata": { "ownerReferences": [owned_by(&a, true)], "finalizers": ["tests/held"] } });
    place
        .post(MAPS, build_object("v1", "ConfigMap", "held", held))
        .await?;
    map(&place, "free", &[owned_by(&a, false)]).await?;
    let owner = format!("{BUCKETS}/a");
    place.delete(&owner, "Foreground").await?;
    let goes = |o: &Value| !o["metadata"]["deletionTimestamp"].is_null();
    place
        .comes_to(
            &core_path("configmaps", "held"),
            "it is being deleted",
            goes,
        )
        .await?;
    place.gone(&core_path("configmaps", "free")).await?;
    let waits = place.wait_present(&owner).await?;
    ensure!(
        waits["metadata"]["finalizers"] == json!(["foregroundDeletion"]),
        "{waits}"
    );
    place
        .patch(
            &core_path("configmaps", "held"),
            json!({ "metadata": { "finalizers": null } }),
        )
        .await?;
    place.gone(&owner).await?;
    place.gone(&core_path("configmaps", "held")).await
}

async fn orphaned(place: TestCluster) -> Result<()> {
    let a = bucket(&place, "a").await?;
    map(&place, "one", &[owned_by(&a, true)]).await?;
    noticed(&place, &a).await?;
    place.delete(&format!("{BUCKETS}/a"), "Orphan").await?;
    place.gone(&format!("{BUCKETS}/a")).await?;
    let alone = |o: &Value| o["metadata"]["ownerReferences"].is_null();
    place
        .comes_to(&core_path("configmaps", "one"), "it has no owner", alone)
        .await?;
    Ok(())
}

/// Returns when the garbage collector knows every config map that was written before. It learns of
/// them in order. It therefore knows them once it has deleted one that is written last and whose
/// owner never existed. A dependent that it does not know yet when it releases those of an owner is
/// not released but deleted afterwards.
async fn noticed(place: &TestCluster, owner: &Value) -> Result<()> {
    let mut absent = owner.clone();
    absent["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    map(place, "last", &[owned_by(&absent, false)]).await?;
    place.gone(&core_path("configmaps", "last")).await
}

async fn never_was(place: TestCluster) -> Result<()> {
    let mut a = bucket(&place, "a").await?;
    a["metadata"]["uid"] = json!("00000000-0000-4000-8000-000000000000");
    map(&place, "one", &[owned_by(&a, false)]).await?;
    place.gone(&core_path("configmaps", "one")).await?;
    place.wait_present(&format!("{BUCKETS}/a")).await?;
    Ok(())
}

async fn elsewhere(place: TestCluster) -> Result<()> {
    let there = build_object("store.tests/v1", "Bucket", "far", json!({ "spec": {} }));
    let far = "/apis/store.tests/v1/namespaces/default/buckets";
    let far = place.post(far, there).await?;
    map(&place, "one", &[owned_by(&far, false)]).await?;
    place.gone(&core_path("configmaps", "one")).await?;
    // The namespace of the owner of a cluster-scoped object is undefined.
    let more = json!({ "metadata": { "ownerReferences": [owned_by(&far, false)] } });
    let volume = json!({ "spec": {
        "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "hostPath": { "path": "/nowhere" },
    } });
    let mut disk = build_object("v1", "PersistentVolume", "disk", more);
    disk["spec"] = volume["spec"].clone();
    place.post("/api/v1/persistentvolumes", disk).await?;
    map(&place, "two", &[owned_by(&far, false)]).await?;
    place.gone(&core_path("configmaps", "two")).await?;
    let disk = place.wait_present("/api/v1/persistentvolumes/disk").await?;
    ensure!(disk["metadata"]["deletionTimestamp"].is_null(), "{disk}");
    Ok(())
}

const CLAIMS: &str = "/api/v1/namespaces/ns/persistentvolumeclaims";

fn a_claim(name: &str) -> Value {
    let resources = json!({ "requests": { "storage": "1Gi" } });
    let spec = json!({ "accessModes": ["ReadWriteOnce"], "resources": resources, "storageClassName": "none" });
    build_object("v1", "PersistentVolumeClaim", name, json!({ "spec": spec }))
}

async fn claim(place: TestCluster) -> Result<()> {
    place.post(CLAIMS, a_claim("used")).await?;
    place.post(CLAIMS, a_claim("free")).await?;
    let volume = json!({ "name": "disk", "persistentVolumeClaim": { "claimName": "used" } });
    let container = json!({ "name": "one", "image": "one" });
    let spec = json!({ "containers": [container], "volumes": [volume], "nodeName": "node-1" });
    let pod = build_object("v1", "Pod", "user", json!({ "spec": spec }));
    place.post("/api/v1/namespaces/ns/pods", pod).await?;
    for name in ["used", "free"] {
        place
            .delete(&format!("{CLAIMS}/{name}"), "Background")
            .await?;
    }
    place.gone(&format!("{CLAIMS}/free")).await?;
    place.wait_present(&format!("{CLAIMS}/used")).await?;
    let user = core_path("pods", "user?gracePeriodSeconds=0");
    place.delete(&user, "Background").await?;
    place.gone(&format!("{CLAIMS}/used")).await
}

/// Without anything that runs.
async fn swept(place: TestCluster) -> Result<()> {
    let place = place.alone();
    let a = bucket(&place, "a").await?;
    let namespace = place.wait_present("/api/v1/namespaces/ns").await?;
    map(&place, "kept", &[owned_by(&namespace, false)]).await?;
    map(&place, "lost", &[owned_by(&a, false)]).await?;
    let claim = place.post(CLAIMS, a_claim("free")).await?;
    map(&place, "of-claim", &[owned_by(&claim, false)]).await?;
    let maps = ApiResource::erase::<ConfigMap>(&());
    let claims = ApiResource::erase::<PersistentVolumeClaim>(&());
    let sweep = Sweep::new(place.client.clone()).over(&maps, true);
    let mut sweep = sweep.over(&claims, true);
    ensure!(!sweep.take_away().await);
    place.delete(&format!("{BUCKETS}/a"), "Background").await?;
    place
        .delete(&format!("{CLAIMS}/free"), "Background")
        .await?;
    ensure!(sweep.take_away().await);
    for (name, stays) in [("kept", true), ("lost", false), ("of-claim", false)] {
        let map = place.get(&core_path("configmaps", name)).await?;
        ensure!(map.is_some() == stays, "{name}: {map:?}");
    }
    ensure!(place.get(&format!("{CLAIMS}/free")).await?.is_none());
    ensure!(!sweep.take_away().await);
    Ok(())
}

async fn namespace(place: TestCluster) -> Result<()> {
    bucket(&place, "a").await?;
    let held = json!({ "metadata": { "finalizers": ["tests/held"] } });
    place
        .post(MAPS, build_object("v1", "ConfigMap", "held", held))
        .await?;
    map(&place, "one", &[]).await?;
    place.delete("/api/v1/namespaces/ns", "Background").await?;
    place.gone(&format!("{BUCKETS}/a")).await?;
    place.gone(&core_path("configmaps", "one")).await?;
    place
        .comes_to("/api/v1/namespaces/ns", "it says what is left", |n| {
            has_condition(
                n,
                "NamespaceContentRemaining",
                "configmaps. has 1 resource instances",
            ) && has_condition(
                n,
                "NamespaceFinalizersRemaining",
                "tests/held in 1 resource instances",
            )
        })
        .await?;
    place
        .patch(
            &core_path("configmaps", "held"),
            json!({ "metadata": { "finalizers": null } }),
        )
        .await?;
    place.gone("/api/v1/namespaces/ns").await
}

/// Returns true if a condition is true and its message contains these words.
fn has_condition(namespace: &Value, kind: &str, words: &str) -> bool {
    let conditions = namespace["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|c| {
        let message = c["message"].as_str().unwrap_or_default();
        c["type"] == kind && c["status"] == "True" && message.contains(words)
    })
}

async fn pods_first(place: TestCluster) -> Result<()> {
    let held = json!({
        "metadata": { "finalizers": ["tests.example/held"] },
        "spec": { "containers": [{ "name": "a", "image": "a:1" }] },
    });
    let pods = "/api/v1/namespaces/ns/pods";
    place
        .post(pods, build_object("v1", "Pod", "held", held))
        .await?;
    map(&place, "one", &[]).await?;
    place.delete("/api/v1/namespaces/ns", "Background").await?;
    // The condition is reported once all Pods are being deleted, and everything else still exists
    // at that time.
    place
        .comes_to("/api/v1/namespaces/ns", "it waits for the Pod", |n| {
            let conditions = n["status"]["conditions"].as_array();
            conditions.is_some_and(|all| all.iter().all(|c| c["status"] == "False"))
        })
        .await?;
    let pod = place.wait_present(&core_path("pods", "held")).await?;
    ensure!(pod["metadata"]["deletionTimestamp"].is_string(), "{pod}");
    let map = place.wait_present(&core_path("configmaps", "one")).await?;
    ensure!(map["metadata"]["deletionTimestamp"].is_null(), "{map}");
    let free = json!({ "metadata": { "finalizers": null } });
    place.patch(&core_path("pods", "held"), free).await?;
    place.gone("/api/v1/namespaces/ns").await
}
