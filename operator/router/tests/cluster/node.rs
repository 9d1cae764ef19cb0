//! The router on a node: its image, as a Deployment runs it, between a Service and a Pod.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::{Api, DeleteParams, ListParams};
use kube::{Client, ResourceExt};
use lifecycle_router::state::client::SERVER_NAME;
use lifecycle_tests::cluster::{Cluster, Program, WORKLOAD, image_of};
use lifecycle_tests::harness::eventually;
use lifecycle_tests::process::output;
use serde_json::{Value, json};

use crate::authority::{Authority, profile};
use crate::site::STATE;
use crate::support::{connector, listener};

/// Longer than anything takes on a machine that compiles as well.
const PATIENCE: Duration = Duration::from_secs(180);

const NAME: &str = "skupper-router";

/// Of the router.
const PORT: u16 = 1024;

/// A Pod of the router serves through a Service, and so does the one that follows it.
pub(crate) async fn replaced() -> Result<()> {
    let router = image_of(
        Program::Router,
        Path::new(env!("CARGO_BIN_EXE_lifecycle-router")),
    )?;
    let cluster = Cluster::start(1).await?;
    cluster.import(&router)?;
    for name in ["backend", "client"] {
        apply(&cluster, &workload(name))?;
    }
    let pods: Api<Pod> = Api::namespaced(cluster.client(), "default");
    let address = eventually("the backend has an address", PATIENCE, async || {
        let pod = pods.get("backend").await?;
        Ok(pod.status.and_then(|status| status.pod_ip))
    });
    let backend = format!("{}:8080", address.await?).parse()?;
    let document = json!([
        profile(STATE),
        listener("front", PORT, "k"),
        connector("back", backend, "k")
    ]);
    for object in site(&document) {
        apply(&cluster, &object)?;
    }
    let services: Api<Service> = Api::namespaced(cluster.client(), "default");
    let front = services.get("front").await?.spec.unwrap_or_default();
    let way = format!(
        "{}:80",
        front.cluster_ip.context("the Service has no address")?
    );
    let told = |error: anyhow::Error| {
        let mut logs = cluster.kubectl();
        logs.args(["logs", "--tail=40", "deployment/skupper-router"]);
        let said = output(&mut logs).unwrap_or_else(|error| format!("{error:#}"));
        error.context(said)
    };
    answers(&cluster, &way).await.map_err(told)?;
    let mut gone = Vec::new();
    for _ in 0..2 {
        let ready = ready(&cluster.client()).await.map_err(told)?;
        ensure!(!gone.contains(&ready), "{ready} is still there");
        pods.delete(&ready, &DeleteParams::default()).await?;
        gone.push(ready);
        eventually("another Pod is ready", PATIENCE, async || {
            let ready = self::ready(&cluster.client()).await?;
            Ok((!gone.contains(&ready)).then_some(()))
        })
        .await
        .map_err(told)?;
        answers(&cluster, &way).await.map_err(told)?;
    }
    // It wrote nothing, and needed no right that it does not have.
    let user = format!("system:serviceaccount:default:{NAME}");
    let log = cluster.audit().await?.of_user(&user);
    let other = log.only(|entry| !["list", "watch"].contains(&entry.verb.as_str()));
    ensure!(!log.is_empty() && other.is_empty(), "{}", other.lines());
    cluster.stop()
}

/// The name of the one Pod of the router that is ready.
async fn ready(client: &Client) -> Result<String> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let ours = ListParams::default().labels(&format!("app={NAME}"));
    eventually("a Pod of the router is ready", PATIENCE, async || {
        let all = pods.list(&ours).await?;
        let ready = all.iter().find(|pod| {
            let conditions = pod
                .status
                .iter()
                .flat_map(|status| &status.conditions)
                .flatten();
            let mut ready = conditions.filter(|found| found.type_ == "Ready");
            pod.metadata.deletion_timestamp.is_none() && ready.any(|found| found.status == "True")
        });
        Ok(ready.map(ResourceExt::name_any))
    })
    .await
}

/// Sends requests from a Pod until the backend answers through the Service.
async fn answers(cluster: &Cluster, way: &str) -> Result<()> {
    eventually(
        "the backend answers through the Service",
        PATIENCE,
        async || {
            let mut ask = cluster.kubectl();
            let said = ask
                .args(["exec", "client", "--", "/workload", "get", way])
                .output()?;
            Ok(said.stdout.starts_with(b"backend answers ").then_some(()))
        },
    )
    .await
}

fn apply(cluster: &Cluster, object: &Value) -> Result<()> {
    let file = cluster.folder().join("object.json");
    std::fs::write(&file, object.to_string())?;
    output(cluster.kubectl().args(["apply", "--filename"]).arg(file)).map(drop)
}

fn workload(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{ "name": "serve", "image": WORKLOAD, "imagePullPolicy": "Never", "args": ["serve", "8080"] }],
        },
    })
}

/// Returns the objects that a Site makes: account, rights, document, credentials of the state,
/// Deployment, and the Service of a host.
fn site(document: &Value) -> [Value; 7] {
    let authority = Authority::edwards("site");
    let state = authority.issue_edwards(SERVER_NAME);
    let named = json!({ "name": NAME });
    let rule = |resource: &str, name: &str| json!({ "apiGroups": [""], "resources": [resource], "resourceNames": [name], "verbs": ["get", "list", "watch"] });
    let (rbac, labels) = ("rbac.authorization.k8s.io", json!({ "app": NAME }));
    [
        json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": named }),
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "Role", "metadata": named,
            "rules": [rule("configmaps", NAME), rule("secrets", STATE)] }),
        json!({ "apiVersion": format!("{rbac}/v1"), "kind": "RoleBinding", "metadata": named,
            "roleRef": { "apiGroup": rbac, "kind": "Role", "name": NAME },
            "subjects": [{ "kind": "ServiceAccount", "name": NAME, "namespace": "default" }] }),
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": named,
            "data": { "skrouterd.json": document.to_string() } }),
        json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": STATE },
            "stringData": { "ca.crt": authority.pem(), "tls.crt": state.chain, "tls.key": state.key } }),
        json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "front" },
            "spec": { "selector": labels, "ports": [{ "port": 80, "targetPort": PORT }] } }),
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": named, "spec": {
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod() },
        } }),
    ]
}

fn pod() -> Value {
    let variable = |name: &str, path: &str| json!({ "name": name, "valueFrom": { "fieldRef": { "fieldPath": path } } });
    json!({
        "serviceAccountName": NAME,
        "terminationGracePeriodSeconds": 5,
        "securityContext": { "runAsNonRoot": true, "runAsUser": 65534, "runAsGroup": 65534,
            "fsGroup": 65534, "seccompProfile": { "type": "RuntimeDefault" } },
        "containers": [{
            "name": "router", "image": Program::Router.image_name(), "imagePullPolicy": "Never",
            "args": ["--kubernetes", "$(NAMESPACE)/skupper-router", "--cache", "/cache", "--grace", "2",
                "--state", "0.0.0.0:9443", "--state-profile", STATE, "--metrics", "0.0.0.0:9090"],
            "env": [variable("NAMESPACE", "metadata.namespace"), variable("ROUTER_BIND_ADDRESS", "status.podIP")],
            "readinessProbe": { "httpGet": { "path": "/healthz", "port": 9090 }, "periodSeconds": 1 },
            "securityContext": { "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                "capabilities": { "drop": ["ALL"] } },
            "resources": { "limits": { "memory": "64Mi" } },
            "volumeMounts": [{ "name": "cache", "mountPath": "/cache" }],
        }],
        "volumes": [{ "name": "cache", "emptyDir": {} }],
    })
}
