//! A start without its requirements: kubeconfigs that cannot be used, an API server that is down,
//! missing definitions.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::listeners::{Cluster, OPERATOR, SOON};
use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, Patch, PatchParams};
use lifecycle_listener::controller::KINDS;
use lifecycle_runtime::crds;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, Deadline, case, eventually};
use lifecycle_tests::process::Process;
use serde_json::{Value, json};

use super::{BINARIES, once_each, warnings};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "a_kubeconfig_that_cannot_be_used_ends_in_one_line",
            &[],
            bad_kubeconfigs,
        ),
        case(
            "an_api_server_that_is_not_there_is_waited_for",
            BINARIES,
            nowhere,
        ),
        case(
            "m4_b1_b3_definitions_that_are_missing_are_waited_for",
            BINARIES,
            no_definitions,
        ),
        case(
            "m5_a_class_that_was_edited_keeps_its_edit_through_a_restart",
            BINARIES,
            edited_class,
        ),
    ]
}

/// Long enough to see a storm.
const WATCHED: Duration = Duration::from_secs(7);

fn kubeconfig(cluster: Value, user: Value) -> String {
    json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{ "name": "c", "cluster": cluster }],
        "users": [{ "name": "u", "user": user }],
        "contexts": [{ "name": "x", "context": { "cluster": "c", "user": "u" } }],
        "current-context": "x",
    })
    .to_string()
}

async fn bad_kubeconfigs() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let server = json!({ "server": "https://127.0.0.1:1" });
    let missing = json!({ "client-certificate": "/nowhere.crt", "client-key": "/nowhere.key" });
    let nonsense =
        json!({ "client-certificate-data": "bm9uc2Vuc2U=", "client-key-data": "bm9uc2Vuc2U=" });
    let context = kubeconfig(server.clone(), json!({}))
        .replace("\"current-context\":\"x\"", "\"current-context\":\"y\"");
    let authority =
        json!({ "server": "https://127.0.0.1:1", "certificate-authority-data": "bm9uc2Vuc2U=" });
    let files = [
        ("empty", String::new()),
        ("no-yaml", "clusters: [\n  - }".to_owned()),
        ("no-kubeconfig", "just some words".to_owned()),
        ("no-context", context),
        ("no-certificate-file", kubeconfig(server.clone(), missing)),
        ("no-certificate", kubeconfig(server.clone(), nonsense)),
        ("no-authority", kubeconfig(authority, json!({}))),
        (
            "no-url",
            kubeconfig(json!({ "server": "not a url" }), json!({})),
        ),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::write(&path, text)?;
        ends_in_one_line(folder.path(), name, Some(&path))?;
    }
    ends_in_one_line(
        folder.path(),
        "absent",
        Some(&folder.path().join("absent-file")),
    )?;
    ends_in_one_line(folder.path(), "a-folder", Some(folder.path()))?;
    ends_in_one_line(folder.path(), "none-at-all", None)
}

fn ends_in_one_line(folder: &Path, name: &'static str, kubeconfig: Option<&Path>) -> Result<()> {
    let mut command = Command::new(PROGRAM);
    command
        .args(["run", "controller"])
        .env_clear()
        .env("HOME", folder);
    if let Some(path) = kubeconfig {
        command.env("KUBECONFIG", path);
    }
    let mut process = Process::start(name, command, folder)?;
    let mut deadline = Deadline::new(SOON);
    let status = loop {
        match process.exit_status()? {
            Some(status) => break status,
            None if deadline.is_over() => return Err(process.failure("still runs")),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let said = process.log();
    eprintln!("{}", said.trim_end());
    let told = said.contains("kubeconfig") || said.contains("KUBECONFIG");
    ensure!(
        status.code() == Some(1)
            && said.lines().count() == 1
            && said.starts_with("error: ")
            && told,
        "{name} ended with {status}:\n{said}"
    );
    Ok(())
}

async fn nowhere() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let outcome = comes_later(&mut cluster).await;
    cluster.explain(outcome)
}

async fn comes_later(cluster: &mut Cluster) -> Result<()> {
    cluster.server.kill_api_server()?;
    cluster.run_operator(&[]).await?;
    tokio::time::sleep(WATCHED).await;
    cluster.check_operator()?;
    let log = cluster.log();
    let told = warnings(&log, 2)?;
    once_each(&told)?;
    ensure!(
        told.iter().any(|line| line.contains("cannot be reached")),
        "{told:#?}"
    );
    let began = Instant::now();
    ensure!(
        cluster.stop_operator()?.success(),
        "it ends well while it waits"
    );
    eprintln!(
        "SIGTERM while waiting for the API server: {:?}",
        began.elapsed()
    );
    cluster.run_operator(&[]).await?;
    cluster.server.start_api_server().await?;
    has_classes(cluster).await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await.map(drop)
}

async fn has_classes(cluster: &Cluster) -> Result<()> {
    let classes = cluster.all::<ListenerClass>();
    eventually("the preset classes", 2 * SOON, async || {
        let found = classes.get_opt("external-stable").await;
        Ok(found.ok().flatten().map(drop))
    })
    .await
}

async fn no_definitions() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let outcome = installed_late(&mut cluster).await;
    cluster.explain(outcome)
}

async fn installed_late(cluster: &mut Cluster) -> Result<()> {
    let options = ["--disable-crd-maintenance"];
    let since = Timestamp::now();
    cluster.run_operator(&options).await?;
    tokio::time::sleep(WATCHED).await;
    cluster.check_operator()?;
    let log = cluster.log();
    let told = warnings(&log, 1)?;
    ensure!(
        told.len() == 1 && told[0].contains("`listener-operator crd`"),
        "{told:#?}"
    );
    let asked = cluster.requests().await?.since(since);
    eprintln!("no definitions: {:?} in {WATCHED:?}", asked.counts());
    ensure!(
        asked.len() <= 10 && asked.counts().writes == 0,
        "{}",
        asked.lines()
    );
    let began = Instant::now();
    ensure!(
        cluster.stop_operator()?.success(),
        "it ends well while it waits"
    );
    eprintln!(
        "SIGTERM while waiting for definitions: {:?}",
        began.elapsed()
    );

    cluster.run_operator(&options).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    crds::maintain(&cluster.client, &KINDS)
        .await
        .context("cannot install the definitions")?;
    has_classes(cluster).await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await?;
    let asked = cluster.requests().await?;
    let written = asked.only(|e| {
        e.user == OPERATOR && e.resource == "customresourcedefinitions" && e.verb == "patch"
    });
    ensure!(written.is_empty(), "{}", written.lines());
    Ok(())
}

async fn edited_class() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = restarts_after_edits(&mut cluster).await;
    cluster.explain(outcome)
}

/// One class of the preset is edited and one deleted: the first stays as it is, with an event about it, and the other one comes back.
async fn restarts_after_edits(cluster: &mut Cluster) -> Result<()> {
    let classes = cluster.all::<ListenerClass>();
    let edit = Patch::Merge(json!({ "spec": { "serviceAnnotations": { "a": "b" } } }));
    let params = PatchParams::default();
    let edited = classes.patch("external-stable", &params, &edit).await?;
    let now = DeleteParams::default();
    classes.delete("cluster-internal", &now).await?;
    ensure!(cluster.stop_operator()?.success(), "it ends well");
    cluster.run_operator(&[]).await?;
    eventually("the missing class comes back", SOON, async || {
        Ok(classes.get_opt("cluster-internal").await?)
    })
    .await?;
    let events = cluster.all::<Event>();
    let event = eventually("an event about the edit", SOON, async || {
        let all = events.list(&Default::default()).await?.items.into_iter();
        let mut differs = all.filter(|event| event.reason.as_deref() == Some("PresetDiffers"));
        Ok(differs.next())
    })
    .await?;
    let regarding = event.regarding.as_ref().and_then(|r| r.name.as_deref());
    let note = event.note.clone().unwrap_or_default();
    ensure!(
        regarding == Some("external-stable") && note.contains("`spec.serviceAnnotations`"),
        "{event:?}"
    );
    let found = classes.get("external-stable").await?;
    ensure!(
        found.metadata.resource_version == edited.metadata.resource_version,
        "{found:?}"
    );
    Ok(())
}
