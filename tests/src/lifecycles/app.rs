//! A program whose database is migrated by one Job for each version. The Job is created once: a Job
//! that cleaned itself up is not run again.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an App.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "app.tests",
    version = "v1",
    kind = "App",
    namespaced,
    status = "AppStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct AppSpec {
    /// Version to serve.
    pub version: String,
}

/// Observed state of an App.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AppStatus {
    /// Migrated, Served, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// A version to which the database was migrated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version(pub String);

include!("../../../macros/core/tests/lifecycles/app.txt");

const NAME: &str = "app.tests/app";
/// Seconds for which an ended Job is kept.
const KEPT: i32 = 600;

/// The logic of an App.
pub struct Migrations;

/// Returns the Pod template that runs a version of an App.
fn template(this: &This<'_, App>, runs: &str, restart: &str) -> PodTemplateSpec {
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels(this)),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: runs.to_owned(),
                image: Some(format!("registry.tests/{runs}:{}", this.spec.version)),
                ..Container::default()
            }],
            restart_policy: Some(restart.to_owned()),
            ..PodSpec::default()
        }),
    }
}

fn labels(this: &This<'_, App>) -> BTreeMap<String, String> {
    let name = this.meta.name.clone().unwrap_or_default();
    [(NAME.to_owned(), name)].into()
}

impl AppLogic for Migrations {
    fn migration(&self, this: This<'_, App>) -> Option<ObjectRef> {
        let name = format!("{}-{}", this.meta.name.as_deref()?, this.spec.version);
        Some(ObjectRef::new::<Job>(this.meta.namespace.as_deref(), &name))
    }

    fn ended(&self, _: This<'_, App>, migration: &Job) -> Because<Ended> {
        let status = migration.status.as_ref();
        let conditions = status.and_then(|status| status.conditions.as_ref());
        let is = |kind: &str| {
            let mut all = conditions.into_iter().flatten();
            all.any(|one| one.type_ == kind && one.status == "True")
        };
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Ended::Good),
            (false, true) => Because::new(
                Ended::Bad,
                "the migration failed: look at its Job, and release another version",
            ),
            (false, false) => Because::new(Ended::Running, "the migration runs"),
        }
    }

    fn apply_done(&self, at: ApplyDone<'_>) -> Version {
        Version(at.this.spec.version.clone())
    }

    fn create_migration(&self, at: CreateMigration<'_>) -> Desired<Job> {
        Desired::from_object(&Job {
            metadata: ObjectMeta {
                labels: Some(labels(&at.this)),
                ..ObjectMeta::default()
            },
            spec: Some(JobSpec {
                template: template(&at.this, "migrate", "Never"),
                ttl_seconds_after_finished: Some(KEPT),
                ..JobSpec::default()
            }),
            status: None,
        })
    }

    fn apply_deployment(&self, at: ApplyDeployment<'_>) -> Desired<Deployment> {
        Desired::from_object(&Deployment {
            metadata: ObjectMeta::default(),
            spec: Some(DeploymentSpec {
                selector: LabelSelector {
                    match_labels: Some(labels(&at.this)),
                    ..LabelSelector::default()
                },
                template: template(&at.this, "serve", "Always"),
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

    fn app(version: &str) -> App {
        let version = version.to_owned();
        let mut app = App::new("shop", AppSpec { version });
        app.metadata.namespace = Some("ns".to_owned());
        app
    }

    #[test]
    fn each_version_has_a_migration_of_its_own() {
        let name = |app: &App| Migrations.migration(This::new(app)).map(|job| job.name);
        assert_eq!(name(&app("1")).as_deref(), Some("shop-1"));
        assert_eq!(name(&app("2")).as_deref(), Some("shop-2"));
    }

    #[test]
    fn a_migration_ends_with_the_condition_of_its_job() {
        let check = |conditions: Value, expected: Ended| {
            let job = json!({ "metadata": {}, "status": { "conditions": conditions } });
            let job: Job = serde_json::from_value(job).expect("a Job");
            let ended = Migrations.ended(This::new(&app("1")), &job);
            assert_eq!(ended.value, expected);
        };
        let is = |kind: &str| json!([{ "type": kind, "status": "True" }]);
        check(json!([]), Ended::Running);
        check(is("Complete"), Ended::Good);
        check(is("Failed"), Ended::Bad);
    }
}
