//! Listener of a network: sets that several objects share, two polls and a held entry.

use std::future::ready;

use k8s_openapi::api::core::v1::{Secret, Service};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Site", namespaced)]
pub(crate) struct SiteSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Listener", namespaced)]
pub(crate) struct ListenerSpec {
    host: String,
    tls_credentials: Option<String>,
}

#[derive(PartialEq)]
pub(crate) struct RouterTable;
#[derive(PartialEq)]
pub(crate) struct Reach;

pub(crate) fn listener(metadata: ObjectMeta, host: &str) -> Listener {
    let spec = ListenerSpec {
        host: host.to_owned(),
        tls_credentials: None,
    };
    Listener { metadata, spec }
}

include!("../../../macros/core/tests/lifecycles/skupper.txt");

/// A network without routers.
pub(crate) struct NoRouters;

impl ListenerLogic for NoRouters {
    fn poll_router(
        &self,
        _: This<'_, Listener>,
        sites: Vec<&Site>,
    ) -> impl Future<Output = Result<RouterTable, CallError>> + Send {
        ready(if sites.is_empty() {
            Err(CallError::Failed("no site".to_owned()))
        } else {
            Ok(RouterTable)
        })
    }
    fn poll_network(
        &self,
        _: This<'_, Listener>,
        _: Vec<&Site>,
    ) -> impl Future<Output = Result<Reach, CallError>> + Send {
        ready(Ok(Reach))
    }
    fn site(&self, _: This<'_, Listener>, sites: &[&Site]) -> Because<bool> {
        Because::plain(!sites.is_empty())
    }
    fn validity(&self, this: This<'_, Listener>, peers: &[&Listener]) -> Because<Validity> {
        let taken = peers
            .iter()
            .any(|p| p.metadata.uid != this.meta.uid && p.spec.host == this.spec.host);
        Because::plain(if taken {
            Validity::Taken
        } else {
            Validity::Fine
        })
    }
    fn matched(&self, _: This<'_, Listener>, _: &Reach) -> Because<bool> {
        Because::plain(true)
    }
    fn entry(
        &self,
        _: This<'_, Listener>,
        _: &[&Site],
        router: Option<&RouterTable>,
        _: Option<&Reach>,
    ) -> Because<Entry> {
        Because::plain(if router.is_some() {
            Entry::Current
        } else {
            Entry::Unknown
        })
    }
    fn bound(&self, _: This<'_, Listener>, _: Option<&RouterTable>) -> Because<Bound> {
        Because::plain(Bound::Up)
    }
    fn ensure_entry(
        &self,
        _: EnsureEntry<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<EnsureEntryResult>> + Send {
        once.spend(ready(Ok(EnsureEntryResult::Current)))
    }
    fn remove_entry(
        &self,
        _: RemoveEntry<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<RemoveEntryResult>> + Send {
        once.spend(ready(Ok(RemoveEntryResult::No)))
    }
    fn apply_services(&self, at: ApplyServices<'_>) -> Vec<Desired<Service>> {
        at.peers
            .iter()
            .map(|_| Desired::from_object(&Service::default()))
            .collect()
    }
    fn has_matching_connector(&self, _: This<'_, Listener>, matched: bool) -> bool {
        matched
    }
}
