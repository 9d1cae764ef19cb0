//! csi-sanity, the conformance suite of the Container Storage Interface, run against a driver, and
//! the contents of its report.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::binaries::{csi_sanity, csi_sanity_version};

const LIMIT: &str = "--ginkgo.timeout=240s";

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

/// Runs the suite against a controller and a node. At least this many specs must pass.
///
/// # Errors
/// Returns an error if the suite fails, or leaves out something that the driver supports.
pub async fn passes(
    (controller, node): (&Path, &Path),
    folder: &Path,
    at_least: usize,
) -> Result<()> {
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
    // The suite itself does not run these yet, for any driver.
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
