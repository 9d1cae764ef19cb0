//! The controller of snapshots (kubernetes-csi/external-snapshotter). A requested snapshot gets its
//! content, is bound to it, and goes with it. The test takes the part of the driver's sidecar and
//! reports on the snapshot.

use anyhow::Result;
use lifecycle_tests::harness::{Case, Need};
use serde_json::{Value, json};

use crate::end::{distinct_events, neutral};
use crate::place::{TestCluster, both, with_log};

const PROGRAM: &str = "snapshot-controller";
const NEEDS: &[Need] = &[Need::Root, Need::Other(PROGRAM)];
const NEEDS_BOTH: &[Need] = &[Need::Root, Need::Other(PROGRAM), Need::Binaries];

const INSTALLED: [&str; 4] = [
    "snapshot.storage.k8s.io_volumesnapshotclasses.yaml",
    "snapshot.storage.k8s.io_volumesnapshotcontents.yaml",
    "snapshot.storage.k8s.io_volumesnapshots.yaml",
    "rbac-snapshot-controller.yaml",
];

const ACCOUNT: &str = "kube-system:snapshot-controller";

const ARGUMENTS: [&str; 4] = [
    "--leader-election",
    "--leader-election-namespace=kube-system",
    "--retry-interval-start=100ms",
    "--v=4",
];

const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims/data";
const SNAPSHOT: &str =
    "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots/yesterday";
const LEASE: &str =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/snapshot-controller-leader";
const CONTENTS: &str = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";

/// A claim that is bound to a volume of a driver.
const VOLUME: &str = "
apiVersion: v1
kind: PersistentVolume
metadata: { name: volume-1 }
spec:
  capacity: { storage: 1Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: ''
  claimRef: { namespace: default, name: data }
  csi: { driver: disk.test, volumeHandle: handle-1 }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data, namespace: default }
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ''
  volumeName: volume-1
  resources: { requests: { storage: 1Gi } }
";

const ASKED: &str = "
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: { name: daily }
driver: disk.test
deletionPolicy: Delete
---
apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: { name: yesterday, namespace: default }
spec:
  volumeSnapshotClassName: daily
  source: { persistentVolumeClaimName: data }
";

pub(crate) fn cases() -> Vec<Case> {
    both(
        "a_snapshot_is_bound_to_its_content_and_goes_with_it",
        [NEEDS, NEEDS_BOTH],
        run,
    )
    .into()
}

async fn run(place: TestCluster) -> Result<Value> {
    place.install(PROGRAM, &INSTALLED).await?;
    place.apply(VOLUME).await?;
    let bound = json!({ "status": { "phase": "Bound" } });
    place.merge(&format!("{CLAIM}/status"), &bound).await?;
    let program = place.start(PROGRAM, ACCOUNT, &ARGUMENTS)?;
    with_log(snapshot(&place).await, &program)
}

async fn snapshot(place: &TestCluster) -> Result<Value> {
    place.apply(ASKED).await?;
    let asked = place.until(SNAPSHOT, "the snapshot is bound", |one| {
        one["status"]["boundVolumeSnapshotContentName"].is_string()
    });
    let name = asked.await?["status"]["boundVolumeSnapshotContentName"].clone();
    let content = format!("{CONTENTS}/{}", name.as_str().unwrap_or_default());
    let taken = json!({ "status": {
        "snapshotHandle": "snapshot-1", "readyToUse": true, "restoreSize": 1 << 30, "creationTime": 1,
    } });
    place.merge(&format!("{content}/status"), &taken).await?;
    let ready = place.until(SNAPSHOT, "the snapshot is ready", |one| {
        one["status"]["readyToUse"] == true
            && one["metadata"]["finalizers"].as_array().map(Vec::len) == Some(2)
    });
    let ready = neutral(ready.await?);
    let held = neutral(place.get(&content).await?.unwrap_or_default());
    let claim = neutral(place.get(CLAIM).await?.unwrap_or_default());
    place.until(LEASE, "it leads", |_| true).await?;

    place.delete(SNAPSHOT).await?;
    let deleted = place.until(&content, "the content is deleted", |one| {
        one["metadata"]["deletionTimestamp"].is_string()
    });
    let deleted = neutral(deleted.await?);
    // The sidecar has removed the driver's snapshot.
    let removed = json!({ "metadata": { "finalizers": null } });
    place.merge(&content, &removed).await?;
    place.until_gone(&content).await?;
    place.until_gone(SNAPSHOT).await?;
    let free = place.until(CLAIM, "the claim is free", |one| {
        let finalizers = one["metadata"]["finalizers"].to_string();
        !finalizers.contains("snapshot")
    });
    let free = neutral(free.await?);
    let events = place.list("/api/v1/namespaces/default/events").await?;
    Ok(json!({
        "ready": ready, "held": held, "claim": claim,
        "deleted": deleted, "free": free, "said": distinct_events(events),
    }))
}
