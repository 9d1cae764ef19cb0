//! The Service of the grant server, which the existing controller creates by a SecuredAccess. The
//! Service stays, but its owner may not. Pure.

use kube::ResourceExt;

use super::found::{ClusterObjects, GRANT_SERVER};
use crate::takeover::finding::Finding;

/// Number of ReplicaSets of a Deployment that Kubernetes keeps by default.
const HISTORY: i32 = 10;

/// The Services and SecuredAccesses of grant servers in these namespaces.
pub(crate) fn grants(found: &ClusterObjects, is_ours: impl Fn(&str) -> bool) -> Vec<Finding> {
    let services = found.services.iter().flatten();
    let services = services.map(|one| ("Service", &one.metadata));
    let accesses = found.objects_of_kind("SecuredAccess").iter();
    let accesses = accesses.map(|one| ("SecuredAccess", &one.metadata));
    let all = services.chain(accesses).filter_map(|(kind, metadata)| {
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        if metadata.name.as_deref() != Some(GRANT_SERVER) || !is_ours(namespace) {
            return None;
        }
        let mut owners = metadata.owner_references.iter().flatten();
        let owner = owners.find(|owner| owner.kind == "ReplicaSet");
        let object = format!("{kind} {namespace}/{GRANT_SERVER}");
        Some(match owner {
            None => Finding::note(&object, "it stays, so tokens that were handed out can still be redeemed", ""),
            Some(owner) => Finding::note(
                &object,
                format!("it stays, so tokens that were handed out can still be redeemed; but ReplicaSet {} owns it, which Kubernetes removes after {} changes of its Deployment: then it goes, too", owner.name, history(found, namespace)),
                format!("take the owner off: `kubectl --namespace {namespace} patch {} {GRANT_SERVER} --type json --patch '[{{\"op\":\"remove\",\"path\":\"/metadata/ownerReferences\"}}]'`", kind.to_lowercase()),
            ),
        })
    });
    all.collect()
}

/// How many ReplicaSets the Deployments of controllers of a namespace keep: the least.
fn history(found: &ClusterObjects, namespace: &str) -> i32 {
    let all = found.deployments.iter().flatten();
    let here = all.filter(|one| one.namespace().as_deref() == Some(namespace));
    let controllers = here.filter(|one| one.name_any() == "skupper-controller");
    let limits = controllers.filter_map(|one| one.spec.as_ref()?.revision_history_limit);
    limits.min().unwrap_or(HISTORY)
}
