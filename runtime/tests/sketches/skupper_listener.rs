//! Listener whose ports its site determines: one Service, one set and a poll.

use std::future::ready;

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::skupper::Site;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Listener", namespaced)]
pub(crate) struct ListenerSpec {
    host: String,
    tls_credentials: Option<String>,
}

const LISTENER: &str = "example.org/listener";

#[derive(PartialEq)]
pub(crate) struct RouterState;

pub(crate) fn listener(metadata: ObjectMeta, host: &str) -> Listener {
    let spec = ListenerSpec {
        host: host.to_owned(),
        tls_credentials: None,
    };
    Listener { metadata, spec }
}

include!("../../../macros/core/tests/lifecycles/skupper-listener.txt");

/// A site whose router never answers.
pub(crate) struct SilentRouter;

impl ListenerLogic for SilentRouter {
    fn poll_router(
        &self,
        _: This<'_, Listener>,
        _: Vec<&Site>,
    ) -> impl Future<Output = Result<RouterState, CallError>> + Send {
        ready(Ok(RouterState))
    }
    fn home(&self, _: This<'_, Listener>, sites: &[&Site]) -> Option<ObjectRef> {
        sites.first().map(|site| ObjectRef::to(*site))
    }
    fn validity(&self, _: This<'_, Listener>, _: &[&Site]) -> Because<Validity> {
        Because::plain(Validity::Fine)
    }
    fn claim(&self, _: This<'_, Listener>, table: &ConfigMap) -> Because<Claim> {
        Because::plain(if table.data.is_some() {
            Claim::Held
        } else {
            Claim::None
        })
    }
    fn entry(&self, _: This<'_, Listener>, _: &ConfigMap, _: &RouterState) -> Because<Entry> {
        Because::plain(Entry::Current)
    }
    fn reach(&self, _: This<'_, Listener>, _: &RouterState) -> Because<Reach> {
        Because::plain(Reach::Up)
    }
    fn apply_service(&self, at: ApplyService<'_>) -> Desired<Service> {
        Desired::from_object(&Service {
            metadata: at.table.metadata.clone(),
            ..Service::default()
        })
    }
    fn apply_pods(&self, at: ApplyPods<'_>) -> Vec<Desired<Service>> {
        vec![Desired::from_object(&Service {
            metadata: at.table.metadata.clone(),
            ..Service::default()
        })]
    }
    fn has_matching_connector(&self, _: This<'_, Listener>, _: &RouterState) -> Option<bool> {
        None
    }
}
