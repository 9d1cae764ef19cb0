//! Secrets that entries of a router name, where the existing adaptor goes on: it takes those of one type alone. Pure.

use std::collections::BTreeMap;

use kube::ResourceExt;
use kube::api::DynamicObject;
use lifecycle_skupper::data_plane::{Adaptor, DataPlane};

use super::chosen::Chosen;
use super::found::{ClusterObjects, Credentials};
use super::spaces::{Space, looked_at, spaces};
use crate::takeover::finding::Finding;

/// The type that the existing adaptor takes, and the key that it needs.
const TLS: &str = "kubernetes.io/tls";
const AUTHORITY: &str = "ca.crt";
/// Kinds that name a Secret which another user may have created.
const KINDS: [&str; 6] = [
    "Listener",
    "MultiKeyListener",
    "Connector",
    "AttachedConnector",
    "Link",
    "RouterAccess",
];

/// The Secrets that have to be as that adaptor takes them, by namespace and name, with the first object that names each.
pub(crate) fn needed(
    found: &ClusterObjects,
    chosen: &Chosen,
) -> BTreeMap<(String, String), String> {
    let spaces = spaces(found);
    let adapted = looked_at(&spaces, chosen).filter(|(_, space)| is_adapted(space, chosen));
    let adapted: BTreeMap<&str, &Space<'_>> = adapted.collect();
    let mut needed = BTreeMap::new();
    for kind in KINDS {
        for object in found.objects_of_kind(kind) {
            let own = object.namespace().unwrap_or_default();
            // Secrets of attached objects are in the namespace of the Site.
            let of_site = object.data["spec"]["siteNamespace"].as_str();
            let namespace = of_site.unwrap_or(&own).to_owned();
            let Some(name) = secret(object).filter(|_| adapted.contains_key(namespace.as_str()))
            else {
                continue;
            };
            let user = format!("{kind} {own}/{}", object.name_any());
            needed.entry((namespace, name)).or_insert(user);
        }
    }
    needed
}

/// The Secret that an object names. One that is generated is as it has to be.
fn secret(object: &DynamicObject) -> Option<String> {
    let spec = &object.data["spec"];
    let name = spec["tlsCredentials"].as_str()?;
    let is_own = !name.is_empty() && spec["generateTlsCredentials"] != true;
    is_own.then(|| name.to_owned())
}

/// Returns true if the existing adaptor stays in a namespace.
fn is_adapted(space: &Space<'_>, chosen: &Chosen) -> bool {
    let (there, options) = (space.observed_router(), &chosen.routers);
    space.site().is_some_and(|site| {
        there.plane_of(&site.spec, options.data_plane) == DataPlane::SkupperRouter
            && there.adaptor_of(&site.spec, options.adaptor) == Adaptor::KubeAdaptor
    })
}

/// The faults of these Secrets.
pub(crate) fn credentials(
    found: &[Credentials],
    needed: &BTreeMap<(String, String), String>,
) -> Vec<Finding> {
    let all = found.iter().filter_map(|one| {
        let user = needed.get(&(one.namespace.clone(), one.name.clone()))?;
        let kind = (one.kind != TLS).then(|| format!("is of the type `{}`", one.kind));
        let key = (!one.keys.contains(AUTHORITY)).then(|| format!("has no `{AUTHORITY}`"));
        let wrong: Vec<String> = kind.into_iter().chain(key).collect();
        (!wrong.is_empty()).then(|| {
            Finding::note(
                &format!("Secret {}/{}", one.namespace, one.name),
                format!("it {}; the existing adaptor takes only `{TLS}` with `{AUTHORITY}`, so that {user}, which names it, has no entry in the router", wrong.join(" and ")),
                "make it anew with that type and key, or set `router-adaptor: lifecycle-router` of the Site, which restarts its router once",
            )
        })
    });
    all.collect()
}
