//! Operations while something around the operator fails. Covers a network that is cut, an API
//! server that is slow and refuses, credentials that are renewed, and objects that come back from a
//! backup. The documents, docs/install.md, describe the effects that users see.

mod refusing;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, Need, eventually};
use lifecycle_tests::named;
use lifecycle_tests::process::Process;
use serde_json::{Value, json};

use super::BINARIES;
use super::leaders::{DURATION, expose, led_by, ready, writes};
use super::way::ApiProxy;
use crate::PROGRAM;
use crate::listeners::{Cluster, OPERATOR, SOON};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = named![case(BINARIES): b5_who_does_not_lead_writes_nothing, b5_a_leader_that_is_cut_off_stops_before_another_writes, renewed_credentials_stop_nothing];
    cases.extend(
        named![case(CONTROLLERS): objects_that_are_restored_under_new_uids_get_services_of_their_own],
    );
    cases.extend(refusing::cases());
    cases
}

const CONTROLLERS: &[Need] = &[Need::Binaries, Need::ControllerManager];
/// A definition that the operator writes.
const DEFINITION: &str = "listeners.listeners.stackable.tech";
/// A second replica, and the user as which it works.
const STANDBY: &str = "standby";

async fn waits(standby: &Process) -> Result<()> {
    eventually("the other to wait", SOON, async || {
        let log = standby.log();
        let waits = log.contains("waiting for the Lease") && log.contains("all caches are there");
        Ok(waits.then_some(()))
    })
    .await
}

async fn b5_who_does_not_lead_writes_nothing() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    let outcome = stands_by(&mut cluster).await;
    cluster.explain(outcome)
}

/// Returns true if the definition matches this version.
async fn is_complete(cluster: &Cluster) -> Result<bool> {
    let definitions = cluster.all::<CustomResourceDefinition>();
    let live = definitions.get(DEFINITION).await?;
    let mut versions = live.spec.versions.iter();
    Ok(versions.any(|version| version.additional_printer_columns.is_some()))
}

/// The definitions are those of another version, which the leader has brought about: the standby writes its own when it leads, and before anything else.
async fn stands_by(cluster: &mut Cluster) -> Result<()> {
    ensure!(is_complete(cluster).await?, "it has columns");
    let path = "/spec/versions/0/additionalPrinterColumns";
    let older = serde_json::from_value(json!([{ "op": "remove", "path": path }]))?;
    let older: Patch<Value> = Patch::Json(older);
    let definitions = cluster.all::<CustomResourceDefinition>();
    definitions
        .patch(DEFINITION, &PatchParams::default(), &older)
        .await?;
    let standby = cluster.replica(STANDBY, STANDBY, &[])?;
    waits(&standby).await?;
    expose(cluster, "web", 5).await?;
    ready(cluster, "web", 5).await?;
    let log = cluster.server.audit().await?.of_user(STANDBY);
    let reads = ["get", "list", "watch"];
    let written = log.only(|entry| !reads.contains(&entry.verb.as_str()));
    ensure!(written.is_empty(), "{}", written.lines());
    ensure!(!log.is_empty(), "it has asked for nothing");
    let is_left = !is_complete(cluster).await?;
    ensure!(is_left, "the definition was written");

    ensure!(cluster.stop_operator()?.success(), "it ends well");
    led_by(cluster, STANDBY, SOON).await?;
    expose(cluster, "more", 5).await?;
    ready(cluster, "more", 5).await?;
    ensure!(is_complete(cluster).await?, "it was not written");
    let log = cluster.server.audit().await?.of_user(STANDBY);
    let defined = log
        .of_resource("customresourcedefinitions")
        .of_cost(Cost::Write);
    let work = writes(&log, STANDBY);
    let defined = defined.last().context("no definition was written")?;
    let first = work.first().context("nothing was written")?;
    ensure!(defined.received < first.received, "{}", log.lines());
    Ok(())
}

async fn b5_a_leader_that_is_cut_off_stops_before_another_writes() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let (way, through) = ApiProxy::of_operator(&cluster)?;
    cluster.run_operator_with(&[], through, &[])?;
    cluster.prepared().await?;
    let standby = cluster.replica(STANDBY, STANDBY, &[])?;
    let outcome = cut_off(&mut cluster, &way, &standby).await;
    let outcome = outcome.map_err(|e| e.context(standby.failure("shows")));
    cluster.explain(outcome)
}

/// In the middle of its work, and without a word: its connections stay open, and it cannot make others.
async fn cut_off(cluster: &mut Cluster, way: &ApiProxy, standby: &Process) -> Result<()> {
    waits(standby).await?;
    let exposing = expose(cluster, "web", 60);
    let cutting = async {
        tokio::time::sleep(Duration::from_millis(150)).await;
        way.cut();
    };
    let (exposed, ()) = tokio::join!(exposing, cutting);
    exposed?;
    led_by(cluster, STANDBY, DURATION + SOON).await?;
    ready(cluster, "web", 60).await?;
    eventually("the old leader to stop", SOON, async || {
        Ok(cluster.log().contains("no longer leading").then_some(()))
    })
    .await?;
    cluster.check_operator()?;
    let log = cluster.server.audit().await?;
    let (old, new) = (writes(&log, OPERATOR), writes(&log, STANDBY));
    let first = new.first().context("the new leader wrote nothing")?;
    let late = old.since(first.received);
    ensure!(late.is_empty(), "{}\n{}", late.lines(), new.lines());
    if let Some(last) = old.last() {
        let between = first.received.duration_since(last.received);
        eprintln!("cut off: {between:#} between the last write of one and the first of the other");
    }

    let since = Timestamp::now();
    way.mend();
    eventually("the old leader to see who leads", 2 * SOON, async || {
        let held = format!("held by {STANDBY}-");
        Ok(cluster.log().contains(&held).then_some(()))
    })
    .await?;
    expose(cluster, "more", 10).await?;
    ready(cluster, "more", 10).await?;
    let log = cluster.server.audit().await?.since(since);
    let old = writes(&log, OPERATOR);
    ensure!(old.is_empty(), "{}", old.lines());
    Ok(())
}

/// The token of the operator is another from now on, and so is the certificate of the API server, of the same authority.
async fn renewed_credentials_stop_nothing() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (known, token) = (folder.path().join("known.csv"), folder.path().join("token"));
    let issue = |value: &str| -> Result<()> {
        let line = format!("{value},{OPERATOR},{OPERATOR},\"system:masters\"\n");
        fs::write(&known, line)?;
        Ok(fs::write(&token, value)?)
    };
    issue("first")?;
    let options = Options::default().flag(format!("--token-auth-file={}", known.display()));
    let mut cluster = Cluster::without_operator(PROGRAM, options).await?;
    let kubeconfig = by_token(&cluster, &token)?;
    cluster.run_operator_with(&[], kubeconfig, &[])?;
    cluster.prepared().await?;
    cluster.expose("before", "cluster-internal").await?;
    cluster.ready("before").await?;
    issue("second")?;
    cluster.server.renew_certificate()?;
    cluster.server.restart_api_server().await?;
    cluster.expose("after", "cluster-internal").await?;
    // It reads the file of its token once a minute.
    let ready = cluster.ready_within("after", 3 * SOON).await;
    cluster.explain(ready.map(drop))?;
    cluster.check_operator()
}

/// A kubeconfig of the operator with a token in a file, as in a Pod.
fn by_token(cluster: &Cluster, token: &Path) -> Result<PathBuf> {
    let kubeconfig = cluster.server.kubeconfig(OPERATOR, &["system:masters"])?;
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&kubeconfig)?)?;
    config["users"][0]["user"] = json!({ "tokenFile": token });
    let path = kubeconfig.with_file_name("by-token.kubeconfig");
    fs::write(&path, config.to_string())?;
    Ok(path)
}

async fn objects_that_are_restored_under_new_uids_get_services_of_their_own() -> Result<()> {
    let options = Options::default().with_controllers();
    let cluster = Cluster::start_with(PROGRAM, options).await?;
    cluster.explain(restored(&cluster).await)
}

/// As a backup tool does: the Service has the owner reference of before, to a uid that no object has any more.
async fn restored(cluster: &Cluster) -> Result<()> {
    let (listeners, services) = (
        cluster.namespaced::<Listener>(),
        cluster.namespaced::<Service>(),
    );
    cluster.expose("web", "cluster-internal").await?;
    let before = cluster.ready("web").await?;
    let saved = services.get("web").await?;
    listeners.delete("web", &DeleteParams::background()).await?;
    eventually("the Service to be gone", 2 * SOON, async || {
        Ok(services.get_opt("web").await?.is_none().then_some(()))
    })
    .await?;

    let restored = services
        .create(&PostParams::default(), &without_identity(saved))
        .await?;
    let owner = |service: &Service| service.owner_references().first().map(|o| o.uid.clone());
    ensure!(owner(&restored) == before.uid(), "{:?}", restored.metadata);
    cluster.expose("web", "cluster-internal").await?;
    let again = cluster.ready_within("web", 2 * SOON).await?;
    ensure!(again.uid() != before.uid(), "it is another Listener");
    let service = services.get("web").await?;
    ensure!(owner(&service) == again.uid(), "{:?}", service.metadata);
    ensure!(
        service.uid() != restored.uid(),
        "a Service of another owner was taken over"
    );
    Ok(())
}

/// The Service as a backup holds it.
fn without_identity(mut service: Service) -> Service {
    let metadata = &mut service.metadata;
    (metadata.uid, metadata.resource_version) = (None, None);
    (metadata.creation_timestamp, metadata.managed_fields) = (None, None);
    if let Some(spec) = &mut service.spec {
        (spec.cluster_ip, spec.cluster_ips) = (None, None);
    }
    service.status = None;
    service
}
