//! The shape of most operators: a password that nobody chose, a volume that outlives a mistake, a migration before each version, and a workload.
//! Declared line by line in `docs/real.md`.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{
    Container, EnvFromSource, PersistentVolumeClaim, PersistentVolumeClaimSpec, PodSpec,
    PodTemplateSpec, Secret, SecretEnvSource, VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Random;
use lifecycle_runtime::{Because, Desired, ObjectRef, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What somebody wants.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Shop",
    namespaced,
    status = "ShopStatus"
)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShopSpec {
    pub(crate) version: String,
    /// Whether the data stay when the Shop goes.
    #[serde(default)]
    pub(crate) keep_data: bool,
}

/// What is told of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct ShopStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

/// A type of its own, so that nobody prints it.
pub(crate) struct Login(Vec<u8>);

lifecycle! {
    /// A shop: a web server with its own database, and a password that nobody chose.
    resource Shop;

    observe {
        password:  owned Secret                by name meta.name;
        data:      owned PersistentVolumeClaim by name meta.name retain when keeps;
        migration: owned Job                   by ref;
        server:    owned Deployment            by name meta.name;
    }
    facts {
        /// Whether the data stay when the Shop goes.
        keeps: bool from self;
        /// What logs in at the database. Made once, by chance.
        mint login: Login in password;
        /// How far the migration to this version is.
        migrated: { Going, Failed, Done } from migration given migration == Current else Going;
        /// Whether every copy of the server runs this version.
        served: { Going, Failed, Done } from server given server == Current else Going;
        taken = any(password, data, migration, server) == Foreign;
        leaving = any(password, data, migration, server) == Terminating;
    }
    states {
        Taken       when taken                          => Error wakes password, data, migration, server, self;
        Draining    when leaving                        => Pending;
        Occupied    when data == Adoptable && !keeps    => Error wakes data, self;
        Starting    when password in { Absent, Stale }  => Pending;
        Claiming    when data in { Absent, Adoptable, Stale } => Pending;
        Migrating   when migration in { Absent, Stale } || migrated == Going => Pending overdue 30min;
        Unmigrated  when migrated == Failed             => Error wakes migration, self;
        Deploying   when server in { Absent, Stale } || served == Going => Pending;
        Stuck       when served == Failed               => Error wakes server, self;
        goal Ready  when served == Done                 => Ready;
    }
    effects {
        apply password from login;
        adopt data without retain when keeps;
        apply data;
        apply migration from password, data when password == Current && data == Current;
        apply server from password, data when password == Current && data == Current && migrated == Done;
    }
    promises {
        migrates: migrated == Going sets { migrated = Done } or { migrated = Failed };
        rolls_out: served == Going sets { served = Done } or { served = Failed };
    }
    properties {
        never apply_server while migrated != Done;
    }
    status {
        condition Migrated {
            False "NameTaken"      when taken;
            False "DataExist"      when data == Adoptable && !keeps;
            Unknown "Replacing"    when leaving;
            True                   when migrated == Done;
            False "Failed"         when migrated == Failed;
            Unknown "Working"      otherwise;
        }
        condition Available {
            True                   when served == Done;
            False "Failed"         when served == Failed;
            Unknown "Working"      otherwise;
        }
        ready from Migrated, Available;
    }
}

/// How a Shop is built.
pub(crate) struct Shops;

const PASSWORD: &str = "password";
const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

impl ShopLogic for Shops {
    fn keeps(&self, this: This<'_, Shop>) -> Because<bool> {
        Because::plain(this.spec.keep_data)
    }

    fn migration(&self, this: This<'_, Shop>) -> Option<ObjectRef> {
        let name = format!("{}-migrate-{}", name(this.meta), this.spec.version);
        Some(ObjectRef::of::<Job>(this.meta.namespace.as_deref(), &name))
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
        Desired::of(&Secret {
            data: Some(BTreeMap::from([data])),
            ..Secret::default()
        })
    }

    fn apply_data(&self, _at: ApplyData<'_>) -> Desired<PersistentVolumeClaim> {
        let size = ("storage".to_owned(), Quantity("1Gi".to_owned()));
        Desired::of(&PersistentVolumeClaim {
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
        let mut template = pod(at.this, "migrate", at.password);
        if let Some(spec) = &mut template.spec {
            spec.restart_policy = Some("Never".to_owned());
        }
        Desired::of(&Job {
            spec: Some(JobSpec {
                backoff_limit: Some(3),
                template,
                ..JobSpec::default()
            }),
            ..Job::default()
        })
    }

    fn apply_server(&self, at: ApplyServer<'_>) -> Desired<Deployment> {
        let labels = BTreeMap::from([("examples.test/shop".to_owned(), name(at.this.meta))]);
        let mut template = pod(at.this, "serve", at.password);
        template.metadata = Some(ObjectMeta {
            labels: Some(labels.clone()),
            ..ObjectMeta::default()
        });
        Desired::of(&Deployment {
            spec: Some(DeploymentSpec {
                replicas: Some(1),
                selector: LabelSelector {
                    match_labels: Some(labels),
                    ..LabelSelector::default()
                },
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

/// A Pod that does one thing, with the password in its environment.
fn pod(this: This<'_, Shop>, what: &str, password: &Secret) -> PodTemplateSpec {
    let container = Container {
        name: what.to_owned(),
        image: Some(format!("shop.example.com/shop:{}", this.spec.version)),
        args: Some(vec![what.to_owned()]),
        env_from: Some(vec![EnvFromSource {
            secret_ref: Some(SecretEnvSource {
                name: name(&password.metadata),
                ..SecretEnvSource::default()
            }),
            ..EnvFromSource::default()
        }]),
        ..Container::default()
    };
    PodTemplateSpec {
        spec: Some(PodSpec {
            containers: vec![container],
            ..PodSpec::default()
        }),
        ..PodTemplateSpec::default()
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(Shops))
}

/// A Shop.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Shop
metadata: {name: books, namespace: default}
spec: {version: '7', keepData: true}
";
