//! Volumes and related kinds: their errors and their immutable fields.

use serde_json::{Map, Value};

use super::failure::Cause;
use super::immutable::same;
use super::object::{list, text};
use super::{names, selectors};

/// Ways to mount a volume, in the order in which the real server lists them.
const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const FORMS: [&str; 2] = ["Block", "Filesystem"];

/// Fields of the spec of a PersistentVolume that are no source of one.
const NO_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

/// Returns the errors of an object that holds for new and changed ones.
pub(crate) fn validate(plural: &str, object: &Value) -> Vec<Cause> {
    match plural {
        "storageclasses" if text(object, "provisioner").is_empty() => {
            vec![Cause::required("provisioner", "")]
        }
        "persistentvolumes" => of_volume(&object["spec"]),
        "persistentvolumeclaims" => of_claim(&object["spec"]),
        _ => Vec::new(),
    }
}

fn of_volume(spec: &Value) -> Vec<Cause> {
    let mut causes = of_modes(spec, "");
    if spec["capacity"].as_object().is_none_or(Map::is_empty) {
        causes.push(Cause::required("spec.capacity", ""));
    }
    let fields = spec.as_object().into_iter().flatten();
    let mut sources = fields.filter(|(field, _)| !NO_SOURCES.contains(&field.as_str()));
    if sources.next().is_none() {
        causes.push(Cause::required("spec", "must specify a volume type"));
    }
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    let known = ["Delete", "Recycle", "Retain"];
    if !policy.is_empty() && !known.contains(&policy) {
        let path = "spec.persistentVolumeReclaimPolicy";
        causes.push(Cause::unsupported(path, &policy.into(), &known));
    }
    causes.extend(of_class_and_form(spec));
    causes
}

fn of_claim(spec: &Value) -> Vec<Cause> {
    let mut causes = selectors::validate(&spec["selector"], "spec.selector");
    causes.extend(of_modes(spec, "at least 1 access mode is required"));
    let modes = list(spec, "accessModes");
    let single = |mode: &Value| mode == "ReadWriteOncePod";
    if modes.iter().any(single) && !modes.iter().all(single) {
        let detail = "may not use ReadWriteOncePod with other access modes";
        causes.push(Cause::forbidden("spec.accessModes", detail));
    }
    if spec["resources"]["requests"]["storage"].is_null() {
        causes.push(Cause::required("spec.resources[storage]", ""));
    }
    causes.extend(of_class_and_form(spec));
    causes
}

fn of_modes(spec: &Value, detail: &str) -> Vec<Cause> {
    let modes = list(spec, "accessModes");
    if modes.is_empty() {
        return vec![Cause::required("spec.accessModes", detail)];
    }
    let unknown = modes
        .iter()
        .filter(|mode| !MODES.iter().any(|known| mode == known));
    unknown
        .map(|mode| Cause::unsupported("spec.accessModes", mode, &MODES))
        .collect()
}

fn of_class_and_form(spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        let (path, wrong) = ("spec.storageClassName", names::subdomain(class));
        causes.extend(Cause::all_invalid(path, &class.into(), wrong));
    }
    causes.extend(Cause::not_among(spec, "spec", "volumeMode", &FORMS));
    causes
}

pub(crate) fn validate_changed(plural: &str, old: &Value, new: &Value) -> Vec<Cause> {
    match plural {
        "persistentvolumes" => volume(old, new),
        "persistentvolumeclaims" => claim(old, new),
        "storageclasses" => storage_class(old, new),
        "volumeattachments" => {
            if old["spec"] == new["spec"] {
                return Vec::new();
            }
            vec![Cause::invalid("spec", &new["spec"], "field is immutable")]
        }
        "csidrivers" => ["attachRequired", "volumeLifecycleModes"]
            .iter()
            .flat_map(|field| same(old, new, &["spec", field]))
            .collect(),
        _ => Vec::new(),
    }
}

fn storage_class(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (field, detail) in [
        ("parameters", "updates to parameters are forbidden."),
        ("provisioner", "updates to provisioner are forbidden."),
    ] {
        if old.get(field) != new.get(field) {
            causes.push(Cause::forbidden(field, detail));
        }
    }
    causes.extend(same(old, new, &["reclaimPolicy"]));
    causes.extend(same(old, new, &["volumeBindingMode"]));
    causes
}

fn volume(old: &Value, new: &Value) -> Vec<Cause> {
    let mut before = old["spec"].clone();
    let mut after = new["spec"].clone();
    let mut causes = Vec::new();
    let affinity = (
        before.get("nodeAffinity").cloned(),
        after.get("nodeAffinity").cloned(),
    );
    if affinity.0.is_some() && affinity.0 != affinity.1 {
        let shown = affinity.1.unwrap_or(Value::Null);
        causes.push(Cause::invalid(
            "spec.nodeAffinity",
            &shown,
            "field is immutable",
        ));
    }
    for spec in [&mut before, &mut after] {
        let Some(spec) = spec.as_object_mut() else {
            continue;
        };
        // Only where the data are may not change.
        spec.retain(|field, value| {
            value.is_object() && !["capacity", "claimRef", "nodeAffinity"].contains(&field.as_str())
        });
    }
    if before != after {
        let detail = "spec.persistentvolumesource is immutable after creation";
        causes.push(Cause::forbidden("spec.persistentvolumesource", detail));
    }
    causes
}

fn claim(old: &Value, new: &Value) -> Vec<Cause> {
    let mut before = old["spec"].clone();
    let mut after = new["spec"].clone();
    for spec in [&mut before, &mut after] {
        for field in ["resources", "volumeAttributesClassName"] {
            spec.as_object_mut().map(|spec| spec.remove(field));
        }
    }
    // A claim is bound once, and may get the default class before.
    for field in ["volumeName", "storageClassName"] {
        if before.get(field).is_none() {
            after.as_object_mut().map(|spec| spec.remove(field));
        }
    }
    if before == after {
        return Vec::new();
    }
    let detail = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    vec![Cause::forbidden("spec", detail)]
}
