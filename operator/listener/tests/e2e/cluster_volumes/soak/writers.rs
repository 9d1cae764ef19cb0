//! The Pods of the controller in the audit log: each write records the Pod of its token.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use lifecycle_tests::cluster::Cluster;
use serde_json::Value;

/// The controller's account, which the side-car has, too.
const ACCOUNT: &str = "system:serviceaccount:listener-operator:listener-operator-controller";
const SIDE_CAR: &str = "csi-provisioner";
/// The API server adds it to the user of a request.
const POD: &str = "authentication.kubernetes.io/pod-name";

/// Returns how many Pods wrote Services and statuses, one after the other.
///
/// # Errors
/// One wrote after its successor had written.
pub(super) async fn one_at_a_time(cluster: &Cluster) -> Result<usize> {
    // By then the log has everything.
    cluster.audit().await?;
    let log = cluster.folder().join("control/audit.log");
    let log = fs::read_to_string(log).context("the audit log cannot be read")?;
    let order = in_order(&log)?;
    let different: BTreeSet<&String> = order.iter().collect();
    ensure!(!order.is_empty(), "no Pod of the controller wrote anything");
    ensure!(
        different.len() == order.len(),
        "two replicas of the controller wrote by turns: {order:?}"
    );
    Ok(order.len())
}

/// The Pods that wrote, in the order of their requests; one that wrote several times in a row counts once.
pub(super) fn in_order(log: &str) -> Result<Vec<String>> {
    let mut writes = Vec::new();
    let complete = log
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    for line in complete {
        let entry: Value = serde_json::from_str(line).context("the audit log has other lines")?;
        if !is_write(&entry) {
            continue;
        }
        let pod = entry["user"]["extra"][POD][0].as_str();
        let pod = pod.with_context(|| format!("a write says no Pod: {line}"))?;
        let received = entry["requestReceivedTimestamp"].as_str();
        writes.push((received.unwrap_or_default().to_owned(), pod.to_owned()));
    }
    writes.sort();
    let mut order: Vec<String> = writes.into_iter().map(|(_, pod)| pod).collect();
    order.dedup();
    Ok(order)
}

/// True for a write of the controller that the API server accepted. A new replica creates missing classes before it leads: these do not count.
fn is_write(entry: &Value) -> bool {
    let text = |field: &str| entry[field].as_str().unwrap_or_default();
    let is_ours = entry["user"]["username"] == ACCOUNT && !text("userAgent").starts_with(SIDE_CAR);
    let is_work = ["services", "listeners"]
        .contains(&entry["objectRef"]["resource"].as_str().unwrap_or_default());
    let is_accepted = entry["responseStatus"]["code"]
        .as_u64()
        .is_some_and(|code| code < 300);
    is_ours
        && is_work
        && is_accepted
        && ["create", "patch", "update", "delete"].contains(&text("verb"))
}
