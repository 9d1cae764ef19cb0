//! Which Site of a namespace is active: its router serves all that the namespace declares.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use lifecycle_runtime::ObjectRef;
use lifecycle_specs_skupper::site::Site;

/// The active Site of those that stay: the owner of the router's ConfigMap, and without one the oldest. Ages are whole seconds, so of two that
/// are made at once either may look older; whoever has written its configuration stays.
pub fn find<'a>(sites: &[&'a Site], router_config: Option<&ConfigMap>) -> Option<&'a Site> {
    let owners = router_config.map_or(&[][..], |config| config.owner_references());
    let staying = sites
        .iter()
        .filter(|s| s.metadata.deletion_timestamp.is_none());
    let owns_it = |site: &Site| {
        let uid = site.metadata.uid.as_ref();
        owners.iter().any(|owner| Some(&owner.uid) == uid)
    };
    let first = staying.min_by_key(|site| (!owns_it(site), age(&site.metadata)));
    first.copied()
}

/// A reference to it.
pub fn reference(sites: &[&Site], router_config: Option<&ConfigMap>) -> Option<ObjectRef> {
    find(sites, router_config).map(ObjectRef::to)
}

fn age(meta: &ObjectMeta) -> (Timestamp, Option<&str>) {
    let created = meta.creation_timestamp.as_ref().map(|at| at.0);
    (created.unwrap_or(Timestamp::MAX), meta.uid.as_deref())
}
