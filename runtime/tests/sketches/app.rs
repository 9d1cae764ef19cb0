//! The rollout behind a migration, against real workload types.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "App", namespaced)]
pub(crate) struct AppSpec {
    config: String,
}

pub(crate) fn app(metadata: ObjectMeta, config: &str) -> App {
    App {
        metadata,
        spec: AppSpec {
            config: config.to_owned(),
        },
    }
}

include!("../../../macros/core/tests/lifecycles/rollout.txt");

pub(crate) struct PlainLogic;

impl AppLogic for PlainLogic {
    fn job(&self, this: This<'_, App>) -> Option<ObjectRef> {
        let name = format!("{}-{}", this.meta.name.as_deref()?, this.spec.config);
        Some(ObjectRef::new::<Job>(this.meta.namespace.as_deref(), &name))
    }
    fn version(&self, _: This<'_, App>, deployment: &Deployment) -> Because<Version> {
        Because::plain(if deployment.spec.is_some() {
            Version::Same
        } else {
            Version::New
        })
    }
    fn migrated(&self, _: This<'_, App>, job: &Job) -> Because<Migrated> {
        Because::plain(if job.status.is_some() {
            Migrated::Done
        } else {
            Migrated::Running
        })
    }
    fn rolled(&self, _: This<'_, App>, deployment: &Deployment) -> Because<Rolled> {
        Because::plain(if deployment.status.is_some() {
            Rolled::Yes
        } else {
            Rolled::Waiting
        })
    }
    fn apply_job(&self, at: ApplyJob<'_>) -> Desired<Job> {
        Desired::from_object(&Job {
            metadata: at.config.metadata.clone(),
            ..Job::default()
        })
    }
    fn apply_deployment(&self, at: ApplyDeployment<'_>) -> Desired<Deployment> {
        Desired::from_object(&Deployment {
            metadata: at.config.metadata.clone(),
            ..Deployment::default()
        })
    }
}
