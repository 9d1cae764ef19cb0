//! A web server and everything around it: five objects that are judged as one, one of them only where there are several copies.

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{
    ConfigMap, Container, PodSpec, PodTemplateSpec, Service, ServiceAccount, ServicePort,
    ServiceSpec,
};
use k8s_openapi::api::policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Front.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "front.tests",
    version = "v1",
    kind = "Front",
    namespaced,
    status = "FrontStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct FrontSpec {
    /// Text that visitors read first.
    pub greeting: String,
    /// How many copies there are.
    pub replicas: i32,
}

/// Observed state of a Front.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FrontStatus {
    /// Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

include!("../../../macros/core/tests/lifecycles/front.txt");

/// Label shared by the objects that belong together.
const APP: &str = "app.kubernetes.io/name";

/// The logic of a Front.
pub struct Web;

fn selector(this: &This<'_, Front>) -> LabelSelector {
    let name = this.meta.name.clone().unwrap_or_default();
    LabelSelector {
        match_labels: Some([(APP.to_owned(), name)].into()),
        ..LabelSelector::default()
    }
}

impl FrontLogic for Web {
    fn served(&self, _: This<'_, Front>, server: Option<&Deployment>) -> Because<Served> {
        let Some(server) = server else {
            return Because::new(Served::Going, "there is no Deployment yet");
        };
        let wanted = server.spec.as_ref().and_then(|s| s.replicas).unwrap_or(1);
        let status = server.status.clone().unwrap_or_default();
        let conditions = status.conditions.as_deref().unwrap_or_default();
        let mut conditions = conditions.iter();
        let is_stuck = conditions.any(|c| c.type_ == "Progressing" && c.status == "False");
        let is_seen = status.observed_generation >= server.metadata.generation;
        let available = status.available_replicas.unwrap_or_default();
        match (is_seen, is_stuck) {
            (true, true) => Because::new(
                Served::Failed,
                "the Deployment makes no progress: check its Pods",
            ),
            (true, false) if available == wanted => Because::plain(Served::Done),
            (true | false, false) | (false, true) => Because::new(
                Served::Going,
                format!("{available} of {wanted} Pods are available"),
            ),
        }
    }

    fn apply_parts_account(&self, _: ApplyParts<'_>) -> Desired<ServiceAccount> {
        Desired::from_object(&ServiceAccount {
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        })
    }

    fn apply_parts_config(&self, at: ApplyParts<'_>) -> Desired<ConfigMap> {
        let greeting = at.this.spec.greeting.clone();
        Desired::from_object(&ConfigMap {
            data: Some([("greeting".to_owned(), greeting)].into()),
            ..ConfigMap::default()
        })
    }

    fn apply_parts_web(&self, at: ApplyParts<'_>) -> Desired<Service> {
        Desired::from_object(&Service {
            spec: Some(ServiceSpec {
                cluster_ip: Some("None".to_owned()),
                selector: selector(&at.this).match_labels,
                ports: Some(vec![ServicePort {
                    name: Some("http".to_owned()),
                    port: 80,
                    ..ServicePort::default()
                }]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        })
    }

    fn apply_parts_server(&self, at: ApplyParts<'_>) -> Desired<Deployment> {
        let selector = selector(&at.this);
        Desired::from_object(&Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(at.this.spec.replicas),
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta {
                        labels: selector.match_labels.clone(),
                        ..ObjectMeta::default()
                    }),
                    spec: Some(PodSpec {
                        service_account_name: at.this.meta.name.clone(),
                        containers: vec![Container {
                            name: "web".to_owned(),
                            image: Some("web:1".to_owned()),
                            ..Container::default()
                        }],
                        ..PodSpec::default()
                    }),
                },
                selector,
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        })
    }

    fn apply_parts_budget(&self, at: ApplyParts<'_>) -> Option<Desired<PodDisruptionBudget>> {
        (at.this.spec.replicas > 1).then(|| {
            Desired::from_object(&PodDisruptionBudget {
                spec: Some(PodDisruptionBudgetSpec {
                    min_available: Some(IntOrString::Int(1)),
                    selector: Some(selector(&at.this)),
                    ..PodDisruptionBudgetSpec::default()
                }),
                ..PodDisruptionBudget::default()
            })
        })
    }
}
