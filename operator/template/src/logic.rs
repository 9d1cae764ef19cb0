//! What the declaration cannot know: how a fact is told from what is seen, and what an effect writes. Pure: same input, same output.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use lifecycle_runtime::{Because, Desired, This};

use crate::lifecycle::{ApplyDeployment, Rollout, Website, WebsiteLogic};

/// The label by which the Deployment knows its Pods.
const NAME: &str = "web.example.org/name";

/// What is written and decided for each Website.
pub struct Logic;

impl WebsiteLogic for Logic {
    fn rollout(&self, this: This<'_, Website>, deployment: &Deployment) -> Because<Rollout> {
        let wanted = this.spec.replicas;
        let status = deployment.status.clone().unwrap_or_default();
        let seen = status.observed_generation >= deployment.metadata.generation;
        let conditions = status.conditions.as_deref().unwrap_or_default();
        let stuck = conditions
            .iter()
            .any(|one| one.type_ == "Progressing" && one.status == "False");
        let available = status.available_replicas.unwrap_or_default();
        let counts = [status.replicas, status.updated_replicas];
        let all_new = counts
            .iter()
            .all(|count| count.unwrap_or_default() == wanted);
        match (seen, stuck) {
            (true, true) => Because::new(
                Rollout::Stuck,
                "the Deployment makes no progress: look at its Pods",
            ),
            (true, false) if all_new && available == wanted => Because::new(
                Rollout::Done,
                format!("{available} of {wanted} Pods are available"),
            ),
            (_, _) => Because::new(
                Rollout::Going,
                format!("{available} of {wanted} Pods are available"),
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
        Desired::of(&Deployment {
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
