//! Volumes and related kinds: their immutable fields.

use serde_json::Value;

use super::failure::Cause;
use super::immutable::same;
use super::object::text;

pub(crate) fn validate_new(plural: &str, object: &Value) -> Vec<Cause> {
    match plural {
        "storageclasses" if text(object, "provisioner").is_empty() => {
            vec![Cause::required("provisioner", "")]
        }
        "persistentvolumes" => {
            let mut causes = Vec::new();
            if object["spec"]["accessModes"]
                .as_array()
                .is_none_or(Vec::is_empty)
            {
                causes.push(Cause::required("spec.accessModes", ""));
            }
            if object["spec"]["capacity"]
                .as_object()
                .is_none_or(serde_json::Map::is_empty)
            {
                causes.push(Cause::required("spec.capacity", ""));
            }
            causes
        }
        _ => Vec::new(),
    }
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
