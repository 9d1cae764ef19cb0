//! An application whose database is migrated before its new version is rolled out: a Job per
//! version, a Deployment and two promises.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVar, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an App.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "rollout.tests",
    version = "v1",
    kind = "App",
    namespaced,
    status = "AppStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct AppSpec {
    /// The ConfigMap with its settings.
    pub config: String,
    /// Version to run.
    pub version: String,
    /// How many Pods run it.
    #[serde(default)]
    pub replicas: i32,
}

/// Observed state of an App.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AppStatus {
    /// Migrated, Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

include!("../../../macros/core/tests/lifecycles/rollout.txt");

/// On a Deployment and its Pods: the version that they run.
pub const VERSION: &str = "rollout.tests/version";
const NAME: &str = "rollout.tests/app";

/// The logic of an App.
pub struct Rollout;

/// Returns the Pod template of an App: its labels and its containers.
fn template(this: &This<'_, App>, config: &ConfigMap, runs: &str) -> PodTemplateSpec {
    let data = config.data.iter().flatten();
    let env = data.map(|(name, value)| EnvVar {
        name: name.clone(),
        value: Some(value.clone()),
        ..EnvVar::default()
    });
    let image = format!("registry.tests/{}:{}", runs, this.spec.version);
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels(this)),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: runs.to_owned(),
                image: Some(image),
                env: Some(env.collect()),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
    }
}

fn labels(this: &This<'_, App>) -> BTreeMap<String, String> {
    let name = this.meta.name.clone().unwrap_or_default();
    [
        (NAME.to_owned(), name),
        (VERSION.to_owned(), this.spec.version.clone()),
    ]
    .into()
}

impl AppLogic for Rollout {
    fn job(&self, this: This<'_, App>) -> Option<ObjectRef> {
        let name = format!("{}-{}", this.meta.name.as_deref()?, this.spec.version);
        Some(ObjectRef::new::<Job>(this.meta.namespace.as_deref(), &name))
    }

    fn version(&self, this: This<'_, App>, deployment: &Deployment) -> Because<Version> {
        let labels = deployment.metadata.labels.as_ref();
        let runs = labels.and_then(|l| l.get(VERSION));
        if runs == Some(&this.spec.version) {
            return Because::plain(Version::Same);
        }
        let runs = runs.map_or("no version", String::as_str);
        let said = format!("{runs} runs and {} is wanted", this.spec.version);
        Because::new(Version::New, said)
    }

    fn migrated(&self, _: This<'_, App>, job: &Job) -> Because<Migrated> {
        let conditions = job.status.as_ref().and_then(|s| s.conditions.as_ref());
        let is = |kind: &str| {
            let mut all = conditions.into_iter().flatten();
            all.any(|c| c.type_ == kind && c.status == "True")
        };
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Migrated::Done),
            (false, true) => Because::new(
                Migrated::Failed,
                "the migration failed: look at its Job, and delete it to try again",
            ),
            (false, false) => Because::new(Migrated::Running, "the migration runs"),
        }
    }

    fn rolled(&self, _: This<'_, App>, deployment: &Deployment) -> Because<Rolled> {
        let wanted = deployment
            .spec
            .as_ref()
            .and_then(|s| s.replicas)
            .unwrap_or(1);
        let status = deployment.status.clone().unwrap_or_default();
        let conditions = status.conditions.as_deref().unwrap_or_default();
        let is_stuck = conditions
            .iter()
            .any(|c| c.type_ == "Progressing" && c.status == "False");
        let is_seen = status.observed_generation >= deployment.metadata.generation;
        let there = status.updated_replicas.unwrap_or_default();
        let available = status.available_replicas.unwrap_or_default();
        let all = status.replicas.unwrap_or_default();
        if is_seen && is_stuck {
            let said = "the Deployment makes no progress: check its Pods";
            Because::new(Rolled::Stuck, said)
        } else if is_seen && there == wanted && available == wanted && all == wanted {
            Because::plain(Rolled::Yes)
        } else {
            let said = format!("{available} of {wanted} Pods are available");
            Because::new(Rolled::Waiting, said)
        }
    }

    fn apply_job(&self, at: ApplyJob<'_>) -> Desired<Job> {
        let mut template = template(&at.this, at.config, "migrate");
        if let Some(spec) = &mut template.spec {
            spec.restart_policy = Some("Never".to_owned());
        }
        Desired::from_object(&Job {
            metadata: ObjectMeta {
                labels: Some(labels(&at.this)),
                ..ObjectMeta::default()
            },
            spec: Some(JobSpec {
                template,
                ..JobSpec::default()
            }),
            status: None,
        })
    }

    fn apply_deployment(&self, at: ApplyDeployment<'_>) -> Desired<Deployment> {
        let name = at.this.meta.name.clone().unwrap_or_default();
        Desired::from_object(&Deployment {
            metadata: ObjectMeta {
                labels: Some(labels(&at.this)),
                ..ObjectMeta::default()
            },
            spec: Some(DeploymentSpec {
                replicas: Some(at.this.spec.replicas),
                selector: LabelSelector {
                    match_labels: Some([(NAME.to_owned(), name)].into()),
                    ..LabelSelector::default()
                },
                template: template(&at.this, at.config, "serve"),
                ..DeploymentSpec::default()
            }),
            status: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn app() -> App {
        let mut app = App::new(
            "shop",
            AppSpec {
                config: "c".to_owned(),
                version: "2".to_owned(),
                replicas: 2,
            },
        );
        app.metadata.namespace = Some("ns".to_owned());
        app
    }

    fn from_json<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).expect("an object")
    }

    #[test]
    fn each_version_has_a_job_of_its_own() {
        let (mut new, old) = (app(), app());
        new.spec.version = "3".to_owned();
        let name = |app: &App| Rollout.job(This::new(app)).map(|r| r.name);
        assert_eq!(name(&old).as_deref(), Some("shop-2"));
        assert_eq!(name(&new).as_deref(), Some("shop-3"));
    }

    #[test]
    fn a_deployment_is_rolled_out_when_its_controller_says_so_of_this_generation() {
        let check = |seen: i64, available: i32, stuck: &str, expected: Rolled| {
            let deployment: Deployment = from_json(json!({
                "metadata": { "generation": 4 },
                "spec": { "replicas": 2, "selector": {}, "template": {} },
                "status": {
                    "observedGeneration": seen, "replicas": 2, "updatedReplicas": 2, "availableReplicas": available,
                    "conditions": [{ "type": "Progressing", "status": stuck }],
                },
            }));
            assert_eq!(
                Rollout.rolled(This::new(&app()), &deployment).value,
                expected
            );
        };
        check(4, 2, "True", Rolled::Yes);
        check(3, 2, "True", Rolled::Waiting);
        check(4, 1, "True", Rolled::Waiting);
        check(4, 1, "False", Rolled::Stuck);
        check(3, 1, "False", Rolled::Waiting);
    }

    #[test]
    fn a_migration_ends_with_the_condition_of_its_job() {
        let check = |conditions: Value, expected: Migrated| {
            let job: Job =
                from_json(json!({ "metadata": {}, "status": { "conditions": conditions } }));
            assert_eq!(Rollout.migrated(This::new(&app()), &job).value, expected);
        };
        check(json!([]), Migrated::Running);
        check(
            json!([{ "type": "Complete", "status": "True" }]),
            Migrated::Done,
        );
        check(
            json!([{ "type": "Failed", "status": "True" }]),
            Migrated::Failed,
        );
        check(
            json!([{ "type": "Failed", "status": "False" }]),
            Migrated::Running,
        );
    }
}
