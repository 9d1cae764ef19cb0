//! Objects of the replaced operator in a cluster.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, PersistentVolume};
use k8s_openapi::api::storage::v1::{CSIDriver, StorageClass};
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use lifecycle_listener::controller::{KINDS, NAME};
use lifecycle_specs_listener::listener::LISTENER_NAME;
use lifecycle_specs_listener::listener_class::ListenerClass;

use super::read::{self, Read, Scope, got, listed, typed};

/// Lease that a controller of this operator holds.
const LEASE: &str = "listeners.stackable.tech-controller";

/// Objects that were read of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct ClusterObjects {
    /// Deployments of the examined namespaces.
    pub(crate) deployments: Read<Deployment>,
    /// DaemonSets of the examined namespaces.
    pub(crate) daemon_sets: Read<DaemonSet>,
    /// Leases of this operator's controllers, in the examined namespaces.
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

impl ClusterObjects {
    /// Reads it.
    ///
    /// # Errors
    /// Returns an error if the API server cannot be reached. A refusal is not an error.
    pub(crate) async fn read(
        client: &Client,
        namespace: &str,
        scope: &Scope,
    ) -> anyhow::Result<Self> {
        let every = ListParams::default();
        let named = every.clone().fields(&format!("metadata.name={LEASE}"));
        let unlabelled = every.clone().labels(&format!("!{LISTENER_NAME}"));
        let classes = ApiResource::erase::<ListenerClass>(&());
        let classes: Api<DynamicObject> = Api::all_with(client.clone(), &classes);
        Ok(Self {
            deployments: scope.listed(typed(client), every.clone()).await?,
            daemon_sets: scope.listed(typed(client), every.clone()).await?,
            leases: scope.listed(typed(client), named).await?,
            drivers: got(Api::all(client.clone()), &[NAME]).await?,
            storage_classes: got(Api::all(client.clone()), &[NAME]).await?,
            definitions: read::definitions(client, &KINDS).await?,
            classes: listed(classes, every).await?,
            namespaces: got(Api::all(client.clone()), &[namespace]).await?,
            volumes: listed(Api::all(client.clone()), unlabelled).await?,
        })
    }
}
