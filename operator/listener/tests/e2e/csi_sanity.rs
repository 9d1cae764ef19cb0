//! The Listener driver passes csi-sanity, with the work of provisioner and kubelet around its
//! calls.

mod proxy;

use std::process::Command;

use anyhow::{Context, Result};
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::process::Process;
use lifecycle_tests::volumes::sanity::passes;
use tempfile::TempDir;

use crate::PROGRAM;
use crate::listeners::Cluster;
use proxy::Proxy;

/// Identity, create and delete, validate, staging and publishing, without a capacity that could differ.
const SPECS: usize = 32;
const NODE: &str = "node-1";

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "b47_the_listener_driver_passes_every_spec_that_it_enables",
        &[Need::CsiSanity, Need::Binaries],
        listener,
    )]
}

/// Runs `run controller` and `run node` on a real API server, with the work of provisioner and
/// kubelet around their calls.
async fn listener() -> Result<()> {
    let folder = TempDir::with_prefix("csi")?;
    let place = |name: &str| folder.path().join(name);
    let endpoint = |name: &str| format!("unix://{}", place(name).display());
    let mut cluster = Cluster::without_operator(PROGRAM, Default::default()).await?;
    cluster
        .run_operator(&["--csi-endpoint", &endpoint("controller.sock")])
        .await?;
    cluster.prepared().await?;
    cluster.node(NODE, &[("InternalIP", "192.0.2.1")]).await?;
    let mut command = Command::new(PROGRAM);
    command
        .args(["run", "--csi-endpoint", &endpoint("node.sock")])
        .args(["--kubernetes-node-name", NODE])
        .args(["node", "--disable-plugin-registration"]);
    command.env(
        "KUBECONFIG",
        cluster.server.kubeconfig("node", &["system:masters"])?,
    );
    let node = Process::start("node", command, folder.path())?;
    let outcome = async {
        for name in ["controller", "node"] {
            let of_driver = place(&format!("{name}.sock"));
            let proxy = Proxy::new(cluster.client.clone(), &of_driver, "cluster-internal", NODE);
            proxy.await?.serve(&place(&format!("{name}-proxy.sock")))?;
        }
        let places = (place("controller-proxy.sock"), place("node-proxy.sock"));
        passes((&places.0, &places.1), folder.path(), SPECS).await
    };
    let outcome = outcome.await.with_context(|| node.log());
    cluster.explain(outcome)
}
