//! Model of external-provisioner. It has a driver make a volume for each claim of its class, and
//! records the volume. It has the volume deleted when it is released.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_proto::csi;
use lifecycle_proto::csi::volume_capability::access_mode::Mode;
use lifecycle_proto::csi::volume_capability::{AccessMode, AccessType, MountVolume};
use serde_json::{Value, json};

use super::cache::{Cache, Change};
use super::calls::{About, Call, Job, NextStep, Reply, Verb};
use super::claims::{self, PROVISIONER, SELECTED, annotation};
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, list, text, uid};
use super::operation::{Operation, Removal};
use super::view::View;

const MADE_BY: &str = "pv.kubernetes.io/provisioned-by";

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let is_one = change.key.is("PersistentVolumeClaim") || change.key.is("PersistentVolume");
    if is_one {
        return BTreeSet::from([change.key.clone()]);
    }
    if !["Node", "CSINode", "StorageClass"]
        .iter()
        .any(|kind| change.key.is(kind))
    {
        return BTreeSet::new();
    }
    // Where a volume may be depends on it.
    let kind = Kind::from_name("PersistentVolumeClaim");
    let waits = |claim: &Value| text(claim, "/spec/volumeName").is_none();
    let claims = cache.all(&kind, None).filter(|(_, claim)| waits(claim));
    claims.map(|(key, _)| key.clone()).collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    match view.cache.get(key) {
        Some(claim) if key.is("PersistentVolumeClaim") => provision(view, key, claim),
        Some(volume) => deleted(view, key, volume),
        None => Vec::new(),
    }
}

fn provision(view: &View<'_>, key: &ObjectKey, claim: &Value) -> Vec<Operation> {
    let name = format!("pvc-{}", uid(claim));
    let at = ObjectKey::new(Kind::from_name("PersistentVolume"), None, &name);
    let is_asked = annotation(claim, PROVISIONER).is_some();
    let driver = claims::driver(view, claim).filter(|_| is_asked);
    let Some(driver) = driver else {
        return Vec::new();
    };
    let is_bound = text(claim, "/spec/volumeName").is_some();
    if is_leaving(claim) || is_bound || view.cache.get(&at).is_some() {
        return Vec::new();
    }
    let about = About::Volume { name: name.clone() };
    if let Some(failure) = view.calls.failure(&about, Verb::Create)
        && failure.is_exhausted
        && annotation(claim, SELECTED).is_some()
    {
        // Another node may have room.
        let freed = json!({ "metadata": { "annotations": { SELECTED: null } } });
        return vec![
            Operation::Forget(about),
            Operation::Patch(key.clone(), None, freed),
        ];
    }
    match view.calls.toward(&about, Verb::Create, view.at) {
        NextStep::Busy => Vec::new(),
        NextStep::Later(time) => vec![Operation::Again(time)],
        NextStep::Done(_) => match view.calls.reply(&about, Verb::Create) {
            Some(Reply::Volume(volume)) => {
                let made = written(view, (key, claim), (&at, &driver), volume);
                vec![
                    Operation::Create(at.clone(), made),
                    Operation::Forget(about),
                ]
            }
            Some(Reply::Nothing | Reply::Node(_)) | None => vec![Operation::Forget(about)],
        },
        NextStep::Go => {
            let Some(request) = request(view, (key, claim), &name, &driver) else {
                return Vec::new();
            };
            let job = Job::Create(request);
            vec![Operation::Call(Box::new(Call { about, driver, job }))]
        }
    }
}

/// Nothing if it is not known yet where the volume may be.
fn request(
    view: &View<'_>,
    (key, claim): (&ObjectKey, &Value),
    name: &str,
    driver: &str,
) -> Option<csi::CreateVolumeRequest> {
    let class = claims::class(view.cache, claim)?;
    let given = class.pointer("/parameters").and_then(Value::as_object);
    let given = given.into_iter().flatten();
    let given = given.filter(|(name, _)| !name.starts_with("csi.storage.k8s.io/"));
    let mut parameters: BTreeMap<String, String> = given
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let told = [
        ("pvc/name", key.name.as_str()),
        (
            "pvc/namespace",
            key.namespace.as_deref().unwrap_or_default(),
        ),
        ("pv/name", name),
    ];
    parameters.extend(told.map(|(k, v)| (format!("csi.storage.k8s.io/{k}"), v.to_owned())));
    let node = annotation(claim, SELECTED);
    let place = match node.filter(|_| claims::waits_for_pod(view.cache, claim)) {
        Some(node) => node_topology(view, &node, driver)?,
        None => None,
    };
    let tells_apart = annotation(claim, SELECTED)
        .and_then(|node| view.calls.plugin(&node, driver))
        .is_some_and(|node| node.tells_writers_apart);
    let modes = list(claim, "/spec/accessModes").iter();
    let modes = modes.filter_map(Value::as_str);
    Some(csi::CreateVolumeRequest {
        name: name.to_owned(),
        capacity_range: Some(csi::CapacityRange {
            required_bytes: bytes(claim.pointer("/spec/resources/requests/storage")),
            limit_bytes: 0,
        }),
        volume_capabilities: modes
            .map(|mode| capability(mode, text(claim, "/spec/volumeMode"), tells_apart))
            .collect(),
        parameters,
        accessibility_requirements: place.map(|place| csi::TopologyRequirement {
            requisite: vec![place.clone()],
            preferred: vec![place],
        }),
        ..csi::CreateVolumeRequest::default()
    })
}

/// Returns the topology of a node. `Some(None)` means that the driver ignores topology. `None`
/// means that it has not reported its node information.
fn node_topology(view: &View<'_>, node: &str, driver: &str) -> Option<Option<csi::Topology>> {
    let known = view
        .cache
        .get(&ObjectKey::new(Kind::from_name("CSINode"), None, node))?;
    let mut drivers = list(known, "/spec/drivers").iter();
    let here = drivers.find(|d| d["name"] == driver)?;
    let labels = view
        .cache
        .get(&ObjectKey::new(Kind::from_name("Node"), None, node))?;
    let keys = list(here, "/topologyKeys").iter().filter_map(Value::as_str);
    let mut segments = BTreeMap::new();
    for key in keys {
        let value = labels.pointer("/metadata/labels")?.get(key)?.as_str()?;
        segments.insert(key.to_owned(), value.to_owned());
    }
    let place = csi::Topology { segments };
    Some((!place.segments.is_empty()).then_some(place))
}

/// Returns the capability of a volume for an access mode of Kubernetes.
pub(super) fn capability(
    mode: &str,
    kind: Option<String>,
    tells_apart: bool,
) -> csi::VolumeCapability {
    let mode = match (mode, tells_apart) {
        ("ReadOnlyMany", _) => Mode::MultiNodeReaderOnly,
        ("ReadWriteMany", _) => Mode::MultiNodeMultiWriter,
        ("ReadWriteOncePod", true) => Mode::SingleNodeSingleWriter,
        ("ReadWriteOnce", true) => Mode::SingleNodeMultiWriter,
        (_, _) => Mode::SingleNodeWriter,
    };
    let access = match kind.as_deref() {
        Some("Block") => AccessType::Block(csi::volume_capability::BlockVolume {}),
        Some(_) | None => AccessType::Mount(MountVolume::default()),
    };
    csi::VolumeCapability {
        access_mode: Some(AccessMode { mode: mode.into() }),
        access_type: Some(access),
    }
}

fn written(
    view: &View<'_>,
    (key, claim): (&ObjectKey, &Value),
    (at, driver): (&ObjectKey, &str),
    volume: &csi::Volume,
) -> Value {
    let class = claims::class(view.cache, claim)
        .cloned()
        .unwrap_or_default();
    let mut attributes = json!(volume.volume_context);
    attributes["storage.kubernetes.io/csiProvisionerIdentity"] = json!(format!("world-{driver}"));
    let wanted = &claim["spec"]["resources"]["requests"]["storage"];
    let capacity = match volume.capacity_bytes {
        0 => wanted.clone(),
        bytes => json!(bytes.to_string()),
    };
    let mut made = at.kind.object(at);
    made["metadata"]["annotations"] = json!({ MADE_BY: driver });
    made["spec"] = json!({
        "accessModes": claim["spec"]["accessModes"],
        "capacity": { "storage": capacity },
        "claimRef": {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": key.namespace, "name": key.name,
            "uid": uid(claim), "resourceVersion": claim["metadata"]["resourceVersion"],
        },
        "csi": { "driver": driver, "volumeHandle": volume.volume_id, "volumeAttributes": attributes },
        "persistentVolumeReclaimPolicy": text(&class, "/reclaimPolicy").unwrap_or_else(|| "Delete".to_owned()),
        "storageClassName": claim["spec"]["storageClassName"],
        "volumeMode": text(claim, "/spec/volumeMode").unwrap_or_else(|| "Filesystem".to_owned()),
    });
    if !list(&class, "/mountOptions").is_empty() {
        made["spec"]["mountOptions"] = class["mountOptions"].clone();
    }
    let term = |place: &csi::Topology| {
        let all = place.segments.iter();
        let all = all.map(|(k, v)| json!({ "key": k, "operator": "In", "values": [v] }));
        json!({ "matchExpressions": all.collect::<Vec<_>>() })
    };
    let terms: Vec<Value> = volume.accessible_topology.iter().map(term).collect();
    if !terms.is_empty() {
        made["spec"]["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": terms } });
    }
    made
}

fn deleted(view: &View<'_>, key: &ObjectKey, volume: &Value) -> Vec<Operation> {
    let is_due = text(volume, "/status/phase").as_deref() == Some("Released")
        && text(volume, "/spec/persistentVolumeReclaimPolicy").as_deref() == Some("Delete")
        && !is_leaving(volume);
    let volumes = view.world.volumes.as_ref();
    let driver = annotation(volume, MADE_BY).filter(|d| volumes.is_some_and(|v| v.knows(d)));
    let (Some(driver), true) = (driver, is_due) else {
        return Vec::new();
    };
    let about = About::Volume {
        name: key.name.clone(),
    };
    match view.calls.toward(&about, Verb::Delete, view.at) {
        NextStep::Busy => Vec::new(),
        NextStep::Done(_) => {
            let removal = Removal::background(uid(volume));
            vec![
                Operation::Delete(key.clone(), removal),
                Operation::Forget(about),
            ]
        }
        NextStep::Later(time) => vec![Operation::Again(time)],
        NextStep::Go => {
            let job = Job::Delete(csi::DeleteVolumeRequest {
                volume_id: text(volume, "/spec/csi/volumeHandle").unwrap_or_default(),
                ..csi::DeleteVolumeRequest::default()
            });
            vec![Operation::Call(Box::new(Call { about, driver, job }))]
        }
    }
}

/// Returns a quantity in bytes. An unreadable quantity counts as absent.
fn bytes(quantity: Option<&Value>) -> i64 {
    const UNITS: [(&str, f64); 12] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("m", 0.001),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("", 1.0),
    ];
    let text = quantity.and_then(Value::as_str).unwrap_or_default();
    let read = |(unit, factor): (&str, f64)| {
        let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
        Some((number * factor).ceil())
    };
    let bytes = UNITS.into_iter().find_map(read).unwrap_or_default();
    // A value beyond the range is clamped to its end.
    #[allow(clippy::cast_possible_truncation, reason = "casts of floats saturate")]
    let bytes = bytes as i64;
    bytes.max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_bytes() {
        let said = ["1", "1Gi", "1500m", "2k", "1e3", "x", ""];
        let read = said.map(|text| bytes(Some(&json!(text))));
        assert_eq!(read, [1, 1 << 30, 2, 2000, 1000, 0, 0]);
        assert_eq!(bytes(None), 0);
    }
}
