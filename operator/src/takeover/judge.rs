//! Findings from the objects that were read and the chosen options. Pure.

use kube::ResourceExt;

use crate::args::Product;
use crate::wiring::kinds;

use super::finding::{Chosen, Finding};
use super::found::ClusterObjects;
use super::{controllers, definitions, driver, nodes, objects, read};

/// Judges a cluster. Returns blocking findings first, then unreadable objects, then notes.
pub(crate) fn judge(found: &ClusterObjects, chosen: &Chosen) -> Vec<Finding> {
    let mut findings = of_controllers(found, chosen);
    let daemon_sets = found.daemon_sets.iter().flatten();
    findings.extend(daemon_sets.flat_map(|one| nodes::nodes(one, chosen)));
    findings.extend(found.drivers.iter().flatten().flat_map(driver::driver));
    let classes = found.storage_classes.iter().flatten();
    findings.extend(classes.flat_map(driver::storage_class));
    if let Ok(live) = &found.definitions {
        findings.extend(definitions::definitions(
            live,
            &kinds(Product::Listeners),
            chosen.maintain_crds,
        ));
    }
    if let Ok(live) = &found.classes {
        findings.extend(objects::classes(live, chosen));
    }
    if let Ok(live) = &found.namespaces {
        findings.extend(objects::namespace(live, chosen));
    }
    if let Ok(live) = &found.volumes {
        findings.extend(objects::volumes(live));
    }
    findings.extend(unread(found));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

fn of_controllers(found: &ClusterObjects, chosen: &Chosen) -> Vec<Finding> {
    let leases = found.leases.as_deref().unwrap_or_default();
    let deployments = found.deployments.as_deref().unwrap_or_default();
    let held = leases
        .iter()
        .filter(|lease| controllers::holder(lease, chosen).is_some());
    let held: Vec<String> = held.filter_map(ResourceExt::namespace).collect();
    let held: Vec<&str> = held.iter().map(String::as_str).collect();
    // Classes that may not be read are a finding of their own.
    let missing = |name: &str| {
        let classes = found.classes.as_ref();
        classes.is_ok_and(|all| all.iter().all(|class| class.name_any() != name))
    };
    let mut findings = Vec::new();
    for controller in controllers::controllers(deployments, leases, chosen) {
        findings.extend(controllers::running(&controller, &held, chosen));
        findings.extend(controllers::preset(&controller, missing, chosen));
    }
    findings.extend(
        leases
            .iter()
            .filter_map(|one| controllers::second(one, chosen)),
    );
    findings
}

fn unread(found: &ClusterObjects) -> Vec<Finding> {
    [
        read::unread("Deployments", "list deployments.apps", &found.deployments),
        read::unread("DaemonSets", "list daemonsets.apps", &found.daemon_sets),
        read::unread("Leases", "list leases.coordination.k8s.io", &found.leases),
        read::unread("CSIDriver", "get csidrivers.storage.k8s.io", &found.drivers),
        read::unread(
            "StorageClass",
            "get storageclasses.storage.k8s.io",
            &found.storage_classes,
        ),
        read::unread(
            "CustomResourceDefinitions",
            "get customresourcedefinitions.apiextensions.k8s.io",
            &found.definitions,
        ),
        read::unread(
            "ListenerClasses",
            "list listenerclasses.listeners.stackable.tech",
            &found.classes,
        ),
        read::unread("Namespace", "get namespaces", &found.namespaces),
        read::unread(
            "PersistentVolumes",
            "list persistentvolumes",
            &found.volumes,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
