//! The conformance suite of CSI drivers: every spec that the capabilities of a driver enable passes. Nothing is filtered; what the suite itself
//! leaves out, it leaves out for a capability that the driver does not have.

#[path = "csi_sanity/proxy.rs"]
mod proxy;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use lifecycle_tests::binaries::{csi_sanity, csi_sanity_version};
use lifecycle_tests::harness::{Need, case, run};
use lifecycle_tests::listeners::Cluster;
use lifecycle_tests::process::Process;
use lifecycle_tests::volumes::client::Running;
use proxy::Proxy;
use tempfile::TempDir;

/// Identity, create and delete, validate, staging, publishing and statistics.
const OF_DIRECTORY: usize = 37;
/// The same without statistics, and without a capacity that could differ.
const OF_LISTENER: usize = 32;
const LIMIT: &str = "--ginkgo.timeout=240s";

const OPERATOR: &str = env!("CARGO_BIN_EXE_operator-under-test");
const NODE: &str = "node-1";

fn main() -> ExitCode {
    run(vec![
        case(
            "a_directory_driver_passes_every_spec_that_it_enables",
            &[Need::CsiSanity],
            directory,
        ),
        case(
            "the_listener_driver_passes_every_spec_that_it_enables",
            &[Need::CsiSanity, Need::Binaries],
            listener,
        ),
    ])
}

/// One spec of the report.
#[derive(Debug)]
struct Spec {
    name: String,
    status: String,
    /// Why it was left out, if it was.
    message: String,
}

fn attribute(of: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    let value = of.split_once(&start).map(|(_, rest)| rest);
    let value = value.and_then(|rest| rest.split_once('"'));
    value.map(|(value, _)| value.to_owned()).unwrap_or_default()
}

/// The specs of a JUnit report; the suite's own nodes are none.
fn specs(report: &str) -> Vec<Spec> {
    let cases = report.split("<testcase").skip(1);
    let spec = |case: &str| {
        let head = case.split_once('>').map_or(case, |(head, _)| head);
        let skipped = case.split_once("<skipped").map(|(_, rest)| rest);
        Spec {
            name: attribute(head, "name"),
            status: attribute(head, "status"),
            message: skipped
                .map(|rest| attribute(rest, "message"))
                .unwrap_or_default(),
        }
    };
    let all = cases.map(spec);
    all.filter(|spec| spec.name.starts_with("[It]")).collect()
}

/// The driver itself, in this process.
async fn directory() -> Result<()> {
    let driver = Running::start().await?;
    let folder = driver.path("");
    let places = (&*driver.places.controller, &*driver.places.node);
    passes(places, &folder, OF_DIRECTORY).await?;
    driver.stop().await?;
    Ok(())
}

/// `run controller` and `run node` on a real API server, with what provisioner and kubelet do around their calls.
async fn listener() -> Result<()> {
    let folder = TempDir::with_prefix("csi")?;
    let place = |name: &str| folder.path().join(name);
    let endpoint = |name: &str| format!("unix://{}", place(name).display());
    let mut cluster = Cluster::without_operator(OPERATOR, Default::default()).await?;
    cluster
        .run_operator(&["--csi-endpoint", &endpoint("controller.sock")])
        .await?;
    cluster.prepared().await?;
    cluster.node(NODE, &[("InternalIP", "192.0.2.1")]).await?;
    let mut command = Command::new(OPERATOR);
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
        passes((&places.0, &places.1), folder.path(), OF_LISTENER).await
    };
    let outcome = outcome.await.with_context(|| node.log());
    cluster.explain(outcome)
}

/// Runs the suite against a controller and a node.
async fn passes((controller, node): (&Path, &Path), folder: &Path, at_least: usize) -> Result<()> {
    let report = folder.join("report.xml");
    let flag = |name: &str, value: &Path| format!("--{name}={}", value.display());
    let mut suite = Command::new(csi_sanity()?);
    suite
        .arg(flag("csi.endpoint", node))
        .arg(flag("csi.controllerendpoint", controller))
        .arg(flag("csi.mountdir", &folder.join("mount")))
        .arg(flag("csi.stagingdir", &folder.join("staging")))
        .arg(flag("ginkgo.junit-report", &report))
        .args(["--ginkgo.no-color", LIMIT]);
    let output = tokio::task::spawn_blocking(move || suite.output()).await?;
    let output = output.context("cannot run csi-sanity")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let report = std::fs::read_to_string(&report).with_context(|| said.clone().into_owned())?;
    let specs = specs(&report);
    let of = |status: &'static str| specs.iter().filter(move |s| s.status == status);
    let (passed, skipped) = (of("passed").count(), of("skipped").count());
    // Those that the suite itself does not run yet, whatever the driver.
    let pending = of("pending").count();
    eprintln!(
        "csi-sanity {}: {passed} of {} specs passed, {skipped} need capabilities that the driver does not have, {pending} are not ready",
        csi_sanity_version(),
        specs.len(),
    );
    let by_capability = |spec: &Spec| {
        let words = [
            "not supported",
            "does not have",
            "capacity of the volume is unknown",
        ];
        words.iter().any(|words| spec.message.contains(words))
    };
    for spec in of("skipped") {
        ensure!(by_capability(spec), "left out without a reason: {spec:?}");
    }
    ensure!(output.status.success(), "csi-sanity failed: {said}");
    ensure!(
        passed + skipped + pending == specs.len(),
        "some failed: {specs:#?}"
    );
    ensure!(passed >= at_least, "only {passed} specs ran");
    Ok(())
}
