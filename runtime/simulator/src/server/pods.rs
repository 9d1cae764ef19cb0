//! Decisions of the API server itself about Pods. The world schedules and runs them.

use serde_json::{Value, json};

use super::failure::Cause;
use super::object::{fill, list, map, text};
use super::{containers, names, selectors};

/// Adds the fields that admission sets on every Pod.
pub(crate) fn prepare_new(pod: &mut Value) {
    let class = quality(pod);
    let spec = map(pod, "spec");
    fill(spec, "priority", 0);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    tolerate(pod);
    pod["status"] = json!({"phase": "Pending", "qosClass": class});
}

/// Adds the tolerations that every Pod has for a while, also after a change.
pub(crate) fn tolerate(pod: &mut Value) {
    let spec = map(pod, "spec");
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

/// Returns the errors of a Pod template.
pub(crate) fn of_template(template: &Value, at: &str) -> Vec<Cause> {
    let labels = &template["metadata"]["labels"];
    let mut causes = selectors::of_labels(labels, &format!("{at}.labels"));
    causes.extend(of_spec(&template["spec"], &format!("{at}.spec")));
    if !list(&template["spec"], "ephemeralContainers").is_empty() {
        let path = format!("{at}.spec.ephemeralContainers");
        let detail = "ephemeral containers not allowed in pod template";
        causes.push(Cause::forbidden(path, detail));
    }
    causes
}

/// Returns the errors of the spec of a Pod or of a Pod template.
pub(crate) fn of_spec(spec: &Value, at: &str) -> Vec<Cause> {
    let mut causes = containers::of_volumes(spec, at);
    causes.extend(containers::of_containers(spec, at));
    let known = ["Always", "OnFailure", "Never"];
    causes.extend(Cause::not_among(spec, at, "restartPolicy", &known));
    let account = text(spec, "serviceAccountName");
    if !account.is_empty() {
        let path = format!("{at}.serviceAccountName");
        let wrong = names::subdomain(account);
        causes.extend(Cause::all_invalid(path, &account.into(), wrong));
    }
    causes
}

/// Tolerations may be added, and their times may change.
fn keeps_tolerations(old: &Value, new: &Value) -> bool {
    let timeless = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(fields) = toleration.as_object_mut() {
            fields.remove("tolerationSeconds");
        }
        toleration
    };
    let after: Vec<Value> = list(new, "tolerations").iter().map(timeless).collect();
    let mut before = list(old, "tolerations").iter().map(timeless);
    before.all(|toleration| after.contains(&toleration))
}

/// A Pod's spec hardly ever changes.
pub(crate) fn validate_changed(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = of_spec(&new["spec"], "spec");
    let before = &old["spec"];
    if list(before, "containers").len() != list(&new["spec"], "containers").len() {
        let detail = "pod updates may not add or remove containers";
        causes.push(Cause::forbidden("spec.containers", detail));
        return causes;
    }
    let (was, is) = (
        &before["activeDeadlineSeconds"],
        &new["spec"]["activeDeadlineSeconds"],
    );
    if let Some(was) = was.as_i64() {
        if is.is_null() {
            let detail = "must not update from a positive integer to nil value";
            causes.push(Cause::invalid("spec.activeDeadlineSeconds", is, detail));
        }
        if is.as_i64().is_some_and(|is| is > was) {
            let detail = "must be less than or equal to previous value";
            causes.push(Cause::invalid("spec.activeDeadlineSeconds", is, detail));
            return causes;
        }
    }
    if !keeps_tolerations(before, &new["spec"]) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        causes.push(Cause::forbidden("spec.tolerations", detail));
    }
    let mut allowed = new["spec"].clone();
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
        return causes;
    }
    let detail = "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,\
        `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
        `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";
    causes.push(Cause::forbidden("spec", detail));
    causes
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
