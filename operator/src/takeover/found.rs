//! What a cluster holds of the replaced operator, by get and list alone. What may not be read is kept with the reason.

use std::fmt::Debug;

use anyhow::Context;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume};
use k8s_openapi::api::storage::v1::{CSIDriver, StorageClass};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::{Client, Resource, ResourceExt};
use lifecycle_listener::controller::{KINDS, NAME};
use lifecycle_specs_listener::listener::LISTENER_NAME;
use lifecycle_specs_listener::listener_class::ListenerClass;
use serde::de::DeserializeOwned;

/// How many objects one answer may hold.
const PAGE: u32 = 500;
/// The Lease that a controller of ours holds.
const LEASE: &str = "listeners.stackable.tech-controller";

/// Objects, or why they may not be read.
pub(crate) type Read<T> = Result<Vec<T>, String>;

/// What was read of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// All Deployments.
    pub(crate) deployments: Read<Deployment>,
    /// All DaemonSets.
    pub(crate) daemon_sets: Read<DaemonSet>,
    /// The Leases of controllers of ours, in all namespaces.
    pub(crate) leases: Read<Lease>,
    /// The CSIDriver.
    pub(crate) drivers: Read<CSIDriver>,
    /// The StorageClass.
    pub(crate) storage_classes: Read<StorageClass>,
    /// The definitions of our kinds.
    pub(crate) definitions: Read<DynamicObject>,
    /// All ListenerClasses, as they are stored.
    pub(crate) classes: Read<DynamicObject>,
    /// The namespace of the new operator.
    pub(crate) namespaces: Read<Namespace>,
    /// The volumes that do not name their Listener by a label.
    pub(crate) volumes: Read<PersistentVolume>,
}

impl Found {
    /// Reads it.
    ///
    /// # Errors
    /// The API server cannot be asked. That it refuses is none.
    pub(crate) async fn read(client: &Client, namespace: &str) -> anyhow::Result<Self> {
        let every = ListParams::default();
        let named = every.clone().fields(&format!("metadata.name={LEASE}"));
        let unlabelled = every.clone().labels(&format!("!{LISTENER_NAME}"));
        let classes = ApiResource::erase::<ListenerClass>(&());
        let classes: Api<DynamicObject> = Api::all_with(client.clone(), &classes);
        Ok(Self {
            deployments: listed(Api::all(client.clone()), every.clone()).await?,
            daemon_sets: listed(Api::all(client.clone()), every.clone()).await?,
            leases: listed(Api::all(client.clone()), named).await?,
            drivers: got(Api::all(client.clone()), &[NAME]).await?,
            storage_classes: got(Api::all(client.clone()), &[NAME]).await?,
            definitions: definitions(client).await?,
            classes: listed(classes, every).await?,
            namespaces: got(Api::all(client.clone()), &[namespace]).await?,
            volumes: listed(Api::all(client.clone()), unlabelled).await?,
        })
    }
}

async fn definitions(client: &Client) -> anyhow::Result<Read<DynamicObject>> {
    let kind = ApiResource::erase::<CustomResourceDefinition>(&());
    let names: Vec<String> = (KINDS.definitions)().iter().map(|d| d.name_any()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    got(Api::all_with(client.clone(), &kind), &names).await
}

/// All objects of a kind, page by page; none of one that is not served.
async fn listed<K>(api: Api<K>, mut page: ListParams) -> anyhow::Result<Read<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    page = page.limit(PAGE);
    let mut all = Vec::new();
    loop {
        let list = match api.list(&page).await {
            Ok(list) => list,
            Err(error) => return refused(error, || format!("list {}", api.resource_url())),
        };
        all.extend(list.items);
        match list.metadata.continue_.unwrap_or_default().as_str() {
            "" => return Ok(Ok(all)),
            token => page = page.continue_token(token),
        }
    }
}

/// Those of the names that exist.
async fn got<K>(api: Api<K>, names: &[&str]) -> anyhow::Result<Read<K>>
where
    K: Resource + Clone + Debug + DeserializeOwned,
{
    let mut all = Vec::new();
    for name in names {
        match api.get_opt(name).await {
            Ok(object) => all.extend(object),
            Err(error) => {
                return refused(error, || format!("get {}/{name}", api.resource_url()));
            }
        }
    }
    Ok(Ok(all))
}

fn refused<T>(error: kube::Error, request: impl Fn() -> String) -> anyhow::Result<Read<T>> {
    if let kube::Error::Api(status) = &error {
        match status.code {
            403 => return Ok(Err(status.message.clone())),
            404 => return Ok(Ok(Vec::new())),
            _ => {}
        }
    }
    Err(error).with_context(|| format!("cannot {}; mend that and run again", request()))
}
