//! Decides which objects are namespaced. Known kinds report it themselves, and the kinds of
//! Kubernetes are listed here.

use super::Object;

/// Groups and resources of Kubernetes without a namespace; `*`: each resource of the group. Source: API reference of Kubernetes 1.36.
const WITHOUT_NAMESPACE: [(&str, &[&str]); 15] = [
    (
        "",
        &[
            "componentstatuses",
            "namespaces",
            "nodes",
            "persistentvolumes",
        ],
    ),
    ("admissionregistration.k8s.io", &["*"]),
    ("apiextensions.k8s.io", &["*"]),
    ("apiregistration.k8s.io", &["*"]),
    ("authentication.k8s.io", &["*"]),
    (
        "authorization.k8s.io",
        &[
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        ],
    ),
    (
        "certificates.k8s.io",
        &["certificatesigningrequests", "clustertrustbundles"],
    ),
    ("flowcontrol.apiserver.k8s.io", &["*"]),
    ("internal.apiserver.k8s.io", &["*"]),
    (
        "networking.k8s.io",
        &["ingressclasses", "ipaddresses", "servicecidrs"],
    ),
    ("node.k8s.io", &["*"]),
    (
        "rbac.authorization.k8s.io",
        &["clusterroles", "clusterrolebindings"],
    ),
    ("resource.k8s.io", &["deviceclasses", "resourceslices"]),
    ("scheduling.k8s.io", &["priorityclasses"]),
    (
        "storage.k8s.io",
        &[
            "csidrivers",
            "csinodes",
            "storageclasses",
            "volumeattachments",
            "volumeattributesclasses",
        ],
    ),
];

/// Returns true if objects of a resource of Kubernetes are in a namespace; of a resource that is not of Kubernetes that is assumed.
pub(super) fn is_in_namespace(object: &Object) -> bool {
    let resource = object.resource.split('/').next().unwrap_or_default();
    let is_here = |(group, resources): &(&str, &[&str])| {
        *group == object.group && resources.iter().any(|one| *one == "*" || *one == resource)
    };
    !WITHOUT_NAMESPACE.iter().any(is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_no_namespace_and_what_is_in_them_has() {
        let is_in = |group: &str, resource: &str| is_in_namespace(&Object::all(group, resource));
        assert!(!is_in("", "nodes") && !is_in("", "nodes/status"));
        assert!(!is_in("node.k8s.io", "runtimeclasses"));
        assert!(is_in("", "services") && is_in("storage.k8s.io", "csistoragecapacities"));
        assert!(is_in("events.k8s.io", "events") && is_in("example.org", "nodes"));
    }
}
