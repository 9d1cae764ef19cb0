//! The controller side of a Listener volume, against real types: a volume is promised and nothing is made.

use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::request::Capability;
use lifecycle_runtime::lifecycle::{CreatedVolume, Request};
use lifecycle_runtime::{Because, ObjectRef, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "ListenerClass")]
pub(crate) struct ListenerClassSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Listener", namespaced)]
pub(crate) struct ListenerSpec {}

include!("../../../macros/core/tests/lifecycles/provision.txt");

pub(crate) struct Promises;

impl ListenerProvisioningLogic for Promises {
    fn claim(&self, request: Request<'_>) -> Option<ObjectRef> {
        let name = request.parameter("csi.storage.k8s.io/pvc/name")?;
        let namespace = request.parameter("csi.storage.k8s.io/pvc/namespace");
        Some(ObjectRef::new::<PersistentVolumeClaim>(namespace, name))
    }
    fn class(&self, _: Option<&PersistentVolumeClaim>) -> Option<ObjectRef> {
        None
    }
    fn chosen(&self, _: &PersistentVolumeClaim) -> Option<ObjectRef> {
        None
    }
    fn asked(&self, _: &[Capability]) -> Because<Asked> {
        Because::plain(Asked::Mount)
    }
    fn source(&self, _: &PersistentVolumeClaim) -> Because<Source> {
        Because::plain(Source::Bad)
    }
    fn created_volume(&self, seen: &Seen<'_>) -> CreatedVolume {
        CreatedVolume::new(seen.request.name().unwrap_or_default())
    }
}
