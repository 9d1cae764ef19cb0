//! The node side of a Listener volume, against real types.

use std::collections::BTreeMap;
use std::future::ready;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once, Request};
use lifecycle_runtime::{Because, Desired, ObjectRef, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Listener", namespaced)]
pub(crate) struct ListenerSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "example.org",
    version = "v1",
    kind = "PodListeners",
    namespaced
)]
pub(crate) struct PodListenersSpec {
    addresses: Vec<String>,
}

/// Address at which something listens.
pub(crate) struct ListenerIngress(String);

/// Files of a volume.
#[derive(PartialEq)]
pub(crate) struct Tree(BTreeMap<String, String>);

include!("../../../macros/core/tests/lifecycles/volume.txt");

pub(crate) struct PlainLogic;

impl ListenerMountLogic for PlainLogic {
    fn claim(&self, pv: &PersistentVolume) -> Option<ObjectRef> {
        let claim = pv.spec.as_ref()?.claim_ref.as_ref()?;
        let name = claim.name.as_deref()?;
        let namespace = claim.namespace.as_deref();
        Some(ObjectRef::new::<PersistentVolumeClaim>(namespace, name))
    }
    fn chosen(&self, request: Request<'_>) -> Option<ObjectRef> {
        let name = request.context("example.org/listener")?;
        let namespace = request.context("csi.storage.k8s.io/pod.namespace");
        Some(ObjectRef::new::<Listener>(namespace, name))
    }
    fn own(&self, claim: &PersistentVolumeClaim) -> Option<ObjectRef> {
        let namespace = claim.metadata.namespace.as_deref();
        Some(ObjectRef::new::<Listener>(
            namespace,
            claim.metadata.name.as_deref()?,
        ))
    }
    fn pod(&self, request: Request<'_>) -> Option<ObjectRef> {
        let name = request.context("csi.storage.k8s.io/pod.name")?;
        let namespace = request.context("csi.storage.k8s.io/pod.namespace");
        Some(ObjectRef::new::<Pod>(namespace, name))
    }
    fn listed(&self, pod: &Pod) -> Option<ObjectRef> {
        let namespace = pod.metadata.namespace.as_deref();
        let name = format!("pod-{}", pod.metadata.uid.as_deref()?);
        Some(ObjectRef::new::<PodListeners>(namespace, &name))
    }
    fn node(&self) -> Option<ObjectRef> {
        None
    }
    fn probe_tree(
        &self,
        target_path: &str,
    ) -> impl Future<Output = Result<Tree, CallError>> + Send {
        ready(Err(CallError::Failed(format!("no disk at {target_path}"))))
    }
    fn addresses(
        &self,
        _: Option<&Listener>,
        _: Option<&Listener>,
        _: Option<&Pod>,
        _: Option<&Node>,
    ) -> Vec<ListenerIngress> {
        Vec::new()
    }
    fn asked(&self, _: Request<'_>) -> Because<Asked> {
        Because::plain(Asked::Mount)
    }
    fn source(&self, _: Request<'_>) -> Because<Source> {
        Because::plain(Source::Class)
    }
    fn mounts(&self, _: &Pod, _: Option<&PersistentVolumeClaim>) -> Because<Mounts> {
        Because::plain(Mounts::Yes)
    }
    fn exposed(&self, _: Option<&Listener>, _: Option<&Listener>) -> Because<Exposed> {
        Because::plain(Exposed::No)
    }
    fn address(&self, addresses: &Vec<ListenerIngress>) -> Because<bool> {
        Because::plain(!addresses.is_empty())
    }
    fn files(&self, tree: Option<&Tree>) -> Because<bool> {
        Because::plain(tree.is_some_and(|tree| !tree.0.is_empty()))
    }
    fn fresh(&self, tree: Option<&Tree>, addresses: &Vec<ListenerIngress>) -> Because<bool> {
        Because::plain(tree.is_some_and(|tree| tree.0.len() == addresses.len()))
    }
    fn apply_own(&self, _: ApplyOwn<'_>) -> Desired<Listener> {
        Desired::from_object(&Listener::new("", ListenerSpec {}))
    }
    fn apply_pv(&self, _: ApplyPv<'_>) -> Desired<PersistentVolume> {
        Desired::from_object(&PersistentVolume::default())
    }
    fn apply_pod(&self, _: ApplyPod<'_>) -> Desired<Pod> {
        Desired::from_object(&Pod::default())
    }
    fn apply_listed(&self, at: ApplyListed<'_>) -> Desired<PodListeners> {
        let addresses = at.addresses.iter().map(|one| one.0.clone()).collect();
        Desired::from_object(&PodListeners::new("", PodListenersSpec { addresses }))
    }
    fn write_tree(
        &self,
        _: WriteTree<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<WriteTreeResult>> + Send {
        once.spend(ready(Ok(WriteTreeResult::FilesFresh)))
    }
    fn remove_tree(
        &self,
        at: RemoveTree<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<RemoveTreeResult>> + Send {
        let missing = CallError::Failed("no target path".to_owned());
        let target = at.request.target_path().ok_or(missing);
        once.spend(ready(target.map(|_| RemoveTreeResult::NotFiles)))
    }
}
