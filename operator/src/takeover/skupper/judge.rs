//! Findings for the controller of Skupper sites, from the objects that were read and the chosen
//! options. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::chosen::Chosen;
use super::found::{ClusterObjects, kinds};
use super::spaces::{Space, looked_at, spaces, unreadable};
use super::{access, controllers, credentials, grants, router};
use crate::args::Product;
use crate::takeover::finding::Finding;
use crate::takeover::{definitions, read};
use crate::wiring;

/// Judges a cluster. Returns blocking findings first, then unreadable objects, then notes.
pub(crate) fn judge(found: &ClusterObjects, chosen: &Chosen) -> Vec<Finding> {
    let spaces = spaces(found);
    let mut findings = of_controllers(found, &spaces, chosen);
    let names: BTreeSet<&str> = looked_at(&spaces, chosen).map(|(name, _)| name).collect();
    let notes = chosen.watched.iter();
    findings.extend(notes.filter_map(|name| watched(name, &spaces, chosen)));
    findings.extend(unreadable(found, &names));
    for (name, space) in looked_at(&spaces, chosen) {
        findings.extend(router::router((name, space), chosen));
        let site = space.site();
        findings.extend(site.and_then(|site| access::of_site((name, site), chosen)));
    }
    findings.extend(access::of_objects(found, &names, chosen));
    if let Ok(read) = &found.credentials {
        let needed = credentials::needed(found, chosen);
        findings.extend(credentials::credentials(read, &needed));
    }
    if let Ok(live) = &found.definitions {
        let kinds = wiring::kinds(Product::Skupper);
        findings.extend(definitions::definitions(live, &kinds, chosen.maintain_crds));
    }
    findings.extend(grants::grants(found, |namespace| {
        namespace == chosen.namespace
    }));
    findings.extend(unread(found));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// Without the ConfigMaps it is not known who manages which namespace: that they may not be read is a finding of its own.
fn of_controllers(
    found: &ClusterObjects,
    spaces: &BTreeMap<String, Space<'_>>,
    chosen: &Chosen,
) -> Vec<Finding> {
    let (Ok(deployments), Ok(_)) = (&found.deployments, &found.configs) else {
        return Vec::new();
    };
    let all = controllers::controllers(deployments);
    let running = all
        .iter()
        .flat_map(|one| controllers::running(one, spaces, chosen));
    let mut findings: Vec<Finding> = running.collect();
    findings.extend(controllers::unmanaged(&all, spaces, chosen));
    findings
}

/// Returns the note on a namespace that would be watched, if another controller has it.
fn watched(name: &str, spaces: &BTreeMap<String, Space<'_>>, chosen: &Chosen) -> Option<Finding> {
    let object = format!("Namespace {name}");
    let Some(space) = spaces.get(name) else {
        return Some(Finding::note(&object, "there is no Site in it", ""));
    };
    let other = chosen.id().other(space.config)?;
    Some(Finding::note(
        &object,
        format!(
            "ConfigMap `skupper` gives it to controller {other}, and this one writes nothing there until it names {}; findings of the namespace are of what is then",
            chosen.full_name()
        ),
        "",
    ))
}

fn unread(found: &ClusterObjects) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(read::unread(
        "Deployments",
        "list deployments.apps",
        &found.deployments,
    ));
    let mut configs = [&found.configs, &found.documents].into_iter();
    findings.extend(configs.find_map(|read| read::unread("ConfigMaps", "list configmaps", read)));
    findings.extend(read::unread("Services", "list services", &found.services));
    findings.extend(read::unread(
        "CustomResourceDefinitions",
        "get customresourcedefinitions.apiextensions.k8s.io",
        &found.definitions,
    ));
    for kind in kinds() {
        let Some(read) = found.objects.get(&kind.kind) else {
            continue;
        };
        let right = format!("list {}.{}", kind.plural, kind.group);
        findings.extend(read::unread(&kind.kind, &right, read));
    }
    findings.extend(read::unread("Secrets", "get secrets", &found.credentials));
    findings
}
