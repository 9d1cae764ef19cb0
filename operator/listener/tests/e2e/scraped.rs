//! Metrics of both parts of the operator, as Prometheus reads them at the port of the probes.

use std::process::Command;

use anyhow::{Context, Result};
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, Need};
use lifecycle_tests::named;
use lifecycle_tests::process::Process;
use lifecycle_tests::scraped::{free_address, with_lines};
use tempfile::TempDir;

use crate::PROGRAM;
use crate::listeners::Cluster;

const NODE: &str = "node-1";

pub(crate) fn cases() -> Vec<Case> {
    named![case(&[Need::Binaries]): b17_the_controller_is_scraped_at_the_port_of_its_probes, a_node_is_scraped_at_the_port_of_its_probes]
}

async fn b17_the_controller_is_scraped_at_the_port_of_its_probes() -> Result<()> {
    let at = free_address()?;
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let address = format!("--health-probe-bind-address={at}");
    cluster.run_operator(&[&address]).await?;
    cluster.prepared().await?;
    cluster.expose("web", "cluster-internal").await?;
    cluster.ready("web").await?;
    let scraped = with_lines(
        at,
        &[
            "lifecycle_ready 1",
            "lifecycle_leader{lease=\"listeners.stackable.tech-controller\"} 1",
            "lifecycle_objects{kind=\"Listener\",state=\"Ready\"} 1",
            "lifecycle_writes_total{kind=\"Listener\",what=\"status\",ended=\"done\"} ",
            "lifecycle_watch_age_seconds{kind=\"Service\"} ",
            "lifecycle_api_requests_total{verb=\"watch\",code=\"200\"} ",
        ],
    );
    cluster.explain(scraped.await.map(drop))
}

async fn a_node_is_scraped_at_the_port_of_its_probes() -> Result<()> {
    let (at, folder) = (free_address()?, TempDir::with_prefix("scraped")?);
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    cluster.run_operator(&[]).await?;
    cluster.prepared().await?;
    cluster.node(NODE, &[("InternalIP", "192.0.2.1")]).await?;
    let endpoint = format!("unix://{}", folder.path().join("csi.sock").display());
    let mut command = Command::new(PROGRAM);
    command
        .args(["run", "--csi-endpoint", &endpoint])
        .args(["--kubernetes-node-name", NODE])
        .arg(format!("--health-probe-bind-address={at}"))
        .args(["node", "--disable-plugin-registration"]);
    let kubeconfig = cluster.server.kubeconfig("node", &["system:masters"])?;
    command.env("KUBECONFIG", kubeconfig);
    let node = Process::start("node", command, folder.path())?;
    let scraped = with_lines(at, &["lifecycle_ready 1"]).await;
    scraped.map(drop).with_context(|| node.log())
}
