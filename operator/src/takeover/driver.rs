//! The CSIDriver and the StorageClass: fields that differ from this operator's manifest. Some of
//! them are immutable.

use std::collections::BTreeSet;

use k8s_openapi::api::storage::v1::{CSIDriver, CSIDriverSpec, StorageClass};
use kube::ResourceExt;
use lifecycle_runtime::yaml;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::finding::Finding;

/// Our manifest of both.
const INSTALLED: &str = include_str!("../sandbox/installed/driver.yaml");

/// The differences of a CSIDriver.
pub(crate) fn driver(live: &CSIDriver) -> Vec<Finding> {
    let wanted: CSIDriver = installed("CSIDriver");
    let object = format!("CSIDriver {}", live.name_any());
    let fixed = fixed_of_driver(&live.spec).into_iter();
    let fixed = fixed.zip(fixed_of_driver(&wanted.spec));
    let fixed: Vec<String> = fixed
        .filter_map(|(live, wanted)| difference(&live, &wanted))
        .collect();
    let free = free_of_driver(&live.spec).into_iter();
    let free = free.zip(free_of_driver(&wanted.spec));
    let free: Vec<String> = free
        .filter_map(|(live, wanted)| difference(&live, &wanted))
        .collect();
    let mut findings = Vec::new();
    if !fixed.is_empty() {
        findings.push(Finding::blocks(
            &object,
            format!("{}; this is immutable, so the API server would refuse `kubectl apply` of our manifest", fixed.join("; ")),
            "delete it while no Pod that mounts a Listener starts, and apply deploy/install/driver.yaml at once: in between, mounts lack the information about their Pod",
        ));
    }
    if !free.is_empty() {
        let found = format!(
            "{}; `kubectl apply` of our manifest changes that",
            free.join("; ")
        );
        findings.push(Finding::note(&object, found, ""));
    }
    findings
}

/// The differences of a StorageClass.
pub(crate) fn storage_class(live: &StorageClass) -> Vec<Finding> {
    let wanted: StorageClass = installed("StorageClass");
    let pairs = fixed_of_class(live)
        .into_iter()
        .zip(fixed_of_class(&wanted));
    let fixed: Vec<String> = pairs
        .filter_map(|(live, wanted)| difference(&live, &wanted))
        .collect();
    if fixed.is_empty() {
        return Vec::new();
    }
    vec![Finding::blocks(
        &format!("StorageClass {}", live.name_any()),
        format!(
            "{}; this is immutable, so the API server would refuse `kubectl apply` of our manifest",
            fixed.join("; ")
        ),
        "delete it and apply deploy/install/driver.yaml: claims that are bound keep their volumes",
    )]
}

/// Path and its value, with the default of the API server if it is absent.
type Field = (&'static str, Value);

fn fixed_of_driver(spec: &CSIDriverSpec) -> [Field; 2] {
    let modes = spec.volume_lifecycle_modes.iter().flatten();
    let mut modes: BTreeSet<&str> = modes.map(String::as_str).collect();
    if modes.is_empty() {
        modes.insert("Persistent");
    }
    [
        (
            "attachRequired",
            json!(spec.attach_required.unwrap_or(true)),
        ),
        ("volumeLifecycleModes", json!(modes)),
    ]
}

fn free_of_driver(spec: &CSIDriverSpec) -> [Field; 3] {
    let policy = spec.fs_group_policy.as_deref();
    [
        (
            "podInfoOnMount",
            json!(spec.pod_info_on_mount.unwrap_or(false)),
        ),
        (
            "fsGroupPolicy",
            json!(policy.unwrap_or("ReadWriteOnceWithFSType")),
        ),
        (
            "requiresRepublish",
            json!(spec.requires_republish.unwrap_or(false)),
        ),
    ]
}

fn fixed_of_class(class: &StorageClass) -> [Field; 4] {
    let mode = class.volume_binding_mode.as_deref().unwrap_or("Immediate");
    let policy = class.reclaim_policy.as_deref().unwrap_or("Delete");
    [
        ("provisioner", json!(class.provisioner)),
        (
            "parameters",
            json!(class.parameters.clone().unwrap_or_default()),
        ),
        ("reclaimPolicy", json!(policy)),
        ("volumeBindingMode", json!(mode)),
    ]
}

fn difference((path, live): &Field, (_, wanted): &Field) -> Option<String> {
    (live != wanted).then(|| format!("`{path}` is {live} and not {wanted}"))
}

/// The object of a kind in our manifest.
fn installed<K: DeserializeOwned>(kind: &str) -> K {
    let all: Vec<Value> = yaml::all(INSTALLED).expect("a test reads the manifest");
    let found = all.into_iter().find(|one| one["kind"] == kind);
    let found = found.and_then(|one| serde_json::from_value(one).ok());
    found.expect("a test reads both kinds")
}
