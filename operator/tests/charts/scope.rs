//! The Listener operator limited to some namespaces, with the rights that the chart grants it
//! there, on a real API server. It serves those namespaces, does not read others, and is never
//! refused.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::audit::Log;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::{Process, output};
use serde_json::{Value, json};

use crate::folders::chart;

const NEEDS: &[Need] = &[Need::Binaries, Need::Helm];

/// Longer than anything takes that happens at all.
const SOON: Duration = Duration::from_secs(60);

const NAMESPACE: &str = "operators";
const RELEASE: &str = "listener-operator";
/// The namespaces that are watched, and one that is not.
const WATCHED: [&str; 2] = ["team-a", "team-b"];
const OTHER: &str = "team-c";

/// Cluster-scoped kinds; all others are requested in one namespace.
const OF_THE_CLUSTER: [&str; 4] = [
    "customresourcedefinitions",
    "listenerclasses",
    "nodes",
    "persistentvolumes",
];

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "only_the_namespaces_of_the_chart_are_served_and_looked_at",
        NEEDS,
        scoped,
    )]
}

/// The account of the controller, as the API server calls it.
fn account() -> String {
    format!("system:serviceaccount:{NAMESPACE}:{RELEASE}-serviceaccount")
}

async fn scoped() -> Result<()> {
    let server = ApiServer::start().await?;
    for namespace in WATCHED.iter().chain([&OTHER, &NAMESPACE]) {
        output(server.kubectl().args(["create", "namespace", namespace]))?;
    }
    let helm = Helm::new(Some(server.admin_kubeconfig()))?;
    let watched = WATCHED.join(",");
    let folder = chart("listener-operator").display().to_string();
    let scope = format!("--set=watchNamespaces={{{watched}}}");
    let place = format!("--namespace={NAMESPACE}");
    helm.stdout(&["install", RELEASE, &folder, &place, &scope])?;

    let kubeconfig = server.kubeconfig(
        &account(),
        &["system:serviceaccounts", "system:authenticated"],
    )?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"));
    command
        .args(["run", "--kubernetes-cluster-domain=cluster.test"])
        .args([
            "--watch-namespaces",
            &watched,
            "--operator-namespace",
            NAMESPACE,
        ])
        .arg("controller")
        .env("KUBECONFIG", kubeconfig);
    let operator = Process::start("operator", command, server.folder())?;
    let outcome = served(&server).await;
    outcome.with_context(|| format!("the operator says:\n{}", operator.log()))?;
    let log = server.audit().await?.of_user(&account());
    looked_at(&log)?;
    operator.terminate(Duration::from_secs(5)).map(drop)
}

/// A Listener of each namespace that is watched becomes Ready, and that of another one stays as it was written.
async fn served(server: &ApiServer) -> Result<()> {
    let kubectl = |words: &[&str]| output(server.kubectl().args(words));
    eventually("the classes of the preset", SOON, async || {
        Ok(kubectl(&["get", "listenerclass", "cluster-internal"]).ok())
    })
    .await?;
    for namespace in [OTHER].iter().chain(&WATCHED) {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "Listener",
            "metadata": { "name": "web", "namespace": namespace },
            "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 8080 }] },
        });
        let file = server.folder().join("listener.json");
        std::fs::write(&file, listener.to_string())?;
        let mut create = server.kubectl();
        output(create.args(["create", "--filename"]).arg(&file))?;
    }
    for namespace in WATCHED {
        let place = format!("--namespace={namespace}");
        let words = [
            "wait",
            "listener/web",
            "--for=condition=Ready",
            "--timeout=60s",
            &place,
        ];
        kubectl(&words)?;
    }
    let place = format!("--namespace={OTHER}");
    let text = kubectl(&["get", "listener", "web", "--output=json", &place])?;
    let listener: Value = serde_json::from_str(&text)?;
    // The definition has a default for the observed generation.
    ensure!(listener["status"]["conditions"].is_null(), "{listener}");
    let services = kubectl(&["get", "services", "--output=name", &place])?;
    ensure!(services.is_empty(), "{services}");
    Ok(())
}

/// Checks that no request was refused. Each request was for one of its namespaces or for a
/// cluster-scoped kind, and for volumes only with the labels of this operator.
fn looked_at(log: &Log) -> Result<()> {
    let refused = log.only(|entry| entry.code == 403);
    ensure!(refused.is_empty(), "refused: {}", refused.lines());
    let places: BTreeSet<&str> = log.iter().map(|entry| entry.namespace.as_str()).collect();
    let allowed = ["", NAMESPACE].iter().chain(&WATCHED).copied().collect();
    let outside: Vec<_> = places.difference(&allowed).collect();
    ensure!(outside.is_empty(), "asked for in {outside:?}");
    let is_wide = |resource: &str| !resource.is_empty() && !OF_THE_CLUSTER.contains(&resource);
    let wide = log.only(|entry| entry.namespace.is_empty() && is_wide(&entry.resource));
    ensure!(wide.is_empty(), "of all namespaces: {}", wide.lines());
    let volumes = log.only(|entry| entry.resource == "persistentvolumes" && entry.verb == "watch");
    ensure!(!volumes.is_empty(), "volumes are not watched");
    let is_selected = |uri: &str| uri.contains("labelSelector=listeners.stackable.tech");
    let all = volumes.only(|entry| !is_selected(&entry.uri));
    ensure!(all.is_empty(), "all volumes: {}", all.lines());
    Ok(())
}
