//! Code that the declaration cannot express: the derivation of facts from observations, and the
//! content that an effect writes. Pure: same input, same output.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::{
    Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment,
};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Container, EnvFromSource, PersistentVolumeClaim, PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource, PodSpec, PodTemplateSpec, Secret, SecretEnvSource, Volume,
    VolumeMount, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use lifecycle_runtime::lifecycle::Random;
use lifecycle_runtime::{Because, Desired, ObjectRef, This};

use crate::lifecycle::{
    ApplyData, ApplyMigration, ApplyPassword, ApplyServer, Login, Migrated, Served, Shop, ShopLogic,
};

/// Label by which the Deployment selects its Pods.
const NAME: &str = "shop.example.org/name";

/// Decisions and written content for each Shop.
pub struct Logic;

const PASSWORD: &str = "password";
const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

impl ShopLogic for Logic {
    fn keeps(&self, this: This<'_, Shop>) -> Because<bool> {
        Because::plain(this.spec.keep_data)
    }

    fn migration(&self, this: This<'_, Shop>) -> Option<ObjectRef> {
        let name = format!("{}-migrate-{}", name(this.meta), this.spec.version);
        Some(ObjectRef::new::<Job>(this.meta.namespace.as_deref(), &name))
    }

    fn read_login(&self, _this: This<'_, Shop>, password: &Secret) -> Option<Login> {
        let kept = password.data.as_ref()?.get(PASSWORD)?;
        (!kept.0.is_empty()).then(|| Login(kept.0.clone()))
    }

    fn make_login(&self, _this: This<'_, Shop>, random: &mut Random) -> Login {
        Login(random.text(24, LETTERS).into_bytes())
    }

    fn migrated(&self, _this: This<'_, Shop>, migration: &Job) -> Because<Migrated> {
        let status = migration.status.clone().unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        let is = |name: &str| {
            let mut found = conditions.iter().filter(|one| one.type_ == name);
            found.any(|one| one.status == "True")
        };
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Migrated::Done),
            (false, true) => Because::new(Migrated::Failed, "the Job has failed: see its Pods"),
            (false, false) => Because::new(Migrated::Going, "the Job has not ended yet"),
        }
    }

    fn served(&self, this: This<'_, Shop>, server: &Deployment) -> Because<Served> {
        let status = server.status.clone().unwrap_or_default();
        let seen = status.observed_generation >= server.metadata.generation;
        let conditions = status.conditions.unwrap_or_default();
        let stuck = conditions
            .iter()
            .any(|one| one.type_ == "Progressing" && one.status == "False");
        let counts = [
            status.replicas,
            status.updated_replicas,
            status.available_replicas,
        ];
        let whole = counts.iter().all(|count| *count == Some(1));
        let version = &this.spec.version;
        match (seen, stuck, whole) {
            (true, true, _) => Because::new(
                Served::Failed,
                "the Deployment makes no progress: see its Pods",
            ),
            (true, false, true) => Because::plain(Served::Done),
            (_, _, _) => Because::new(Served::Going, format!("version {version} does not run yet")),
        }
    }

    fn apply_password(&self, at: ApplyPassword<'_>) -> Desired<Secret> {
        let data = (PASSWORD.to_owned(), ByteString(at.login.0.clone()));
        Desired::from_object(&Secret {
            data: Some(BTreeMap::from([data])),
            ..Secret::default()
        })
    }

    fn apply_data(&self, _at: ApplyData<'_>) -> Desired<PersistentVolumeClaim> {
        let size = ("storage".to_owned(), Quantity("1Gi".to_owned()));
        Desired::from_object(&PersistentVolumeClaim {
            spec: Some(PersistentVolumeClaimSpec {
                access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
                resources: Some(VolumeResourceRequirements {
                    requests: Some(BTreeMap::from([size])),
                    ..VolumeResourceRequirements::default()
                }),
                ..PersistentVolumeClaimSpec::default()
            }),
            ..PersistentVolumeClaim::default()
        })
    }

    fn apply_migration(&self, at: ApplyMigration<'_>) -> Desired<Job> {
        let mut template = pod(at.this, "migrate", at.password, at.data);
        if let Some(spec) = &mut template.spec {
            spec.restart_policy = Some("Never".to_owned());
        }
        Desired::from_object(&Job {
            spec: Some(JobSpec {
                backoff_limit: Some(3),
                template,
                ..JobSpec::default()
            }),
            ..Job::default()
        })
    }

    fn apply_server(&self, at: ApplyServer<'_>) -> Desired<Deployment> {
        let labels = BTreeMap::from([(NAME.to_owned(), name(at.this.meta))]);
        let mut template = pod(at.this, "serve", at.password, at.data);
        template.metadata = Some(ObjectMeta {
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        });
        Desired::from_object(&Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(1),
                selector: LabelSelector {
                    match_labels: Some(labels),
                    ..LabelSelector::default()
                },
                // The volume is of one Pod at a time: the old one ends before the new one starts.
                strategy: Some(DeploymentStrategy {
                    rolling_update: Some(RollingUpdateDeployment {
                        max_surge: Some(IntOrString::Int(0)),
                        max_unavailable: Some(IntOrString::Int(1)),
                    }),
                    ..DeploymentStrategy::default()
                }),
                template,
                ..DeploymentSpec::default()
            }),
            ..Deployment::default()
        })
    }
}

fn name(meta: &ObjectMeta) -> String {
    meta.name.clone().unwrap_or_default()
}

/// A Pod that does one thing, with the password in its environment and the data in a folder.
fn pod(
    this: This<'_, Shop>,
    what: &str,
    password: &Secret,
    data: &PersistentVolumeClaim,
) -> PodTemplateSpec {
    let container = Container {
        name: what.to_owned(),
        image: Some(format!("{}:{}", this.spec.image, this.spec.version)),
        args: Some(vec![what.to_owned()]),
        env_from: Some(vec![EnvFromSource {
            secret_ref: Some(SecretEnvSource {
                name: name(&password.metadata),
                ..SecretEnvSource::default()
            }),
            ..EnvFromSource::default()
        }]),
        volume_mounts: Some(vec![VolumeMount {
            name: "data".to_owned(),
            mount_path: "/data".to_owned(),
            ..VolumeMount::default()
        }]),
        ..Container::default()
    };
    let claim = PersistentVolumeClaimVolumeSource {
        claim_name: name(&data.metadata),
        ..PersistentVolumeClaimVolumeSource::default()
    };
    PodTemplateSpec {
        spec: Some(PodSpec {
            containers: vec![container],
            volumes: Some(vec![Volume {
                name: "data".to_owned(),
                persistent_volume_claim: Some(claim),
                ..Volume::default()
            }]),
            ..PodSpec::default()
        }),
        ..PodTemplateSpec::default()
    }
}
