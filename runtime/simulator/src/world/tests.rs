//! Tests of the controllers against the simulated server, on paused time.

use std::time::Duration;

use http::Method;
use kube::Client;
use serde_json::{Value, json};

use super::World;
use super::kinds::{Kind, ObjectKey};
use super::send::{JSON, send};
use crate::server::{Server, User};

const SECOND: Duration = Duration::from_secs(1);
const MERGE: &str = "application/merge-patch+json";

/// A server with everything around it, in a task of its own.
struct Cluster {
    client: Client,
    world: tokio::task::JoinHandle<()>,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.world.abort();
    }
}

impl Cluster {
    fn start() -> Self {
        let client = Server::new(1).client(&User::admin());
        let world = tokio::spawn(World::full().run(client.clone()));
        Self { client, world }
    }

    async fn make(&self, key: &ObjectKey, more: Value) -> Value {
        let mut object = key.kind.object(key);
        json_patch::merge(&mut object, &more);
        let made = send(
            &self.client,
            Method::POST,
            &key.collection(),
            (JSON, &object),
        )
        .await;
        made.unwrap_or_else(|error| panic!("{object}: {error}"))
    }

    async fn patch(&self, key: &ObjectKey, patch: Value) {
        let patched = send(&self.client, Method::PATCH, &key.path(), (MERGE, &patch)).await;
        patched.unwrap_or_else(|error| panic!("{patch}: {error}"));
    }

    async fn delete(&self, key: &ObjectKey) {
        let deleted = send(
            &self.client,
            Method::DELETE,
            &key.path(),
            (JSON, &Value::Null),
        )
        .await;
        deleted.unwrap();
    }

    async fn get(&self, path: &str) -> Option<Value> {
        let found = send(&self.client, Method::GET, path, (JSON, &Value::Null)).await;
        found.ok()
    }

    async fn list(&self, kind: &str) -> Vec<Value> {
        let all = self.get(&Kind::from_name(kind).path(None)).await.unwrap();
        all["items"].as_array().cloned().unwrap_or_default()
    }

    /// The images of all Pods, in order of their names.
    async fn images(&self) -> Vec<String> {
        let pods = self.list("Pod").await;
        let image = |pod: &Value| {
            pod["spec"]["containers"][0]["image"]
                .as_str()
                .map(str::to_owned)
        };
        pods.iter().filter_map(image).collect()
    }

    /// Waits until something holds.
    async fn wait(&self, what: &str, holds: impl AsyncFn(&Self) -> bool) {
        for _ in 0..200 {
            if holds(self).await {
                return;
            }
            tokio::time::sleep(SECOND).await;
        }
        panic!("not: {what}");
    }
}

fn key(kind: &str, name: &str) -> ObjectKey {
    ObjectKey::new(Kind::from_name(kind), Some("default"), name)
}

fn owned_by(owner: &Value) -> Value {
    let metadata = &owner["metadata"];
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"],
    }])
}

fn template(image: &str) -> Value {
    let containers = json!([{ "name": "c", "image": image }]);
    json!({ "metadata": { "labels": { "a": "b" } }, "spec": { "containers": containers } })
}

fn workload(image: &str, more: Value) -> Value {
    let mut object = json!({ "spec": { "selector": { "matchLabels": { "a": "b" } }, "template": template(image) } });
    json_patch::merge(&mut object, &more);
    object
}

fn set_image(image: &str) -> Value {
    json!({ "spec": { "template": template(image) } })
}

/// The least that an object of a built-in kind needs.
fn least(kind: &str) -> Value {
    let job = || {
        let mut template = template("i");
        template["spec"]["restartPolicy"] = "Never".into();
        json!({ "spec": { "template": template } })
    };
    let hook = json!([{ "name": "a.b.c", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": { "url": "https://example.com" } }]);
    let reference =
        |kind: &str| json!({ "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": "r" });
    match kind {
        "Pod" => json!({ "spec": template("i")["spec"] }),
        "PersistentVolume" => json!({ "spec": { "capacity": { "storage": "1Gi" },
            "accessModes": ["ReadWriteOnce"], "hostPath": { "path": "/a" } } }),
        "PersistentVolumeClaim" => json!({ "spec": { "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": "1Gi" } } } }),
        "PodTemplate" => json!({ "template": template("i") }),
        "ReplicationController" => {
            json!({ "spec": { "replicas": 0, "selector": { "a": "b" }, "template": template("i") } })
        }
        "Service" => json!({ "spec": { "ports": [{ "port": 80 }] } }),
        "Event" => json!({ "involvedObject": { "namespace": "default" } }),
        "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet" => workload("i", json!({})),
        "ControllerRevision" => json!({ "revision": 1, "data": {} }),
        "HorizontalPodAutoscaler" => json!({ "spec": { "maxReplicas": 1,
            "scaleTargetRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": "d" } } }),
        "Job" => job(),
        "CronJob" => json!({ "spec": { "schedule": "0 3 * * *", "jobTemplate": job() } }),
        "EndpointSlice" => json!({ "addressType": "IPv4", "endpoints": [], "ports": [] }),
        "Ingress" => json!({ "spec": { "rules": [{ "host": "a" }] } }),
        "NetworkPolicy" => json!({ "spec": { "podSelector": {} } }),
        "RuntimeClass" => json!({ "handler": "h" }),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
            json!({ "webhooks": hook })
        }
        "ClusterRoleBinding" => json!({ "roleRef": reference("ClusterRole") }),
        "RoleBinding" => json!({ "roleRef": reference("Role") }),
        "PriorityClass" => json!({ "value": 1 }),
        "CSINode" => json!({ "spec": { "drivers": [] } }),
        "CSIDriver" => json!({ "spec": {} }),
        "CSIStorageCapacity" => json!({ "storageClassName": "s" }),
        "StorageClass" => json!({ "provisioner": "p" }),
        "VolumeAttachment" => json!({ "spec": { "attacher": "a", "nodeName": "n",
            "source": { "persistentVolumeName": "v" } } }),
        "CustomResourceDefinition" => definition("v1"),
        _ => json!({}),
    }
}

/// A definition of the kind `Thing` in two versions, one of which is stored.
fn definition(stored: &str) -> Value {
    let version = |name: &str| json!({ "name": name, "served": true, "storage": name == stored, "schema": { "openAPIV3Schema": { "type": "object" } } });
    json!({
        "metadata": { "name": "things.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": "things", "kind": "Thing" },
            "versions": [version("v1"), version("v2")],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn an_object_of_every_kind_goes_with_its_owner() {
    let cluster = Cluster::start();
    let mut owner_key = key("ClusterRole", "owner");
    owner_key.namespace = None;
    let owner = cluster.make(&owner_key, json!({ "rules": [] })).await;
    let mut paths = Vec::new();
    for kind in Kind::built_in() {
        let name = match kind.kind.as_str() {
            "CustomResourceDefinition" => "things.example.com",
            _ => "owned",
        };
        let at = ObjectKey::new(kind, Some("default"), name);
        let mut object = least(&at.kind.kind);
        object["metadata"]["name"] = name.into();
        object["metadata"]["ownerReferences"] = owned_by(&owner);
        cluster.make(&at, object).await;
        paths.push(at.path());
    }
    let thing = Kind::defined(
        &cluster
            .get(
                paths
                    .iter()
                    .find(|p| p.ends_with("things.example.com"))
                    .unwrap(),
            )
            .await
            .unwrap(),
    )
    .unwrap();
    let thing = ObjectKey::new(thing, Some("default"), "owned");
    cluster
        .make(
            &thing,
            json!({ "metadata": { "ownerReferences": owned_by(&owner) } }),
        )
        .await;
    paths.push(thing.path());
    tokio::time::sleep(SECOND).await;
    cluster.delete(&owner_key).await;
    for path in paths {
        cluster
            .wait(&format!("{path} is gone"), async |cluster| {
                cluster.get(&path).await.is_none()
            })
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_custom_object_is_an_owner_also_after_its_kind_is_stored_in_another_version() {
    let cluster = Cluster::start();
    let mut at = key("CustomResourceDefinition", "things.example.com");
    at.namespace = None;
    let made = cluster.make(&at, definition("v1")).await;
    let kind = Kind::defined(&cluster.get(&at.path()).await.unwrap()).unwrap();
    let thing = ObjectKey::new(kind, Some("default"), "a");
    let owner = cluster.make(&thing, json!({})).await;
    tokio::time::sleep(SECOND).await;
    drop(made);
    let stored = definition("v2")["spec"]["versions"].clone();
    cluster
        .patch(&at, json!({ "spec": { "versions": stored } }))
        .await;
    tokio::time::sleep(SECOND).await;
    let map = key("ConfigMap", "m");
    cluster
        .make(
            &map,
            json!({ "metadata": { "ownerReferences": owned_by(&owner) } }),
        )
        .await;
    tokio::time::sleep(30 * SECOND).await;
    assert!(cluster.get(&map.path()).await.is_some());
    cluster.delete(&thing).await;
    cluster
        .wait("the map is gone", async |cluster| {
            cluster.get(&map.path()).await.is_none()
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn an_owner_in_another_namespace_is_published() {
    let cluster = Cluster::start();
    let owner = cluster.make(&key("ConfigMap", "owner"), json!({})).await;
    tokio::time::sleep(SECOND).await;
    let child = json!({ "metadata": { "ownerReferences": owned_by(&owner) } });
    let secret = ObjectKey::new(Kind::from_name("Secret"), Some("kube-public"), "child");
    let role = ObjectKey::new(Kind::from_name("ClusterRole"), None, "child");
    cluster.make(&secret, child.clone()).await;
    cluster.make(&role, child).await;
    cluster
        .wait("the child is gone", async |cluster| {
            cluster.get(&secret.path()).await.is_none()
        })
        .await;
    assert!(cluster.get(&role.path()).await.is_some());
    let events = cluster.list("Event").await;
    let mut found: Vec<(&str, &str)> = events
        .iter()
        .filter(|event| event["reason"] == "OwnerRefInvalidNamespace")
        .filter_map(|event| {
            Some((
                event["metadata"]["namespace"].as_str()?,
                event["message"].as_str()?,
            ))
        })
        .collect();
    found.sort_unstable();
    let uid = owner["metadata"]["uid"].as_str().unwrap();
    let message = |namespace: &str| {
        format!(
            "ownerRef [v1/ConfigMap, namespace: {namespace}, name: owner, uid: {uid}] does not exist in namespace {namespace:?}"
        )
    };
    let (in_none, in_public) = (message(""), message("kube-public"));
    assert_eq!(
        found,
        [
            ("default", in_none.as_str()),
            ("kube-public", in_public.as_str())
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stateful_set_replaces_its_pods_from_the_last_to_the_first() {
    let cluster = Cluster::start();
    let at = key("StatefulSet", "web");
    let more = json!({ "spec": { "replicas": 3, "serviceName": "web" } });
    cluster.make(&at, workload("i:1", more)).await;
    let settles = async |updated: i64| {
        cluster
            .wait("it is settled", async |cluster| {
                let set = cluster.get(&at.path()).await.unwrap();
                let status = &set["status"];
                status["observedGeneration"] == set["metadata"]["generation"]
                    && status["readyReplicas"] == 3
                    && status["updatedReplicas"] == updated
            })
            .await;
        cluster.get(&at.path()).await.unwrap()["status"].clone()
    };
    let first = settles(3).await;
    assert_eq!(first["currentRevision"], first["updateRevision"]);
    let rolling = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 2 } } } });
    cluster.patch(&at, rolling).await;
    cluster.patch(&at, set_image("i:2")).await;
    let status = settles(1).await;
    assert_ne!(status["currentRevision"], status["updateRevision"]);
    assert_eq!(status["currentRevision"], first["currentRevision"]);
    assert_eq!(cluster.images().await, ["i:1", "i:1", "i:2"]);
    // A Pod below the partition comes back with the template that it had.
    cluster.delete(&key("Pod", "web-0")).await;
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(cluster.images().await, ["i:1", "i:1", "i:2"]);
    let rolling = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 0 } } } });
    cluster.patch(&at, rolling).await;
    let status = settles(3).await;
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    assert_eq!(cluster.images().await, ["i:2", "i:2", "i:2"]);
    // The first template again is the first revision again.
    cluster.patch(&at, set_image("i:1")).await;
    tokio::time::sleep(SECOND).await;
    assert_eq!(settles(3).await["updateRevision"], first["updateRevision"]);
    assert_eq!(cluster.list("ControllerRevision").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_updated_by_deletion_replaces_nothing_by_itself() {
    for kind in ["StatefulSet", "DaemonSet"] {
        let cluster = Cluster::start();
        let at = key(kind, "web");
        let more = json!({ "spec": { "updateStrategy": { "type": "OnDelete" } } });
        cluster.make(&at, workload("i:1", more)).await;
        tokio::time::sleep(30 * SECOND).await;
        let count = cluster.images().await.len();
        cluster.patch(&at, set_image("i:2")).await;
        tokio::time::sleep(30 * SECOND).await;
        assert_eq!(cluster.images().await, vec!["i:1"; count]);
        let pods = cluster.list("Pod").await;
        let name = pods[0]["metadata"]["name"].as_str().unwrap();
        cluster.delete(&key("Pod", name)).await;
        tokio::time::sleep(30 * SECOND).await;
        let images = cluster.images().await;
        assert_eq!(images.len(), count);
        assert_eq!(images.iter().filter(|image| *image == "i:2").count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_set_replaces_its_pods() {
    let cluster = Cluster::start();
    let at = key("DaemonSet", "agent");
    cluster.make(&at, workload("i:1", json!({}))).await;
    let settles = async || {
        cluster
            .wait("it is settled", async |cluster| {
                let set = cluster.get(&at.path()).await.unwrap();
                let status = &set["status"];
                status["observedGeneration"] == set["metadata"]["generation"]
                    && status["numberReady"] == 2
                    && status["updatedNumberScheduled"] == 2
            })
            .await;
    };
    settles().await;
    cluster.patch(&at, set_image("i:2")).await;
    settles().await;
    assert_eq!(cluster.images().await, ["i:2", "i:2"]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_deployment_is_not_rolled_out() {
    let cluster = Cluster::start();
    let at = key("Deployment", "calm");
    let more = json!({ "spec": { "replicas": 2 } });
    cluster.make(&at, workload("i:1", more)).await;
    let runs = async |images: &[&str]| {
        cluster
            .wait(&format!("{images:?} run"), async |cluster| {
                cluster.images().await == images
            })
            .await;
    };
    let reason = async || {
        let deployment = cluster.get(&at.path()).await.unwrap();
        let all = deployment["status"]["conditions"].as_array().cloned();
        let mut all = all.unwrap_or_default().into_iter();
        let found = all.find(|one| one["type"] == "Progressing").unwrap();
        (found["status"].clone(), found["reason"].clone())
    };
    runs(&["i:1", "i:1"]).await;
    cluster
        .patch(&at, json!({ "spec": { "paused": true } }))
        .await;
    cluster.patch(&at, set_image("i:2")).await;
    tokio::time::sleep(30 * SECOND).await;
    runs(&["i:1", "i:1"]).await;
    assert_eq!(cluster.list("ReplicaSet").await.len(), 1);
    assert_eq!(
        reason().await,
        (json!("Unknown"), json!("DeploymentPaused"))
    );
    cluster
        .patch(&at, json!({ "spec": { "replicas": 3 } }))
        .await;
    runs(&["i:1", "i:1", "i:1"]).await;
    cluster
        .patch(&at, json!({ "spec": { "paused": null } }))
        .await;
    runs(&["i:2", "i:2", "i:2"]).await;
    assert_eq!(reason().await.0, json!("True"));
    assert_eq!(cluster.list("ReplicaSet").await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_that_recreates_never_runs_two_templates() {
    let cluster = Cluster::start();
    let at = key("Deployment", "one");
    let more = json!({ "spec": { "replicas": 2, "strategy": { "type": "Recreate" } } });
    cluster.make(&at, workload("i:1", more)).await;
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(cluster.images().await, ["i:1", "i:1"]);
    cluster.patch(&at, set_image("i:2")).await;
    for _ in 0..30 {
        let images = cluster.images().await;
        assert!(images.windows(2).all(|two| two[0] == two[1]), "{images:?}");
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(cluster.images().await, ["i:2", "i:2"]);
}
