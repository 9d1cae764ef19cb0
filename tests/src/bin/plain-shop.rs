//! The Shop of `operator/shop` with kube-rs alone, written with care. It checks ownership before it
//! writes anything, writes a status only where it differs, and makes a password once.
//! `docs/kube-rs.md` counts this program.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures::StreamExt;
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
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, ObjectMeta, OwnerReference, Time,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::controller::Action;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::{Controller, watcher};
use kube::{Client, Resource, ResourceExt};
use ring::rand::{SecureRandom, SystemRandom};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use shop_operator::lifecycle::{Shop, ShopStatus};

const MANAGER: &str = "plain-shop";
const NAME: &str = "shop.example.org/name";
const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

struct Context {
    client: Client,
    recorder: Recorder,
}

type Error = kube::Error;

/// Conditions to report on a Shop: the state of the migration and of the server, each with a
/// reason.
#[derive(Clone, Copy)]
struct ShopConditions {
    migrated: (&'static str, &'static str),
    available: (&'static str, &'static str),
}

const WORKING: (&str, &str) = ("Unknown", "Working");
const FAILED: (&str, &str) = ("False", "Failed");

impl ShopConditions {
    fn at_migration(migrated: (&'static str, &'static str)) -> Self {
        Self {
            migrated,
            available: WORKING,
        }
    }

    fn migrated(available: (&'static str, &'static str)) -> Self {
        Self {
            migrated: ("True", "Migrated"),
            available,
        }
    }
}

/// Ownership of an object.
enum Ownership<K> {
    Absent,
    /// Being deleted.
    Leaving,
    Ours(K),
    /// Owned by no controller.
    Free(K),
    Foreign,
}

async fn reconcile(shop: Arc<Shop>, ctx: Arc<Context>) -> Result<Action, Error> {
    if shop.meta().deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let told = converge(&shop, &ctx).await?;
    write_status(&shop, &ctx, told).await?;
    Ok(Action::await_change())
}

/// Writes the missing objects one after the other, and reports the progress.
async fn converge(shop: &Shop, ctx: &Context) -> Result<ShopConditions, Error> {
    const TAKEN: ShopConditions = ShopConditions {
        migrated: ("False", "NameTaken"),
        available: WORKING,
    };
    const REPLACING: ShopConditions = ShopConditions {
        migrated: ("Unknown", "Replacing"),
        available: WORKING,
    };
    let name = shop.name_any();
    let migration_name = format!("{name}-migrate-{}", shop.spec.version);
    let password = find::<Secret>(shop, ctx, &name).await?;
    let data = find::<PersistentVolumeClaim>(shop, ctx, &name).await?;
    let migration = find::<Job>(shop, ctx, &migration_name).await?;
    let server = find::<Deployment>(shop, ctx, &name).await?;
    match (&password, &data, &migration, &server) {
        (Ownership::Foreign | Ownership::Free(_), _, _, _)
        | (_, Ownership::Foreign, _, _)
        | (_, _, Ownership::Foreign | Ownership::Free(_), _)
        | (_, _, _, Ownership::Foreign | Ownership::Free(_)) => return Ok(TAKEN),
        (Ownership::Leaving, _, _, _)
        | (_, Ownership::Leaving, _, _)
        | (_, _, Ownership::Leaving, _)
        | (_, _, _, Ownership::Leaving) => return Ok(REPLACING),
        (_, _, _, _) => {}
    }
    if !matches!(password, Ownership::Ours(_)) {
        create(shop, ctx, &secret(shop)).await?;
    }
    match (&data, shop.spec.keep_data) {
        (Ownership::Free(_), false) => {
            return Ok(ShopConditions::at_migration(("False", "DataExist")));
        }
        (Ownership::Absent, _) => create(shop, ctx, &claim(shop)).await?,
        (Ownership::Ours(data) | Ownership::Free(data), keeps) => {
            hold(shop, ctx, data, keeps).await?
        }
        (Ownership::Leaving | Ownership::Foreign, _) => {}
    }
    let migrated = match &migration {
        Ownership::Ours(job) => job_outcome(job),
        Ownership::Absent | Ownership::Leaving | Ownership::Free(_) | Ownership::Foreign => {
            create(shop, ctx, &job(shop, &migration_name)).await?;
            None
        }
    };
    match migrated {
        None => return Ok(ShopConditions::at_migration(WORKING)),
        Some(false) => return Ok(ShopConditions::at_migration(FAILED)),
        Some(true) => {}
    }
    let api: Api<Deployment> = api(shop, ctx);
    let patch = PatchParams::apply(MANAGER).force();
    let server = api
        .patch(&name, &patch, &Patch::Apply(&deployment(shop)))
        .await?;
    Ok(ShopConditions::migrated(served(&server)))
}

fn api<K>(shop: &Shop, ctx: &Context) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    Api::namespaced(ctx.client.clone(), &shop.namespace().unwrap_or_default())
}

async fn find<K>(shop: &Shop, ctx: &Context, name: &str) -> Result<Ownership<K>, Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug,
{
    let Some(found) = api::<K>(shop, ctx).get_opt(name).await? else {
        return Ok(Ownership::Absent);
    };
    let meta = found.meta();
    let owners = meta.owner_references.as_deref().unwrap_or_default();
    let ours = |owner: &&OwnerReference| Some(&owner.uid) == shop.meta().uid.as_ref();
    let kept = found.annotations().get(NAME) == shop.meta().uid.as_ref();
    let whose = (
        owners.iter().find(ours).is_some() || kept,
        owners.is_empty(),
    );
    Ok(match (meta.deletion_timestamp.is_some(), whose) {
        (true, _) => Ownership::Leaving,
        (false, (true, _)) => Ownership::Ours(found),
        (false, (false, true)) => Ownership::Free(found),
        (false, (false, false)) => Ownership::Foreign,
    })
}

async fn create<K>(shop: &Shop, ctx: &Context, object: &K) -> Result<(), Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + Serialize
        + std::fmt::Debug,
{
    let params = PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    };
    api::<K>(shop, ctx).create(&params, object).await.map(drop)
}

/// Data that stay have no owner, and know their Shop by an annotation; others go with it.
async fn hold(
    shop: &Shop,
    ctx: &Context,
    data: &PersistentVolumeClaim,
    keeps: bool,
) -> Result<(), Error> {
    let owned = !data.owner_references().is_empty();
    let noted = data.annotations().get(NAME) == shop.meta().uid.as_ref();
    if owned != keeps && noted == keeps {
        return Ok(());
    }
    let wanted = claim(shop).metadata;
    let patch = json!({ "metadata": {
        "resourceVersion": data.resource_version(), "ownerReferences": wanted.owner_references.unwrap_or_default(),
        "annotations": { NAME: wanted.annotations.and_then(|all| all.get(NAME).cloned()) },
    }});
    let claims: Api<PersistentVolumeClaim> = api(shop, ctx);
    let params = PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    };
    claims
        .patch(&data.name_any(), &params, &Patch::Merge(&patch))
        .await
        .map(drop)
}

/// Returns true if the Job succeeded, false if it failed, and `None` if it has not ended.
fn job_outcome(job: &Job) -> Option<bool> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let is = |name: &str| {
        let mut found = conditions.iter().filter(|one| one.type_ == name);
        found.any(|one| one.status == "True")
    };
    match (is("Complete"), is("Failed")) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

fn served(server: &Deployment) -> (&'static str, &'static str) {
    let status = server.status.clone().unwrap_or_default();
    if status.observed_generation < server.metadata.generation {
        return WORKING;
    }
    let conditions = status.conditions.unwrap_or_default();
    let mut stuck = conditions.iter().filter(|one| one.type_ == "Progressing");
    if stuck.any(|one| one.status == "False") {
        return FAILED;
    }
    let counts = [
        status.replicas,
        status.updated_replicas,
        status.available_replicas,
    ];
    match counts.iter().all(|count| *count == Some(1)) {
        true => ("True", "Available"),
        false => WORKING,
    }
}

/// Writes the status if it differs, including the error.
async fn write_status(shop: &Shop, ctx: &Context, told: ShopConditions) -> Result<(), Error> {
    let old = shop.status.as_ref().map(|status| &status.conditions);
    let ready = [told.migrated, told.available]
        .into_iter()
        .find(|(status, _)| *status != "True")
        .unwrap_or(("True", "Ready"));
    let mut conditions = Vec::new();
    for (kind, (status, reason)) in [
        ("Migrated", told.migrated),
        ("Available", told.available),
        ("Ready", ready),
    ] {
        let before = old.and_then(|all| all.iter().find(|one| one.type_ == kind));
        let same = before.filter(|one| one.status == status);
        conditions.push(Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: String::new(),
            observed_generation: shop.metadata.generation,
            last_transition_time: same.map_or(Time(Timestamp::now()), |one| {
                one.last_transition_time.clone()
            }),
        });
    }
    if old == Some(&conditions) {
        return Ok(());
    }
    let was_failed = old.is_some_and(|all| all.iter().any(|one| one.reason == ready.1));
    if ready.0 == "False" && !was_failed {
        let event = Event {
            type_: EventType::Warning,
            reason: ready.1.to_owned(),
            note: None,
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        ctx.recorder.publish(&event, &shop.object_ref(&())).await?;
    }
    let status = json!({ "status": ShopStatus { conditions } });
    let shops: Api<Shop> = api(shop, ctx);
    shops
        .patch_status(
            &shop.name_any(),
            &PatchParams::default(),
            &Patch::Merge(&status),
        )
        .await
        .map(drop)
}

fn named(shop: &Shop, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        owner_references: shop.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}

fn secret(shop: &Shop) -> Secret {
    let mut password = [0; 24];
    // Without randomness the process cannot go on.
    SystemRandom::new()
        .fill(&mut password)
        .expect("the system gives random bytes");
    let letter = |byte: u8| LETTERS[usize::from(byte) % LETTERS.len()];
    let password = password.map(letter).to_vec();
    Secret {
        metadata: named(shop, &shop.name_any()),
        data: Some(BTreeMap::from([(
            "password".to_owned(),
            ByteString(password),
        )])),
        ..Secret::default()
    }
}

fn claim(shop: &Shop) -> PersistentVolumeClaim {
    let mut metadata = named(shop, &shop.name_any());
    if shop.spec.keep_data {
        metadata.owner_references = None;
        let uid = shop.uid().unwrap_or_default();
        metadata.annotations = Some(BTreeMap::from([(NAME.to_owned(), uid)]));
    }
    let size = ("storage".to_owned(), Quantity("1Gi".to_owned()));
    PersistentVolumeClaim {
        metadata,
        spec: Some(PersistentVolumeClaimSpec {
            access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
            resources: Some(VolumeResourceRequirements {
                requests: Some(BTreeMap::from([size])),
                ..VolumeResourceRequirements::default()
            }),
            ..PersistentVolumeClaimSpec::default()
        }),
        ..PersistentVolumeClaim::default()
    }
}

fn job(shop: &Shop, name: &str) -> Job {
    let mut template = pod(shop, "migrate");
    if let Some(spec) = &mut template.spec {
        spec.restart_policy = Some("Never".to_owned());
    }
    Job {
        metadata: named(shop, name),
        spec: Some(JobSpec {
            backoff_limit: Some(3),
            template,
            ..JobSpec::default()
        }),
        ..Job::default()
    }
}

fn deployment(shop: &Shop) -> Deployment {
    let labels = BTreeMap::from([(NAME.to_owned(), shop.name_any())]);
    let mut template = pod(shop, "serve");
    template.metadata = Some(ObjectMeta {
        labels: Some(labels.clone()),
        ..ObjectMeta::default()
    });
    Deployment {
        metadata: named(shop, &shop.name_any()),
        spec: Some(DeploymentSpec {
            replicas: Some(1),
            selector: LabelSelector {
                match_labels: Some(labels),
                ..LabelSelector::default()
            },
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
    }
}

fn pod(shop: &Shop, what: &str) -> PodTemplateSpec {
    let name = shop.name_any();
    let container = Container {
        name: what.to_owned(),
        image: Some(format!("{}:{}", shop.spec.image, shop.spec.version)),
        args: Some(vec![what.to_owned()]),
        env_from: Some(vec![EnvFromSource {
            secret_ref: Some(SecretEnvSource {
                name: name.clone(),
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
    PodTemplateSpec {
        spec: Some(PodSpec {
            containers: vec![container],
            volumes: Some(vec![Volume {
                name: "data".to_owned(),
                persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                    claim_name: name,
                    ..PersistentVolumeClaimVolumeSource::default()
                }),
                ..Volume::default()
            }]),
            ..PodSpec::default()
        }),
        ..PodTemplateSpec::default()
    }
}

fn error_policy(_: Arc<Shop>, _: &Error, _: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default()
        .await
        .context("there is no cluster: set KUBECONFIG")?;
    let all = watcher::Config::default;
    let recorder = Recorder::new(client.clone(), Reporter::from(MANAGER));
    Controller::new(Api::<Shop>::all(client.clone()), all())
        .owns(Api::<Secret>::all(client.clone()), all())
        .owns(Api::<PersistentVolumeClaim>::all(client.clone()), all())
        .owns(Api::<Job>::all(client.clone()), all())
        .owns(Api::<Deployment>::all(client.clone()), all())
        .shutdown_on_signal()
        .run(
            reconcile,
            error_policy,
            Arc::new(Context { client, recorder }),
        )
        .for_each(|_| async {})
        .await;
    Ok(())
}
