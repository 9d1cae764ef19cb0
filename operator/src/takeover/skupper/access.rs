//! How sites are reached: types of access that this controller does not serve. Pure.

use std::collections::BTreeSet;

use kube::ResourceExt;
use kube::api::DynamicObject;
use lifecycle_skupper::config::validity;
use lifecycle_specs_skupper::site::Site;

use super::chosen::Chosen;
use super::found::ClusterObjects;
use crate::takeover::finding::Finding;

/// A Site that lets others link to it in a way that is not served.
pub(crate) fn of_site((namespace, site): (&str, &Site), chosen: &Chosen) -> Option<Finding> {
    let said = validity::access(&site.spec)?;
    let name = Some(said.to_owned()).filter(|name| name != "default");
    let why = chosen.access.refused(name.as_ref())?;
    let object = format!("Site {namespace}/{}", site.name_any());
    Some(refused(&object, "linkAccess", &why))
}

/// RouterAccesses and SecuredAccesses of these namespaces. Of those that a Site or a RouterAccess has made, that one is named.
pub(crate) fn of_objects(
    found: &ClusterObjects,
    names: &BTreeSet<&str>,
    chosen: &Chosen,
) -> Vec<Finding> {
    let kinds = ["RouterAccess", "SecuredAccess"].into_iter();
    let all = kinds.flat_map(|kind| {
        found
            .objects_of_kind(kind)
            .iter()
            .map(move |one| (kind, one))
    });
    let all = all.filter_map(|(kind, one)| {
        let namespace = one.namespace().unwrap_or_default();
        if !names.contains(namespace.as_str()) || is_made(one) {
            return None;
        }
        let said = one.data["spec"]["accessType"].as_str();
        let said = said.filter(|said| !said.is_empty()).map(str::to_owned);
        let why = chosen.access.refused(said.as_ref())?;
        let object = format!("{kind} {namespace}/{}", one.name_any());
        Some(refused(&object, "accessType", &why))
    });
    all.collect()
}

fn refused(object: &str, field: &str, why: &str) -> Finding {
    let todo = format!(
        "set another `spec.{field}`, and give the new address to the sites that link there; or leave the namespace to the existing controller"
    );
    Finding::blocks(object, format!("`spec.{field}`: {why}"), todo)
}

fn is_made(object: &DynamicObject) -> bool {
    let mut owners = object.owner_references().iter();
    owners.any(|owner| owner.kind == "Site" || owner.kind == "RouterAccess")
}
