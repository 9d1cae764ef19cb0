//! Choice of the active Site of a namespace: its router serves all that the namespace declares. It
//! does not matter if a Site can be read.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt};
use lifecycle_runtime::ObjectRef;

/// Returns the active Site among those that stay: the owner of the router's ConfigMap, and without
/// a ConfigMap the oldest. Ages are whole seconds, so either of two Sites created within one second
/// may look older. The Site that has written its configuration stays active.
pub fn find<'a, S>(sites: &[&'a S], router_config: Option<&ConfigMap>) -> Option<&'a S>
where
    S: Resource<DynamicType = ()>,
{
    let owners = router_config.map_or(&[][..], |config| config.owner_references());
    let staying = sites
        .iter()
        .filter(|s| s.meta().deletion_timestamp.is_none());
    let owns_it = |site: &S| {
        let uid = site.meta().uid.as_ref();
        owners.iter().any(|owner| Some(&owner.uid) == uid)
    };
    let first = staying.min_by_key(|site| (!owns_it(site), age(site.meta())));
    first.copied()
}

/// A reference to it.
pub fn reference<S>(sites: &[&S], router_config: Option<&ConfigMap>) -> Option<ObjectRef>
where
    S: Resource<DynamicType = ()>,
{
    find(sites, router_config).map(ObjectRef::to::<S>)
}

fn age(meta: &ObjectMeta) -> (Timestamp, Option<&str>) {
    let created = meta.creation_timestamp.as_ref().map(|at| at.0);
    (created.unwrap_or(Timestamp::MAX), meta.uid.as_deref())
}
