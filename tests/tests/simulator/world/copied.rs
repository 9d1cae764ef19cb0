//! Copy of a cluster. It answers as the cluster does, and writes to it change nothing in the
//! cluster.

use anyhow::{Result, ensure};
use kube::Client;
use kube::core::Request;
use kube::core::params::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use lifecycle_simulator::{Mirror, Server, User};
use lifecycle_tests::harness::{Case, case};
use serde_json::{Value, json};

use super::place::{TestCluster, both, build_object, core_path};

const MAPS: &str = "/api/v1/namespaces/ns/configmaps";
const BUCKETS: &str = "/apis/store.tests/v1/namespaces/ns/buckets";

pub(crate) fn cases() -> Vec<Case> {
    let few = case(
        "a_copy_needs_to_read_what_is_asked_for_alone",
        &[],
        few_rights,
    );
    let cases = [
        both(
            "simulated: a_copy_shows_what_there_is",
            "real: a_copy_shows_what_there_is",
            shows,
        ),
        both(
            "simulated: what_is_written_to_a_copy_stays_in_it",
            "real: what_is_written_to_a_copy_stays_in_it",
            writes_stay_local,
        ),
    ];
    cases.into_iter().flatten().chain([few]).collect()
}

/// Creates two maps and a bucket in a place without running controllers.
async fn furnished(place: TestCluster) -> Result<TestCluster> {
    let place = place.alone();
    for name in ["one", "two"] {
        let data = json!({ "data": { "a": name }, "metadata": { "finalizers": ["tests/held"] } });
        place
            .post(MAPS, build_object("v1", "ConfigMap", name, data))
            .await?;
    }
    let bucket = build_object("store.tests/v1", "Bucket", "b", json!({ "spec": {} }));
    place.post(BUCKETS, bucket).await?;
    Ok(place)
}

/// Returns the content of a list, without versions, which are specific to each server.
async fn list(client: &Client, path: &str) -> Result<Value> {
    let request = Request::new(path).list(&ListParams::default())?;
    let mut list: Value = client.request(request).await?;
    let mut names = Vec::new();
    for object in list["items"].as_array_mut().into_iter().flatten() {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("resourceVersion");
        }
        names.push(object.take());
    }
    Ok(names.into())
}

async fn shows(place: TestCluster) -> Result<()> {
    let place = furnished(place).await?;
    let mirror = Mirror::from_client(place.client.clone()).await?;
    let copy = mirror.client();
    let all = "/api/v1/configmaps";
    for path in [BUCKETS, MAPS, all, "/api/v1/namespaces", "/api/v1/services"] {
        let (there, here) = (list(&place.client, path).await?, list(&copy, path).await?);
        ensure!(there == here, "{path}: {there}\nin the copy: {here}");
        ensure!(
            there.as_array().is_some_and(|all| !all.is_empty()),
            "{path}"
        );
    }
    ensure!(mirror.unread().is_empty() && mirror.writes().is_empty());
    ensure!(mirror.requests() == (5, 0), "{:?}", mirror.requests());
    Ok(())
}

async fn writes_stay_local(place: TestCluster) -> Result<()> {
    let place = furnished(place).await?;
    let before = list(&place.client, MAPS).await?;
    let mirror = Mirror::from_client(place.client.clone()).await?;
    let copy = mirror.client();
    let maps = Request::new(MAPS);
    // The objects are one that has not been read yet, one that is new, and one that a finalizer
    // keeps.
    let patch = Patch::Merge(json!({ "data": { "a": "other" } }));
    let patched: Value = copy
        .request(maps.patch("one", &PatchParams::default(), &patch)?)
        .await?;
    ensure!(patched["data"]["a"] == "other", "{patched}");
    let new = build_object("v1", "ConfigMap", "three", json!({}));
    let created = maps.create(&PostParams::default(), serde_json::to_vec(&new)?)?;
    let created: Value = copy.request(created).await?;
    ensure!(created["metadata"]["uid"].is_string(), "{created}");
    let deleted: Value = copy
        .request(maps.delete("two", &DeleteParams::default())?)
        .await?;
    ensure!(
        !deleted["metadata"]["deletionTimestamp"].is_null(),
        "{deleted}"
    );
    // A later copy does not overwrite a written object.
    let here = list(&copy, MAPS).await?;
    let find = |name: &str| {
        here.as_array()
            .into_iter()
            .flatten()
            .find(|o| o["metadata"]["name"] == name)
    };
    ensure!(
        find("one").is_some_and(|one| one["data"]["a"] == "other"),
        "{here}"
    );
    ensure!(find("three").is_some(), "{here}");
    // Nor by a list of more than that.
    list(&copy, "/api/v1/configmaps").await?;
    ensure!(list(&copy, MAPS).await? == here, "{here}");
    ensure!(
        list(&place.client, MAPS).await? == before,
        "the cluster was written to"
    );
    let wrote = mirror.writes();
    let names: Vec<&str> = wrote.iter().map(|write| write.name.as_str()).collect();
    ensure!(names == ["one", "three", "two"], "{names:?}");
    ensure!(
        wrote[0]
            .before
            .as_ref()
            .is_some_and(|one| one["data"]["a"] == "one")
    );
    ensure!(wrote[1].before.is_none() && wrote[1].after.is_some());
    ensure!(
        wrote
            .iter()
            .all(|write| write.kind == "ConfigMap" && write.refusal.is_none())
    );
    // Repeats the check against the existing objects.
    place.wait_present(&core_path("configmaps", "one")).await?;
    Ok(())
}

/// Checks that a user without permission to read namespaces can still write into them. Resources
/// that the user may not read are reported.
async fn few_rights() -> Result<()> {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let group = "rbac.authorization.k8s.io";
    for (path, object) in [
        (
            "/api/v1/namespaces",
            build_object("v1", "Namespace", "ns", json!({})),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            build_object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                "reader",
                json!({ "rules": [
                { "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"] },
                { "apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["list"] },
            ] }),
            ),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            build_object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRoleBinding",
                "reader",
                json!({
                    "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": "reader" },
                    "subjects": [{ "apiGroup": group, "kind": "User", "name": "reader" }],
                }),
            ),
        ),
    ] {
        let create =
            Request::new(path).create(&PostParams::default(), serde_json::to_vec(&object)?)?;
        admin.request::<Value>(create).await?;
    }
    server.enforce_rbac(true);
    let mirror = Mirror::from_client(server.client(&User::new("reader", &[]))).await?;
    let copy = mirror.client();
    let new = serde_json::to_vec(&build_object("v1", "ConfigMap", "one", json!({})))?;
    let created = Request::new(MAPS).create(&PostParams::default(), new)?;
    let created: Value = copy.request(created).await?;
    ensure!(created["metadata"]["name"] == "one", "{created}");
    ensure!(mirror.unread().is_empty(), "{:?}", mirror.unread());
    let secrets = list(&copy, "/api/v1/secrets").await?;
    ensure!(secrets == json!([]), "{secrets}");
    let unread = mirror.unread();
    ensure!(unread.len() == 1 && unread[0].forbidden, "{unread:?}");
    ensure!(unread[0].resource == "secrets", "{unread:?}");
    Ok(())
}
