//! Fields that an update may not change, and how the real server refuses it.

use serde_json::Value;

use super::failure::Cause;

/// A field that never changes.
pub(crate) fn same(old: &Value, new: &Value, path: &[&str]) -> Vec<Cause> {
    let at = |object: &Value| {
        let mut value = object;
        for step in path {
            value = value.get(step).unwrap_or(&Value::Null);
        }
        value.clone()
    };
    let after = at(new);
    if at(old) == after {
        return Vec::new();
    }
    vec![Cause::invalid(path.join("."), &after, "field is immutable")]
}

/// Returns the errors of a change to immutable data. The type of any ConfigMap or Secret is
/// immutable, and so is the data if the object sets `immutable`.
pub(crate) fn immutable_data(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if old.get("type") != new.get("type") {
        causes.extend(same(old, new, &["type"]));
    }
    if old["immutable"] != true {
        return causes;
    }
    if new["immutable"] != true {
        let detail = "field is immutable when `immutable` is set";
        causes.push(Cause::forbidden("immutable", detail));
    }
    for field in ["data", "binaryData"] {
        if old.get(field) != new.get(field) {
            let detail = "field is immutable when `immutable` is set";
            causes.push(Cause::forbidden(field, detail));
        }
    }
    causes
}

/// All but a few fields of a StatefulSet stay.
pub(crate) fn stateful_set(old: &Value, new: &Value) -> Vec<Cause> {
    let mut before = old["spec"].clone();
    let mut after = new["spec"].clone();
    for spec in [&mut before, &mut after] {
        for field in [
            "replicas",
            "ordinals",
            "template",
            "updateStrategy",
            "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
            "minReadySeconds",
        ] {
            spec.as_object_mut().map(|spec| spec.remove(field));
        }
    }
    if before == after {
        return Vec::new();
    }
    let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', \
        'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    vec![Cause::forbidden("spec", detail)]
}
