//! The part that a node plays for the router of a Site.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_skupper::router::SITE;
use lifecycle_suite::resources::Site as Place;
use serde_json::json;

/// A Pod of the router of a Site runs.
pub(super) async fn runs(place: &Place, site: &str) -> kube::Result<bool> {
    let namespace = place.object["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(place.client().clone(), namespace);
    let name = "skupper-router-1";
    let labels = json!({ "application": "skupper-router", SITE: site });
    let there = pods.get_opt(name).await?;
    let is_right = |pod: &Pod| json!(pod.labels()) == labels;
    if there.as_ref().is_some_and(|pod| !is_right(pod)) {
        pods.delete(name, &DeleteParams::default()).await?;
    }
    if !there.is_some_and(|pod| is_right(&pod)) {
        let pod = json!({
            "metadata": { "name": name, "labels": labels },
            "spec": { "containers": [{ "name": "router", "image": "router:1" }] },
        });
        let pod: Pod = serde_json::from_value(pod).map_err(kube::Error::SerdeError)?;
        pods.create(&PostParams::default(), &pod).await?;
    }
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    place
        .edit(&path, |pod| {
            pod["status"] = json!({
                "phase": "Running", "podIP": "10.0.0.1",
                "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z" }],
            });
        })
        .await
}
