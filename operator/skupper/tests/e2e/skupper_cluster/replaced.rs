//! The controller and the router are replaced: connections and statuses stay, and the router needs no controller.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{DeleteParams, ListParams};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::eventually;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::env::{PATIENCE, TestNamespace};

/// First the controller, in the middle of a transfer; then the router without a controller: its process, and its Pod.
pub(crate) async fn both(place: TestNamespace) -> Result<()> {
    place.site().await?;
    place.echo("server").await?;
    place.connect(json!({})).await?;
    place.listen("backend", json!({})).await?;
    place.ready("backend").await?;
    let way = place.service_address("backend", 8080).await?;
    place.wait_for_answer(&way, "server").await?;

    let before = written_versions(&place).await?;
    let mut stream = place.stream(&way)?;
    end_controller(&place).await?;
    place.env.scale(1)?;
    place.env.is_available().await?;
    // The controller processes all objects before it reports that it is available, and processes a
    // new Listener last.
    place.listen("other", json!({ "port": 81 })).await?;
    place.ready("other").await?;
    let after = written_versions(&place).await?;
    ensure!(
        after == before,
        "the new controller wrote: {before} {after}"
    );
    stream.is_open()?;
    ensure!(stream.end()? == "server");

    end_controller(&place).await?;
    let router = place.router_but(&[]).await?.name_any();
    kill(&place.namespace)?;
    let restarted = |pod: &Pod| {
        let all = pod.status.iter().flat_map(|s| &s.container_statuses);
        all.flatten().any(|c| c.restart_count == 1 && c.ready)
    };
    let what = "the router is started again";
    place.until(&router, what, restarted).await?;
    place.wait_for_answer(&way, "server").await?;
    let pods = place.api::<Pod>();
    pods.delete(&router, &DeleteParams::default()).await?;
    place.router_but(&[router]).await?;
    place.wait_for_answer(&way, "server").await?;
    place.env.scale(1)?;
    place.env.is_available().await?;
    place.ready("backend").await.map(drop)
}

/// Ends the controller, and waits until it is gone.
async fn end_controller(place: &TestNamespace) -> Result<()> {
    place.env.scale(0)?;
    let pods = place.controllers();
    eventually("the controller is gone", PATIENCE, async || {
        let left = pods.list(&ListParams::default()).await?;
        Ok(left.items.is_empty().then_some(()))
    })
    .await
}

/// Returns values that a controller writes only if something changed: resource versions of objects,
/// and the status of the Site without its list of services. That list follows within a second and
/// has the new Listener.
async fn written_versions(place: &TestNamespace) -> Result<Value> {
    let listener = place.api::<Listener>().get("backend").await?;
    let connector = place.api::<Connector>().get("echo").await?;
    let site = place.api::<Site>().get("west").await?;
    let mut status = serde_json::to_value(&site.status)?;
    for site in status["network"].as_array_mut().into_iter().flatten() {
        site["services"] = Value::Null;
    }
    Ok(json!([
        listener.resource_version(),
        connector.resource_version(),
        status
    ]))
}

/// Kills the process of a namespace's router, as the kernel would one that needs too much.
fn kill(namespace: &str) -> Result<()> {
    let own = format!("--kubernetes={namespace}/skupper-router");
    let entries = std::fs::read_dir("/proc")?.filter_map(Result::ok);
    let mut found = entries.filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let words = std::fs::read(entry.path().join("cmdline")).ok()?;
        let mut words = words.split(|byte| *byte == 0);
        words.any(|word| word == own.as_bytes()).then_some(pid)
    });
    let pid = found.next().context("no router of the namespace runs")?;
    let pid = Pid::from_raw(pid).context("it has a number")?;
    kill_process(pid, Signal::KILL).context("the router cannot be killed")
}
