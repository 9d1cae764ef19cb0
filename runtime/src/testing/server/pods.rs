//! Pods: what the API server itself decides about them. Scheduling and running them is the world's.

use serde_json::{Value, json};

use super::failure::Cause;
use super::object::{fill, list, map, text};

/// What admission adds to every Pod.
pub(crate) fn prepare_new(pod: &mut Value) {
    let class = quality(pod);
    let spec = map(pod, "spec");
    fill(spec, "priority", 0);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    let mut tolerations = spec
        .get("tolerations")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    for taint in ["not-ready", "unreachable"] {
        let key = format!("node.kubernetes.io/{taint}");
        let known = tolerations.iter().any(|one| {
            let (found, effect) = (text(one, "key"), text(one, "effect"));
            (found == key || found.is_empty()) && (effect == "NoExecute" || effect.is_empty())
        });
        if !known {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
    spec.insert("tolerations".to_owned(), tolerations.into());
    pod["status"] = json!({"phase": "Pending", "qosClass": class});
}

/// The quality of service that requests and limits buy.
fn quality(pod: &Value) -> &'static str {
    let containers = list(&pod["spec"], "containers");
    let all = containers
        .iter()
        .chain(list(&pod["spec"], "initContainers"));
    let (mut any, mut guaranteed) = (false, true);
    for container in all {
        let resources = &container["resources"];
        let (requests, limits) = (&resources["requests"], &resources["limits"]);
        for name in ["cpu", "memory"] {
            any |= requests.get(name).is_some() || limits.get(name).is_some();
            guaranteed &= limits.get(name).is_some()
                && (requests.get(name).is_none() || requests.get(name) == limits.get(name));
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

pub(crate) fn validate_new(pod: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let containers = list(&pod["spec"], "containers");
    if containers.is_empty() {
        causes.push(Cause::required("spec.containers", ""));
    }
    let mut names: Vec<&str> = Vec::new();
    for (index, container) in containers.iter().enumerate() {
        let path = |field: &str| format!("spec.containers[{index}].{field}");
        let name = text(container, "name");
        if name.is_empty() {
            causes.push(Cause::required(path("name"), ""));
        } else if names.contains(&name) {
            causes.push(Cause::duplicate(path("name"), &name.into()));
        }
        names.push(name);
        if text(container, "image").is_empty() {
            causes.push(Cause::required(path("image"), ""));
        }
        for (mount, value) in list(container, "volumeMounts").iter().enumerate() {
            let volume = text(value, "name");
            let known = list(&pod["spec"], "volumes")
                .iter()
                .any(|one| text(one, "name") == volume);
            if !known {
                let path = format!("spec.containers[{index}].volumeMounts[{mount}].name");
                causes.push(not_found(path, volume));
            }
        }
    }
    causes
}

fn not_found(field: String, value: &str) -> Cause {
    Cause {
        reason: "FieldValueNotFound".to_owned(),
        message: format!("Not found: {value:?}"),
        field,
    }
}

/// A Pod's spec hardly ever changes.
pub(crate) fn validate_changed(old: &Value, new: &Value) -> Vec<Cause> {
    let mut allowed = new["spec"].clone();
    let before = &old["spec"];
    for list in ["containers", "initContainers"] {
        let Some(containers) = allowed.get_mut(list).and_then(Value::as_array_mut) else {
            continue;
        };
        for (index, container) in containers.iter_mut().enumerate() {
            container["image"] = before[list][index]["image"].clone();
        }
    }
    for field in [
        "activeDeadlineSeconds",
        "tolerations",
        "terminationGracePeriodSeconds",
    ] {
        let value = before.get(field).cloned();
        if let Some(spec) = allowed.as_object_mut() {
            super::object::set(spec, field, value);
        }
    }
    if allowed == *before {
        return Vec::new();
    }
    let detail = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
        `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
        `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    vec![Cause::forbidden("spec", detail)]
}

/// How long a Pod has to end.
pub(crate) fn grace(pod: &Value, asked: Option<i64>) -> i64 {
    let phase = text(&pod["status"], "phase");
    if text(&pod["spec"], "nodeName").is_empty() || ["Succeeded", "Failed"].contains(&phase) {
        return 0;
    }
    let own = pod["spec"]["terminationGracePeriodSeconds"].as_i64();
    asked.or(own).unwrap_or(30).max(0)
}
