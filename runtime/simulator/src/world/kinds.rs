//! The kinds that the world knows: a table of those that are built in, and those that definitions add.

use kube::core::ApiResource;
use serde_json::Value;

use super::object::{Object, text};

/// A kind of objects, in order of its place in the table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
}

/// Kind, plural, and whether the kind is namespaced.
type Row = (&'static str, &'static str, bool);

/// Every kind that an API server has before any definition, by group and version.
const BUILT_IN: [(&str, &str, &[Row]); 14] = [
    (
        "",
        "v1",
        &[
            ("Namespace", "namespaces", false),
            ("Node", "nodes", false),
            ("PersistentVolume", "persistentvolumes", false),
            ("ConfigMap", "configmaps", true),
            ("Endpoints", "endpoints", true),
            ("Event", "events", true),
            ("LimitRange", "limitranges", true),
            ("PersistentVolumeClaim", "persistentvolumeclaims", true),
            ("Pod", "pods", true),
            ("PodTemplate", "podtemplates", true),
            ("ReplicationController", "replicationcontrollers", true),
            ("ResourceQuota", "resourcequotas", true),
            ("Secret", "secrets", true),
            ("Service", "services", true),
            ("ServiceAccount", "serviceaccounts", true),
        ],
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        &[
            (
                "MutatingAdmissionPolicy",
                "mutatingadmissionpolicies",
                false,
            ),
            (
                "MutatingAdmissionPolicyBinding",
                "mutatingadmissionpolicybindings",
                false,
            ),
            (
                "MutatingWebhookConfiguration",
                "mutatingwebhookconfigurations",
                false,
            ),
            (
                "ValidatingAdmissionPolicy",
                "validatingadmissionpolicies",
                false,
            ),
            (
                "ValidatingAdmissionPolicyBinding",
                "validatingadmissionpolicybindings",
                false,
            ),
            (
                "ValidatingWebhookConfiguration",
                "validatingwebhookconfigurations",
                false,
            ),
        ],
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        &[(
            "CustomResourceDefinition",
            "customresourcedefinitions",
            false,
        )],
    ),
    (
        "apps",
        "v1",
        &[
            ("ControllerRevision", "controllerrevisions", true),
            ("DaemonSet", "daemonsets", true),
            ("Deployment", "deployments", true),
            ("ReplicaSet", "replicasets", true),
            ("StatefulSet", "statefulsets", true),
        ],
    ),
    (
        "autoscaling",
        "v2",
        &[("HorizontalPodAutoscaler", "horizontalpodautoscalers", true)],
    ),
    (
        "batch",
        "v1",
        &[("CronJob", "cronjobs", true), ("Job", "jobs", true)],
    ),
    ("coordination.k8s.io", "v1", &[("Lease", "leases", true)]),
    (
        "discovery.k8s.io",
        "v1",
        &[("EndpointSlice", "endpointslices", true)],
    ),
    (
        "networking.k8s.io",
        "v1",
        &[
            ("Ingress", "ingresses", true),
            ("IngressClass", "ingressclasses", false),
            ("NetworkPolicy", "networkpolicies", true),
        ],
    ),
    (
        "node.k8s.io",
        "v1",
        &[("RuntimeClass", "runtimeclasses", false)],
    ),
    (
        "policy",
        "v1",
        &[("PodDisruptionBudget", "poddisruptionbudgets", true)],
    ),
    (
        "rbac.authorization.k8s.io",
        "v1",
        &[
            ("ClusterRole", "clusterroles", false),
            ("ClusterRoleBinding", "clusterrolebindings", false),
            ("Role", "roles", true),
            ("RoleBinding", "rolebindings", true),
        ],
    ),
    (
        "scheduling.k8s.io",
        "v1",
        &[("PriorityClass", "priorityclasses", false)],
    ),
    (
        "storage.k8s.io",
        "v1",
        &[
            ("CSIDriver", "csidrivers", false),
            ("CSINode", "csinodes", false),
            ("CSIStorageCapacity", "csistoragecapacities", true),
            ("StorageClass", "storageclasses", false),
            ("VolumeAttachment", "volumeattachments", false),
        ],
    ),
];

fn known() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str, bool)> {
    let groups = BUILT_IN.into_iter();
    groups.flat_map(|(group, version, rows)| {
        let rows = rows.iter();
        rows.map(move |(kind, plural, namespaced)| (group, version, *kind, *plural, *namespaced))
    })
}

impl Kind {
    /// All that are built in.
    pub(super) fn built_in() -> impl Iterator<Item = Self> {
        known().map(Self::from)
    }

    /// One that is built in.
    pub(super) fn from_name(kind: &str) -> Self {
        let found = known().find(|(_, _, k, _, _)| *k == kind);
        Self::from(found.expect("the kind is in the table"))
    }

    /// Returns the kind that a definition adds once it is served, in its stored version.
    pub(super) fn defined(definition: &Value) -> Option<Self> {
        let conditions = definition.pointer("/status/conditions")?.as_array()?;
        let is_served = |c: &&Value| c["type"] == "Established" && c["status"] == "True";
        conditions.iter().find(is_served)?;
        let versions = definition.pointer("/spec/versions")?.as_array()?;
        let version = versions.iter().find(|v| v["storage"] == true)?;
        Some(Self {
            group: text(definition, "/spec/group")?,
            version: text(version, "/name")?,
            kind: text(definition, "/spec/names/kind")?,
            plural: text(definition, "/spec/names/plural")?,
            namespaced: text(definition, "/spec/scope")? == "Namespaced",
        })
    }

    pub(super) fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(super) fn resource(&self) -> ApiResource {
        ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version: self.api_version(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }

    /// The path of all objects, in one namespace or everywhere.
    pub(super) fn path(&self, namespace: Option<&str>) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// A new object of this kind.
    pub(super) fn object(&self, key: &ObjectKey) -> Object {
        let mut meta = serde_json::json!({ "name": key.name });
        if let Some(namespace) = &key.namespace {
            meta["namespace"] = Value::from(namespace.as_str());
        }
        serde_json::json!({ "apiVersion": self.api_version(), "kind": self.kind, "metadata": meta })
    }
}

impl From<(&str, &str, &str, &str, bool)> for Kind {
    fn from((group, version, kind, plural, namespaced): (&str, &str, &str, &str, bool)) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced,
        }
    }
}

/// Kind, namespace and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectKey {
    pub(super) kind: Kind,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl ObjectKey {
    pub(super) fn new(kind: Kind, namespace: Option<&str>, name: &str) -> Self {
        Self {
            namespace: namespace.filter(|_| kind.namespaced).map(str::to_owned),
            name: name.to_owned(),
            kind,
        }
    }

    /// One of a kind that is built in, beside this one.
    pub(super) fn sibling(&self, kind: &str, name: &str) -> Self {
        Self::new(Kind::from_name(kind), self.namespace.as_deref(), name)
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.kind == kind && known().any(|b| b.2 == kind && b.0 == self.kind.group)
    }

    pub(super) fn collection(&self) -> String {
        self.kind.path(self.namespace.as_deref())
    }

    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Kind;
    use crate::server::builtin;

    #[test]
    fn the_world_knows_every_kind_that_the_server_stores() {
        let served = builtin::kinds();
        let stored = served.all().filter(|kind| !kind.virtual_only);
        // The newer group shows the same events.
        let stored = stored.filter(|kind| kind.group != "events.k8s.io");
        let stored: BTreeSet<Kind> = stored
            .map(|kind| Kind {
                group: kind.group.clone(),
                version: kind.versions[0].name.clone(),
                kind: kind.kind.clone(),
                plural: kind.plural.clone(),
                namespaced: kind.namespaced,
            })
            .collect();
        assert_eq!(Kind::built_in().collect::<BTreeSet<_>>(), stored);
    }
}
