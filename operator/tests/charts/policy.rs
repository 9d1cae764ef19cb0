//! Changes that the token of a node may make, by real tokens on a real API server, under the rights
//! and policies of deploy/install. They are labels of this operator, of Pods of its own node and of
//! volumes of this operator, and the startup taint of its own node. All other changes are refused.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::process::output;
use serde_json::{Value, json};

const NEEDS: &[Need] = &[Need::Binaries];

/// Longer than a policy takes on a machine that compiles as well.
const SOON: Duration = Duration::from_secs(60);

const NAMESPACE: &str = "listener-operator";
const ACCOUNT: &str = "listener-operator-node";
/// Taint of a node whose driver is not ready.
const STARTUP: &str = "listeners.stackable.tech/agent-not-ready";
const MOUNT: &str = "listener.stackable.tech/mnt.c0ffee";

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "b7_a_token_of_a_node_changes_labels_of_ours_alone",
        NEEDS,
        limited,
    )]
}

fn pod(name: &str, namespace: &str, account: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": namespace, "labels": { "app": "web" }, "annotations": { "team": "a" } },
        "spec": {
            "nodeName": node,
            "serviceAccountName": account,
            "containers": [{ "name": "web", "image": "registry.example/web:1" }],
        },
    })
}

fn volume(name: &str, driver: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": { "name": name },
        "spec": {
            "capacity": { "storage": "1" },
            "accessModes": ["ReadWriteMany"],
            "csi": { "driver": driver, "volumeHandle": name },
        },
    })
}

fn apply(server: &ApiServer, object: &Value) -> Result<()> {
    let file = server.folder().join("object.json");
    std::fs::write(&file, object.to_string())?;
    output(server.kubectl().args(["apply", "--filename"]).arg(&file))?;
    Ok(())
}

/// A token, as kubelet gets one for a Pod.
fn token(server: &ApiServer, pod: &str) -> Result<String> {
    let words = ["create", "token", ACCOUNT, "--namespace", NAMESPACE];
    let bound = ["--bound-object-kind=Pod", "--bound-object-name", pod];
    let token = output(server.kubectl().args(words).args(bound))?;
    Ok(token.trim().to_owned())
}

/// Sends a patch with the token.
fn patch(server: &ApiServer, token: &str, object: &str, patch: &Value) -> Result<Output> {
    let mut kubectl = server.kubectl();
    kubectl.env("KUBECONFIG", "/dev/null").args([
        "--server",
        &server.url(),
        "--insecure-skip-tls-verify",
        "--token",
        token,
    ]);
    let words = ["patch", object, "--type=merge", "--patch"];
    let output = kubectl.args(words).arg(patch.to_string()).output();
    output.context("cannot run kubectl")
}

fn labels(labels: Value) -> Value {
    json!({ "metadata": { "labels": labels } })
}

/// Object, patch, and the expected message; empty if the patch is allowed.
type Row = (&'static str, Value, &'static str);

fn rows() -> Vec<Row> {
    let image = json!({ "spec": { "containers": [{ "name": "web", "image": "registry.example/evil:1" }] } });
    let owned = json!({ "metadata": { "ownerReferences": [{ "apiVersion": "v1", "kind": "Node", "name": "a", "uid": "1" }] } });
    let labels_alone = "nothing but its labels may change";
    let ours = "listeners.stackable.tech/listener-name";
    vec![
        ("pod/here", labels(json!({ MOUNT: "web" })), ""),
        ("pod/here", labels(json!({ MOUNT: null })), ""),
        ("pod/bare", labels(json!({ MOUNT: "web" })), ""),
        (
            "pod/here",
            labels(json!({ "app": "other" })),
            "only those may change",
        ),
        (
            "pod/here",
            labels(json!({ "app": null })),
            "only those may change",
        ),
        (
            "pod/here",
            labels(json!({ "new": "" })),
            "only those may change",
        ),
        ("pod/here", image, labels_alone),
        (
            "pod/here",
            json!({ "metadata": { "annotations": { "team": "b" } } }),
            labels_alone,
        ),
        (
            "pod/here",
            json!({ "metadata": { "finalizers": ["a.example/b"] } }),
            labels_alone,
        ),
        ("pod/here", owned, labels_alone),
        (
            "pod/there",
            labels(json!({ MOUNT: "web" })),
            "the Pod runs on node b, and the token is of node a",
        ),
        ("pv/ours", labels(json!({ ours: "web" })), ""),
        (
            "pv/ours",
            labels(json!({ "other": "web" })),
            "that name its Listener",
        ),
        (
            "pv/ours",
            json!({ "spec": { "persistentVolumeReclaimPolicy": "Delete" } }),
            labels_alone,
        ),
        (
            "pv/theirs",
            labels(json!({ ours: "web" })),
            "no volume of this driver",
        ),
    ]
}

fn taint(key: &str) -> Value {
    json!({ "key": key, "effect": "NoSchedule" })
}

/// Changes of nodes. The API server itself adds the taint `not-ready` to each that is created.
fn node_rows() -> Vec<Row> {
    let not_ready = taint("node.kubernetes.io/not-ready");
    let others = json!([not_ready]);
    let more = json!([not_ready, taint("a.example/b")]);
    let removed = json!({ "spec": { "taints": others } });
    let labelled = json!({ "spec": { "taints": others }, "metadata": { "labels": { "a": "b" } } });
    let cordoned = json!({ "spec": { "taints": others, "unschedulable": true } });
    let taints_alone = "nothing but its taints may change";
    let this_taint = "of its taints only listeners.stackable.tech/agent-not-ready may go";
    vec![
        ("node/a", labelled, taints_alone),
        ("node/a", cordoned, taints_alone),
        ("node/a", json!({ "spec": { "taints": null } }), this_taint),
        ("node/a", json!({ "spec": { "taints": more } }), this_taint),
        (
            "node/b",
            removed.clone(),
            "it is node b, and the token is of node a",
        ),
        ("node/a", removed, ""),
    ]
}

/// The right that removing the startup taint needs, as docs/install.md has it.
fn let_nodes_be_patched(server: &ApiServer) -> Result<()> {
    let group = "rbac.authorization.k8s.io";
    let version = format!("{group}/v1");
    let name = "listener-operator-node-taints";
    let rule = json!({ "apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"] });
    let role = json!({ "apiVersion": version, "kind": "ClusterRole", "metadata": { "name": name }, "rules": [rule] });
    let binding = json!({
        "apiVersion": version,
        "kind": "ClusterRoleBinding",
        "metadata": { "name": name },
        "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE }],
    });
    apply(server, &role)?;
    apply(server, &binding)
}

async fn limited() -> Result<()> {
    let server = ApiServer::start().await?;
    let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/install");
    output(server.kubectl().args(["apply", "--filename"]).arg(install))?;
    for node in ["a", "b"] {
        apply(
            &server,
            &json!({
                "apiVersion": "v1", "kind": "Node", "metadata": { "name": node },
                "spec": { "taints": [taint(STARTUP)] },
            }),
        )?;
    }
    apply(&server, &pod("driver", NAMESPACE, ACCOUNT, "a"))?;
    for (name, node) in [("here", "a"), ("there", "b")] {
        apply(&server, &pod(name, "default", "default", node))?;
    }
    let mut bare = pod("bare", "default", "default", "a");
    bare["metadata"] = json!({ "name": "bare", "namespace": "default" });
    apply(&server, &bare)?;
    apply(&server, &volume("ours", "listeners.stackable.tech"))?;
    apply(&server, &volume("theirs", "disks.example"))?;
    let_nodes_be_patched(&server)?;
    let token = token(&server, "driver")?;
    // A policy is heeded some moments after it was created.
    eventually("the policies are heeded", SOON, async || {
        let changed = labels(json!({ "app": "web", "probe": "" }));
        let pod = patch(&server, &token, "pod/there", &changed)?;
        let node = patch(&server, &token, "node/b", &changed)?;
        let told = String::from_utf8_lossy(&node.stderr);
        Ok((!pod.status.success() && told.contains("ValidatingAdmissionPolicy")).then_some(()))
    })
    .await?;
    for (object, change, refused) in rows().into_iter().chain(node_rows()) {
        let output = patch(&server, &token, object, &change)?;
        let told = String::from_utf8_lossy(&output.stderr);
        let is_as_said = match refused {
            "" => output.status.success(),
            refused => !output.status.success() && told.contains(refused),
        };
        ensure!(is_as_said, "{object} with {change}: {told}");
    }
    Ok(())
}
