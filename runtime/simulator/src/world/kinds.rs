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

/// Group, version, kind, plural, and whether the kind is namespaced.
const BUILT_IN: [(&str, &str, &str, &str, bool); 21] = [
    ("", "v1", "Namespace", "namespaces", false),
    ("", "v1", "Node", "nodes", false),
    ("", "v1", "PersistentVolume", "persistentvolumes", false),
    ("", "v1", "ConfigMap", "configmaps", true),
    ("", "v1", "Secret", "secrets", true),
    ("", "v1", "ServiceAccount", "serviceaccounts", true),
    ("", "v1", "Service", "services", true),
    ("", "v1", "Pod", "pods", true),
    (
        "",
        "v1",
        "ReplicationController",
        "replicationcontrollers",
        true,
    ),
    (
        "",
        "v1",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        true,
    ),
    ("", "v1", "Event", "events", true),
    ("apps", "v1", "Deployment", "deployments", true),
    ("apps", "v1", "ReplicaSet", "replicasets", true),
    ("apps", "v1", "StatefulSet", "statefulsets", true),
    ("apps", "v1", "DaemonSet", "daemonsets", true),
    ("batch", "v1", "Job", "jobs", true),
    (
        "discovery.k8s.io",
        "v1",
        "EndpointSlice",
        "endpointslices",
        true,
    ),
    ("coordination.k8s.io", "v1", "Lease", "leases", true),
    ("rbac.authorization.k8s.io", "v1", "Role", "roles", true),
    (
        "rbac.authorization.k8s.io",
        "v1",
        "RoleBinding",
        "rolebindings",
        true,
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        false,
    ),
];

/// Those that only volumes need.
const OF_VOLUMES: [(&str, &str, &str, &str, bool); 3] = [
    (
        "storage.k8s.io",
        "v1",
        "StorageClass",
        "storageclasses",
        false,
    ),
    ("storage.k8s.io", "v1", "CSIDriver", "csidrivers", false),
    ("storage.k8s.io", "v1", "CSINode", "csinodes", false),
];

fn known() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str, bool)> {
    BUILT_IN.into_iter().chain(OF_VOLUMES)
}

impl Kind {
    /// All that are built in and needed.
    pub(super) fn built_in(has_volumes: bool) -> impl Iterator<Item = Self> {
        let also = OF_VOLUMES.into_iter().filter(move |_| has_volumes);
        BUILT_IN.into_iter().chain(also).map(Self::from)
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
