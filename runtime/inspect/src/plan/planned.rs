//! Output of a plan: as text for people, or as one JSON object for programs.

use serde::Serialize;
use serde_json::Value;

use crate::plan::missing::Missing;
use crate::text::object_name;

/// Changes that an operator would make to a cluster.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// Objects that would be written, in the order of their first write.
    pub changes: Vec<Change>,
    /// Changes that end processes.
    pub restarts: Vec<Restart>,
    /// Objects of its lifecycles that would not be as desired after these writes. Their next step
    /// depends on the cluster.
    pub waiting: Vec<ObjectState>,
    /// Number of changes outside the requested namespace, which are not listed.
    pub elsewhere: usize,
    /// Number of objects that its lifecycles manage.
    pub objects: usize,
    /// Queries and calls that a plan does not make, so that their consequences are unknown.
    pub unasked: Vec<String>,
    /// Kinds that the operator reads and the cluster lacks.
    pub missing: Vec<Missing>,
    /// True if the operator did not settle in time, so that more changes may follow.
    pub unfinished: bool,
}

/// Change to one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Action on the object.
    pub action: Action,
    /// Its group; empty of the core group.
    pub group: String,
    /// As objects name it.
    pub kind: String,
    /// Its namespace; nothing of a cluster-scoped one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Field managers of the writes.
    pub managers: Vec<String>,
    /// Fields that differ afterwards. For a new object, the requested fields.
    pub fields: Vec<Field>,
    /// Why the copy refused the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Answer of the live API server to the first write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
}

/// Action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Action {
    /// It is not there yet.
    Create,
    /// The object exists already.
    Change,
    /// It goes.
    Delete,
    /// Deletion is requested, and the object remains until a finalizer of another owner is removed.
    Release,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// As in `spec.ports[name=http].port`.
    pub path: String,
    /// Current value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// Value after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// Answer of the live API server to a dry-run write, which it does not persist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// It would take it.
    Accepts,
    /// It would refuse it: why.
    Refuses(String),
}

/// Change that ends processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// `Deployment ns/name`.
    pub object: String,
    /// Effect of the change, in words.
    pub what: String,
}

/// An object of a lifecycle that is not as wanted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectState {
    /// `Listener ns/name`.
    pub object: String,
    /// Its state.
    pub state: String,
    /// Explanation from its status.
    pub why: String,
}

impl Planned {
    /// Returns true if nothing would be written in any namespace.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.elsewhere == 0
    }
}

impl Change {
    /// `Service ns/name`.
    pub fn object(&self) -> String {
        object_name(&self.kind, self.namespace.as_deref(), &self.name)
    }
}
