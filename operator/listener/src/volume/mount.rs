//! The node side: how a Pod that mounts a Listener gets its traffic and its files.

use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::request::Access;
use lifecycle_runtime::lifecycle::{CallError, Once, Request};
use lifecycle_runtime::{Because, Desired, ObjectRef};
use lifecycle_specs_listener::listener::{LISTENER_NAME, LISTENER_NAMESPACE, Listener};
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::listener_mount::{
    Aim, ApplyListed, ApplyOwn, ApplyPod, ApplyPv, Asked, ClaimPorts, Exposed, ListenerMountLogic,
    Mounts, Namesake, PodAddresses, RemoveTree, RemoveTreeResult, Source, Tree, WriteTree,
    WriteTreeResult,
};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use serde_json::json;

use super::claim::{self, Selector};
use super::{exposure, listener, pod, tree};
use lifecycle_runtime::cause;

const POD_NAME: &str = "csi.storage.k8s.io/pod.name";
const POD_NAMESPACE: &str = "csi.storage.k8s.io/pod.namespace";
const POD_UID: &str = "csi.storage.k8s.io/pod.uid";
const INLINE: &str = "csi.storage.k8s.io/ephemeral";

/// Mounts Listener volumes on one node.
#[derive(Clone, Debug)]
pub struct Mounting {
    /// The Kubernetes name of the node.
    pub node: String,
}

impl ListenerMountLogic for Mounting {
    fn claim(&self, volume: &PersistentVolume) -> Option<ObjectRef> {
        claim::of_volume(volume)
    }

    fn mounted(&self, request: Request<'_>) -> Option<ObjectRef> {
        let name = request.context(POD_NAME)?;
        Some(ObjectRef::new::<Pod>(request.context(POD_NAMESPACE), name))
    }

    fn pod(&self, request: Request<'_>) -> Option<ObjectRef> {
        self.mounted(request)
    }

    fn chosen(&self, request: Request<'_>, claim: &PersistentVolumeClaim) -> Option<ObjectRef> {
        match promised(request) {
            Ok(Selector::Name(name)) => {
                let namespace = claim.metadata.namespace.as_deref();
                Some(ObjectRef::new::<Listener>(namespace, name))
            }
            Ok(Selector::Class(_)) | Err(_) => None,
        }
    }

    fn known(&self, claim: &PersistentVolumeClaim) -> Option<ObjectRef> {
        let namespace = claim.metadata.namespace.as_deref();
        let name = claim.metadata.name.as_deref()?;
        Some(ObjectRef::new::<Listener>(namespace, name))
    }

    fn own(&self, claim: &PersistentVolumeClaim) -> Option<ObjectRef> {
        self.known(claim)
    }

    fn class(&self, chosen: Option<&Listener>, own: Option<&Listener>) -> Option<ObjectRef> {
        let name = chosen.or(own)?.spec.class_name.as_deref()?;
        Some(ObjectRef::new::<ListenerClass>(None, name))
    }

    fn node(&self) -> Option<ObjectRef> {
        Some(ObjectRef::new::<Node>(None, &self.node))
    }

    fn listed(&self, mounted: &Pod) -> Option<ObjectRef> {
        pod::listed(mounted)
    }

    async fn probe_tree(&self, target_path: &str) -> Result<Tree, CallError> {
        let path = target_path.to_owned();
        on_disk(move || tree::read(&path)).await
    }

    fn ports(&self, known: Option<&Listener>, mounted: &Pod) -> ClaimPorts {
        listener::ports(known, mounted)
    }

    fn aim(&self, chosen: Option<&Listener>, own: Option<&Listener>) -> Option<Aim> {
        let metadata = &chosen.or(own)?.metadata;
        Some(Aim {
            namespace: metadata.namespace.clone()?,
            name: metadata.name.clone()?,
            uid: metadata.uid.as_deref()?.replace('-', ""),
        })
    }

    fn told(
        &self,
        chosen: Option<&Listener>,
        own: Option<&Listener>,
        class: Option<&ListenerClass>,
        node: Option<&Node>,
    ) -> PodAddresses {
        exposure::pod_addresses(chosen.or(own), class, node)
    }

    fn asked(&self, request: Request<'_>) -> Because<Asked> {
        if request.context(INLINE) == Some("true") {
            return Because::new(
                Asked::Inline,
                "a Listener volume needs a PersistentVolumeClaim; use `ephemeral` or `persistentVolumeClaim` instead of `csi`",
            );
        }
        let mut capabilities = request.capabilities().iter();
        if capabilities.any(|capability| capability.access == Access::Block) {
            return Because::new(
                Asked::Block,
                "a Listener volume holds files; use `volumeMode: Filesystem`",
            );
        }
        Because::plain(Asked::Mount)
    }

    fn source(&self, request: Request<'_>) -> Because<Source> {
        match promised(request) {
            Ok(Selector::Class(_)) => Because::plain(Source::Class),
            Ok(Selector::Name(_)) => Because::plain(Source::Name),
            Err(unclear) => Because::new(Source::Bad, unclear.to_string()),
        }
    }

    fn meant(&self, request: Request<'_>, mounted: &Pod) -> Because<bool> {
        // kubelet always sends it; a caller without it means the Pod of that name.
        let uid = request.context(POD_UID).filter(|uid| !uid.is_empty());
        if uid.is_none_or(|uid| mounted.metadata.uid.as_deref() == Some(uid)) {
            return Because::plain(true);
        }
        Because::new(false, "the Pod is gone, and another one bears its name")
    }

    fn mounts(&self, mounted: &Pod, claim: &PersistentVolumeClaim) -> Because<Mounts> {
        if pod::volume_of(mounted, claim).is_some() {
            return Because::plain(Mounts::Yes);
        }
        let claim = claim.metadata.name.as_deref().unwrap_or_default();
        let sentence = format!("no volume of the Pod uses PersistentVolumeClaim `{claim}`");
        Because::new(Mounts::No, sentence)
    }

    fn namesake(
        &self,
        volume: &PersistentVolume,
        claim: &PersistentVolumeClaim,
        known: Option<&Listener>,
    ) -> Because<Namesake> {
        listener::namesake(volume, claim, known)
    }

    fn exposed(
        &self,
        chosen: Option<&Listener>,
        own: Option<&Listener>,
        class: Option<&ListenerClass>,
    ) -> Because<Exposed> {
        match chosen.or(own) {
            Some(listener) => exposure::exposed(listener, class),
            None => Because::new(Exposed::No, "the Listener does not exist yet"),
        }
    }

    fn address(
        &self,
        told: &PodAddresses,
        chosen: Option<&Listener>,
        own: Option<&Listener>,
    ) -> Because<bool> {
        exposure::address(told, chosen.or(own))
    }

    fn files(&self, tree: Option<&Tree>) -> Because<bool> {
        let there = |tree: &Tree| *tree != Tree::Absent;
        Because::plain(tree.is_some_and(there))
    }

    fn fresh(&self, tree: Option<&Tree>, told: &PodAddresses) -> Because<bool> {
        let wanted = Tree::Files(tree::files(&told.addresses));
        Because::plain(tree == Some(&wanted))
    }

    fn apply_own(&self, at: ApplyOwn<'_>) -> Desired<Listener> {
        let class = match promised(at.request) {
            Ok(Selector::Class(class)) => Some(class),
            Ok(Selector::Name(_)) | Err(_) => None,
        };
        let listener = listener::build(class, at.volume, at.claim, at.mounted, at.ports);
        Desired::from_json(listener)
    }

    fn apply_pv(&self, at: ApplyPv<'_>) -> Desired<PersistentVolume> {
        let labels = at
            .aim
            .as_ref()
            .map(|aim| json!({ LISTENER_NAMESPACE: aim.namespace, LISTENER_NAME: aim.name }));
        Desired::from_json(json!({
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": { "labels": labels },
        }))
    }

    fn apply_pod(&self, at: ApplyPod<'_>) -> Desired<Pod> {
        Desired::from_json(at.aim.as_ref().map(pod::label).unwrap_or_default())
    }

    fn apply_listed(&self, at: ApplyListed<'_>) -> Desired<PodListeners> {
        let volume = pod::volume_of(at.mounted, at.claim).unwrap_or_default();
        Desired::from_json(pod::entry(at.mounted, &self.node, (volume, at.told)))
    }

    async fn write_tree(&self, at: WriteTree<'_>, once: Once<'_>) -> Outcome<WriteTreeResult> {
        let path = at.request.target_path().unwrap_or_default().to_owned();
        let files = tree::files(&at.told.addresses);
        let write = on_disk(move || tree::write(&path, &files));
        once.spend(async { write.await.map(|()| WriteTreeResult::FilesFresh) })
            .await
    }

    async fn remove_tree(&self, at: RemoveTree<'_>, once: Once<'_>) -> Outcome<RemoveTreeResult> {
        let path = at.request.target_path().unwrap_or_default().to_owned();
        let remove = on_disk(move || tree::remove(&path));
        once.spend(async { remove.await.map(|()| RemoveTreeResult::NotFiles) })
            .await
    }
}

fn promised(request: Request<'_>) -> Result<Selector<'_>, claim::Unclear> {
    claim::promised(|key| request.context(key))
}

/// A disk may take its time, and others must not wait for it.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, tree::Error> + Send + 'static,
) -> Result<T, CallError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| CallError::Refused(cause::in_one_line(&error))),
        Err(_) => Err(CallError::Failed("the process is ending".to_owned())),
    }
}
