//! The namespaces that concern sites, and which controller their ConfigMaps name. Pure.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use kube::api::DynamicObject;
use lifecycle_skupper::namespace::active_site;
use lifecycle_skupper::router::plane::ObservedRouter;
use lifecycle_specs_skupper::site::Site;
use serde_json::json;

use super::chosen::Chosen;
use super::found::ClusterObjects;
use crate::takeover::finding::Finding;

/// Key of ConfigMap `skupper`.
const CONTROLLER: &str = "controller";

/// A namespace with objects that a controller of sites writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space<'a> {
    /// Its ConfigMap `skupper`.
    pub(crate) config: Option<&'a ConfigMap>,
    /// Its Deployments.
    pub(crate) deployments: Vec<&'a Deployment>,
    /// The configuration of its router.
    pub(crate) documents: Vec<&'a ConfigMap>,
    /// Its Sites that can be read.
    pub(crate) sites: Vec<Site>,
}

impl<'a> Space<'a> {
    /// The controller that the ConfigMap names, as it is written there.
    pub(crate) fn named(&self) -> Option<&'a str> {
        let data = self.config?.data.as_ref()?;
        data.get(CONTROLLER).map(String::as_str)
    }

    /// Its Site that counts.
    pub(crate) fn site(&self) -> Option<&Site> {
        let sites: Vec<&Site> = self.sites.iter().collect();
        active_site::find(&sites, self.observed_router().config)
    }

    /// Its router as it is.
    pub(crate) fn observed_router(&self) -> ObservedRouter<'a> {
        ObservedRouter::find(&self.deployments, &self.documents)
    }
}

/// The namespaces with a Site or a SecuredAccess, by name.
pub(crate) fn spaces(found: &ClusterObjects) -> BTreeMap<String, Space<'_>> {
    let concerning = found
        .objects_of_kind("Site")
        .iter()
        .chain(found.objects_of_kind("SecuredAccess"));
    let names: BTreeSet<String> = concerning.filter_map(ResourceExt::namespace).collect();
    let mut spaces: BTreeMap<String, Space<'_>> = names
        .into_iter()
        .map(|name| (name, Space::default()))
        .collect();
    for config in found.configs.iter().flatten() {
        if let Some(space) = space(&mut spaces, config) {
            space.config = Some(config);
        }
    }
    for document in found.documents.iter().flatten() {
        if let Some(space) = space(&mut spaces, document) {
            space.documents.push(document);
        }
    }
    for deployment in found.deployments.iter().flatten() {
        if let Some(space) = space(&mut spaces, deployment) {
            space.deployments.push(deployment);
        }
    }
    for site in found.objects_of_kind("Site") {
        if let (Some(space), Ok(site)) = (space(&mut spaces, site), typed(site)) {
            space.sites.push(site);
        }
    }
    spaces
}

/// Parses a Site as it is stored; a missing spec counts as an empty one.
fn typed(site: &DynamicObject) -> serde_json::Result<Site> {
    let mut site = serde_json::to_value(site)?;
    if site["spec"].is_null() {
        site["spec"] = json!({});
    }
    serde_json::from_value(site)
}

fn space<'a, 'b>(
    spaces: &'b mut BTreeMap<String, Space<'a>>,
    object: &impl ResourceExt,
) -> Option<&'b mut Space<'a>> {
    spaces.get_mut(&object.namespace()?)
}

/// Returns the examined namespaces: those that would be watched, whichever controller manages them
/// now, or all that this controller would manage.
pub(crate) fn looked_at<'a, 'b>(
    spaces: &'b BTreeMap<String, Space<'a>>,
    chosen: &'b Chosen,
) -> impl Iterator<Item = (&'b str, &'b Space<'a>)> {
    let id = chosen.id();
    let wanted = move |name: &str, space: &Space<'_>| match chosen.watched.is_empty() {
        true => id.other(space.config).is_none(),
        false => chosen.watches(name),
    };
    let all = spaces.iter().map(|(name, space)| (name.as_str(), space));
    all.filter(move |(name, space)| wanted(name, space))
}

/// Returns the findings of unreadable Sites in examined namespaces.
pub(crate) fn unreadable(found: &ClusterObjects, names: &BTreeSet<&str>) -> Vec<Finding> {
    let here = found.objects_of_kind("Site").iter().filter(|site| {
        let namespace = site.namespace().unwrap_or_default();
        names.contains(namespace.as_str())
    });
    let all = here.filter_map(|site| {
        let why = typed(site).err()?;
        let namespace = site.namespace().unwrap_or_default();
        Some(Finding::blocks(
            &format!("Site {namespace}/{}", site.name_any()),
            format!("it cannot be read: {why}"),
            "correct it",
        ))
    });
    all.collect()
}
