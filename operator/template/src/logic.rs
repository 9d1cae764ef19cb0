//! The parts that the declaration cannot express: how facts derive from observed objects, and the
//! objects that effects write. Pure: same input, same output.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec, DeploymentStatus};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use lifecycle_runtime::{Because, Desired, This};

use crate::lifecycle::{ApplyDeployment, Rollout, Website, WebsiteLogic};

/// Label by which the Deployment selects its Pods.
const NAME: &str = "web.example.org/name";

/// Logic of the Website lifecycle: evaluates its facts and builds the objects that it writes.
pub struct Logic;

impl WebsiteLogic for Logic {
    fn rollout(&self, this: This<'_, Website>, deployment: &Deployment) -> Because<Rollout> {
        let status = deployment.status.clone().unwrap_or_default();
        let is_seen = status.observed_generation >= deployment.metadata.generation;
        let mut conditions = status.conditions.iter().flatten();
        let is_stuck = conditions.any(|one| one.type_ == "Progressing" && one.status == "False");
        let wanted = this.spec.replicas;
        match awaited(&status, wanted) {
            _ if !is_seen => Because::new(
                Rollout::Going,
                "the Deployment controller has not observed the newest Deployment yet",
            ),
            _ if is_stuck => Because::new(
                Rollout::Stuck,
                "the Deployment makes no progress: check its Pods",
            ),
            Some(awaited) => Because::new(Rollout::Going, awaited),
            None => Because::new(
                Rollout::Done,
                format!("{wanted} of {wanted} Pods are available"),
            ),
        }
    }

    fn apply_deployment(&self, at: ApplyDeployment<'_>) -> Desired<Deployment> {
        let name = at.this.meta.name.clone().unwrap_or_default();
        let labels = BTreeMap::from([(NAME.to_owned(), name)]);
        let container = Container {
            name: "main".to_owned(),
            image: Some(at.this.spec.image.clone()),
            ..Container::default()
        };
        Desired::from_object(&Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(at.this.spec.replicas),
                selector: LabelSelector {
                    match_labels: Some(labels.clone()),
                    ..LabelSelector::default()
                },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta {
                        labels: Some(labels),
                        ..ObjectMeta::default()
                    }),
                    spec: Some(PodSpec {
                        containers: vec![container],
                        ..PodSpec::default()
                    }),
                },
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        })
    }
}

/// Returns the progress that a rollout still waits for, in the order of `kubectl rollout status`.
fn awaited(status: &DeploymentStatus, wanted: i32) -> Option<String> {
    let counts = [
        status.replicas,
        status.updated_replicas,
        status.available_replicas,
    ];
    let [all, updated, available] = counts.map(Option::unwrap_or_default);
    match () {
        () if updated < wanted => Some(format!("{updated} of {wanted} Pods are updated")),
        () if all > wanted => Some(format!("old Pods that are still to end: {}", all - wanted)),
        () if available < wanted => Some(format!("{available} of {wanted} Pods are available")),
        () => None,
    }
}
