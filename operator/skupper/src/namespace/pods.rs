//! Pods that a selector matches: those that run, are not being deleted, and are ready unless
//! readiness does not matter.

use k8s_openapi::api::core::v1::Pod;
use lifecycle_specs_skupper::SelectedPod;

/// The Pods among these that connections may be led to, by name.
pub fn selected<'a>(
    pods: impl IntoIterator<Item = &'a Pod>,
    include_not_ready: bool,
) -> Vec<(SelectedPod, String)> {
    let mut found: Vec<_> = pods
        .into_iter()
        .filter(|pod| include_not_ready || is_ready(pod))
        .filter_map(reachable)
        .collect();
    found.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    found
}

/// A Pod that runs, with its uid.
fn reachable(pod: &Pod) -> Option<(SelectedPod, String)> {
    let status = pod.status.as_ref()?;
    let runs = status.phase.as_deref() == Some("Running");
    if !runs || pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let selected = SelectedPod {
        name: pod.metadata.name.clone()?,
        ip: status.pod_ip.clone().filter(|ip| !ip.is_empty())?,
    };
    Some((selected, pod.metadata.uid.clone().unwrap_or_default()))
}

/// Returns true if the Pod itself reports that it is ready.
pub fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|s| s.conditions.as_ref());
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, status: Value) -> Pod {
        let pod =
            json!({ "metadata": { "name": name, "uid": format!("uid-{name}") }, "status": status });
        serde_json::from_value(pod).expect("it is a Pod")
    }

    fn running(ready: &str) -> Value {
        json!({ "phase": "Running", "podIP": "10.0.0.1", "conditions": [{ "type": "Ready", "status": ready }] })
    }

    fn names(pods: &[Pod], include_not_ready: bool) -> Vec<String> {
        let selected = selected(pods, include_not_ready).into_iter();
        selected.map(|(pod, _)| pod.name).collect()
    }

    #[test]
    fn pods_are_selected_that_run_and_are_ready() {
        let mut going = pod("going", running("True"));
        going.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).expect("it is a time");
        let all = [
            pod("b", running("True")),
            pod("a", running("True")),
            pod("unready", running("False")),
            pod("pending", json!({ "phase": "Pending" })),
            pod(
                "without-address",
                json!({ "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] }),
            ),
            pod("done", json!({ "phase": "Succeeded", "podIP": "10.0.0.2" })),
            going,
        ];
        assert_eq!(names(&all, false), ["a", "b"]);
        assert_eq!(names(&all, true), ["a", "b", "unready"]);
    }
}
