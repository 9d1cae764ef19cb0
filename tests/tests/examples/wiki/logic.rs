//! Logic that the declaration cannot know: answers of objects to facts, and content of writes.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec};
use k8s_openapi::api::batch::v1::{CronJob, CronJobSpec, Job, JobSpec, JobTemplateSpec};
use k8s_openapi::api::core::v1::{
    Container, PersistentVolumeClaim, PersistentVolumeClaimSpec, PodSpec, PodTemplateSpec, Secret,
    Service, ServicePort, ServiceSpec, VolumeResourceRequirements,
};
use k8s_openapi::api::networking::v1::{Ingress, IngressRule, IngressSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use lifecycle_runtime::lifecycle::Random;
use lifecycle_runtime::{Because, Desired, ObjectRef, This};

use super::{
    APP, ApplyData, ApplyDone, ApplyIngress, ApplyNightly, ApplyPassword, ApplyService,
    CreateMigration, Login, Migrated, Serve, Served, Wiki, WikiLogic,
};

const PASSWORD: &str = "password";

/// Logic of each Wiki.
#[derive(Clone, Copy)]
pub(crate) struct Logic;

impl WikiLogic for Logic {
    fn migration(&self, this: This<'_, Wiki>) -> Option<ObjectRef> {
        let name = format!("{}-to-{}", name(this), this.spec.version);
        let namespace = this.meta.namespace.as_deref();
        Some(ObjectRef::new::<Job>(namespace, &name))
    }

    fn paused(&self, this: This<'_, Wiki>) -> Because<bool> {
        Because::new(this.spec.paused, "spec.paused is set")
    }

    fn keeps(&self, this: This<'_, Wiki>) -> Because<bool> {
        Because::plain(this.spec.keep)
    }

    fn read_login(&self, _: This<'_, Wiki>, password: &Secret) -> Option<Login> {
        let kept = password.data.as_ref()?.get(PASSWORD)?;
        (!kept.0.is_empty()).then(|| Login(kept.0.clone()))
    }

    fn make_login(&self, _: This<'_, Wiki>, random: &mut Random) -> Login {
        let letters = random.bytes::<24>().map(|byte| b'a' + byte % 26);
        Login(letters.to_vec())
    }

    fn migrated(&self, this: This<'_, Wiki>, migration: &Job) -> Because<Migrated> {
        let status = migration.status.clone().unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        let is = |name| {
            let mut all = conditions.iter();
            all.any(|one| one.type_ == name && one.status == "True")
        };
        let version = &this.spec.version;
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Migrated::Done),
            (false, true) => {
                let why = format!("the migration to {version} failed: see the Pods of its Job");
                Because::new(Migrated::Failed, why)
            }
            (false, false) => Because::new(
                Migrated::Going,
                format!("the migration to {version} goes on"),
            ),
        }
    }

    fn served(&self, this: This<'_, Wiki>, server: &StatefulSet) -> Because<Served> {
        let status = server.status.clone().unwrap_or_default();
        let is_seen = status.observed_generation >= server.metadata.generation;
        let wanted = server.spec.as_ref().and_then(|spec| spec.replicas);
        let is_whole = [status.updated_replicas, status.available_replicas]
            .iter()
            .all(|replicas| replicas.or(Some(0)) == wanted);
        match is_seen && is_whole {
            true => Because::plain(Served::Done),
            false => Because::new(
                Served::Going,
                format!("version {} does not run yet", this.spec.version),
            ),
        }
    }

    fn drained(&self, _: This<'_, Wiki>, server: &StatefulSet) -> Because<bool> {
        let status = server.status.clone().unwrap_or_default();
        let is_seen = status.observed_generation >= server.metadata.generation;
        let is_scaled = server.spec.as_ref().and_then(|spec| spec.replicas) == Some(0);
        let left = format!("{} Pods are left", status.replicas);
        Because::new(is_seen && is_scaled && status.replicas == 0, left)
    }

    fn apply_done(&self, at: ApplyDone<'_>) -> String {
        at.this.spec.version.clone()
    }

    fn apply_password(&self, at: ApplyPassword<'_>) -> Desired<Secret> {
        let login = ByteString(at.login.0.clone());
        Desired::from_object(&Secret {
            data: Some(BTreeMap::from([(PASSWORD.to_owned(), login)])),
            ..Secret::default()
        })
    }

    fn apply_data(&self, _: ApplyData<'_>) -> Desired<PersistentVolumeClaim> {
        let storage = ("storage".to_owned(), Quantity("1Gi".to_owned()));
        Desired::from_object(&PersistentVolumeClaim {
            spec: Some(PersistentVolumeClaimSpec {
                access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
                resources: Some(VolumeResourceRequirements {
                    requests: Some(BTreeMap::from([storage])),
                    ..VolumeResourceRequirements::default()
                }),
                ..PersistentVolumeClaimSpec::default()
            }),
            ..PersistentVolumeClaim::default()
        })
    }

    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        Desired::from_object(&Service {
            spec: Some(ServiceSpec {
                selector: Some(labels(at.this)),
                ports: Some(vec![ServicePort {
                    port: 80,
                    ..ServicePort::default()
                }]),
                ..ServiceSpec::default()
            }),
            ..Service::default()
        })
    }

    fn create_migration(&self, at: CreateMigration<'_>) -> Desired<Job> {
        Desired::from_object(&Job {
            spec: Some(JobSpec {
                template: pod(at.this, "migrate", Some("Never")),
                ..JobSpec::default()
            }),
            ..Job::default()
        })
    }

    fn serve(&self, at: Serve<'_>) -> Desired<StatefulSet> {
        let is_going = at.this.meta.deletion_timestamp.is_some();
        Desired::from_object(&StatefulSet {
            spec: Some(StatefulSetSpec {
                replicas: Some(if is_going { 0 } else { 1 }),
                service_name: Some(name(at.this)),
                selector: LabelSelector {
                    match_labels: Some(labels(at.this)),
                    ..LabelSelector::default()
                },
                template: pod(at.this, "serve", None),
                ..StatefulSetSpec::default()
            }),
            ..StatefulSet::default()
        })
    }

    fn apply_ingress(&self, at: ApplyIngress<'_>) -> Desired<Ingress> {
        Desired::from_object(&Ingress {
            spec: Some(IngressSpec {
                rules: Some(vec![IngressRule {
                    host: at.this.spec.host.clone(),
                    ..IngressRule::default()
                }]),
                ..IngressSpec::default()
            }),
            ..Ingress::default()
        })
    }

    fn apply_nightly(&self, at: ApplyNightly<'_>) -> Desired<CronJob> {
        Desired::from_object(&CronJob {
            spec: Some(CronJobSpec {
                schedule: at.this.spec.backup.clone().unwrap_or_default(),
                job_template: JobTemplateSpec {
                    spec: Some(JobSpec {
                        template: pod(at.this, "backup", Some("Never")),
                        ..JobSpec::default()
                    }),
                    ..JobTemplateSpec::default()
                },
                ..CronJobSpec::default()
            }),
            ..CronJob::default()
        })
    }

    fn url(&self, this: This<'_, Wiki>, service: &Service) -> Option<String> {
        let inside = service.metadata.name.as_ref();
        let host = this.spec.host.as_ref().or(inside)?;
        Some(format!("http://{host}/"))
    }

    fn version(&self, _: This<'_, Wiki>, server: &StatefulSet) -> Option<String> {
        let pod = server.spec.as_ref()?.template.spec.as_ref()?;
        let image = pod.containers.first()?.image.as_ref()?;
        Some(image.rsplit_once(':')?.1.to_owned())
    }
}

fn name(this: This<'_, Wiki>) -> String {
    this.meta.name.clone().unwrap_or_default()
}

fn labels(this: This<'_, Wiki>) -> BTreeMap<String, String> {
    BTreeMap::from([(APP.to_owned(), name(this))])
}

/// A Pod that does one thing.
fn pod(this: This<'_, Wiki>, what: &str, restart: Option<&str>) -> PodTemplateSpec {
    let container = Container {
        name: what.to_owned(),
        image: Some(format!("wiki:{}", this.spec.version)),
        args: Some(vec![what.to_owned()]),
        ..Container::default()
    };
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels(this)),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![container],
            restart_policy: restart.map(str::to_owned),
            ..PodSpec::default()
        }),
    }
}
