//! Rows of volumes, claims, classes and drivers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::PrinterRow;
use super::cells::{age, given, is_deleting, items, joined, name, text, text_or, truth};

pub(super) const PRINTERS: &[PrinterRow] = &[
    (
        "",
        "PersistentVolume",
        "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|+VolumeMode",
        volume,
    ),
    (
        "",
        "PersistentVolumeClaim",
        "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|+VolumeMode",
        claim,
    ),
    (
        "storage.k8s.io",
        "StorageClass",
        "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
        class,
    ),
    (
        "storage.k8s.io",
        "CSIDriver",
        "Name|AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests|RequiresRepublish:boolean|Modes|Age",
        driver,
    ),
    (
        "storage.k8s.io",
        "CSINode",
        "Name|Drivers:integer|Age",
        node,
    ),
    (
        "storage.k8s.io",
        "VolumeAttachment",
        "Name|Attacher|PV|Node|Attached:boolean|Age",
        attachment,
    ),
    (
        "storage.k8s.io",
        "VolumeAttributesClass",
        "Name|DriverName|Age",
        attributes_class,
    ),
];

const UNSET: &str = "<unset>";
/// Annotation for the class from the time before its field existed.
const OLD_CLASS: &str = "/metadata/annotations/volume.beta.kubernetes.io~1storage-class";

fn volume(object: &Value, now: Timestamp) -> Vec<Value> {
    let claim = match given(&object["spec"], "claimRef") {
        None => String::new(),
        Some(claim) => format!("{}/{}", text(claim, "/namespace"), text(claim, "/name")),
    };
    vec![
        name(object),
        quantity(object, "/spec/capacity/storage").into(),
        modes(object, "/spec/accessModes").into(),
        text(object, "/spec/persistentVolumeReclaimPolicy").into(),
        phase(object).into(),
        claim.into(),
        text_or(object, OLD_CLASS, text(object, "/spec/storageClassName")).into(),
        text_or(object, "/spec/volumeAttributesClassName", UNSET).into(),
        text(object, "/status/reason").into(),
        age(object, now),
        text_or(object, "/spec/volumeMode", UNSET).into(),
    ]
}

fn claim(object: &Value, now: Timestamp) -> Vec<Value> {
    let bound = !text(object, "/spec/volumeName").is_empty();
    let of_bound = |said: String| if bound { said } else { String::new() };
    vec![
        name(object),
        phase(object).into(),
        text(object, "/spec/volumeName").into(),
        of_bound(quantity(object, "/status/capacity/storage")).into(),
        of_bound(modes(object, "/status/accessModes")).into(),
        text_or(object, OLD_CLASS, text(object, "/spec/storageClassName")).into(),
        text_or(object, "/spec/volumeAttributesClassName", UNSET).into(),
        age(object, now),
        text_or(object, "/spec/volumeMode", UNSET).into(),
    ]
}

fn phase(object: &Value) -> &str {
    if is_deleting(object) {
        "Terminating"
    } else {
        text(object, "/status/phase")
    }
}

fn quantity(object: &Value, pointer: &str) -> String {
    object
        .pointer(pointer)
        .map_or_else(|| "0".to_owned(), super::path::printed)
}

fn modes(object: &Value, pointer: &str) -> String {
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let modes = items(object, pointer);
    joined(
        short
            .into_iter()
            .filter(|(mode, _)| modes.iter().any(|other| other == mode))
            .map(|(_, short)| short),
    )
}

fn class(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name_of_default(object, "storageclass.kubernetes.io/is-default-class"),
        text(object, "/provisioner").into(),
        text_or(object, "/reclaimPolicy", "Delete").into(),
        text_or(object, "/volumeBindingMode", "Immediate").into(),
        truth(object, "/allowVolumeExpansion", false).into(),
        age(object, now),
    ]
}

/// The name, with a word behind it for the class that is taken where none is named.
pub(super) fn name_of_default(object: &Value, annotation: &str) -> Value {
    let name = text(object, "/metadata/name");
    match object["metadata"]["annotations"][annotation].as_str() {
        Some("true") => format!("{name} (default)").into(),
        Some(_) | None => name.into(),
    }
}

fn driver(object: &Value, now: Timestamp) -> Vec<Value> {
    let spec = &object["spec"];
    let modes = joined(
        items(spec, "/volumeLifecycleModes")
            .iter()
            .filter_map(Value::as_str),
    );
    let requests = match given(spec, "tokenRequests") {
        None => UNSET.to_owned(),
        Some(requests) => joined(
            items(requests, "")
                .iter()
                .map(|request| text(request, "/audience")),
        ),
    };
    vec![
        name(object),
        truth(spec, "/attachRequired", true).into(),
        truth(spec, "/podInfoOnMount", false).into(),
        truth(spec, "/storageCapacity", false).into(),
        requests.into(),
        truth(spec, "/requiresRepublish", false).into(),
        if modes.is_empty() {
            "<none>".into()
        } else {
            modes.into()
        },
        age(object, now),
    ]
}

fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        json!(items(object, "/spec/drivers").len()),
        age(object, now),
    ]
}

fn attachment(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        text(object, "/spec/attacher").into(),
        text(object, "/spec/source/persistentVolumeName").into(),
        text(object, "/spec/nodeName").into(),
        truth(object, "/status/attached", false).into(),
        age(object, now),
    ]
}

fn attributes_class(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        text(object, "/driverName").into(),
        age(object, now),
    ]
}
