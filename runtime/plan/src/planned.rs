//! What is told: as text for people, or as one JSON object for programs.

use serde::Serialize;
use serde_json::Value;

use crate::missing::Missing;

/// What an operator would do to a cluster.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// Objects that would be written, in the order in which they are first written.
    pub changes: Vec<Change>,
    /// What of that ends processes.
    pub restarts: Vec<Restart>,
    /// Objects of its lifecycles that would not be as wanted once that is written: what comes next follows from what the cluster does.
    pub waiting: Vec<Standing>,
    /// How many changes are not told here, because they are outside of the namespace that was asked for.
    pub elsewhere: usize,
    /// How many objects its lifecycles look after.
    pub objects: usize,
    /// What is not asked or done from here, so that what follows from it is not known.
    pub unasked: Vec<String>,
    /// Kinds that it looks at, and that the cluster does not have.
    pub missing: Vec<Missing>,
    /// It did not come to rest in time: more may follow.
    pub unfinished: bool,
}

/// What becomes of one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// What is done to it.
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
    /// Who is named as manager of the fields.
    pub managers: Vec<String>,
    /// Fields that differ afterwards; of a new object those that are asked for.
    pub fields: Vec<Field>,
    /// Why the copy refused the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What the live API server says of the first write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Action {
    /// It is not there yet.
    Create,
    /// It is there already.
    Change,
    /// It goes.
    Delete,
    /// It is asked to go, and stays while somebody's finalizer holds it.
    Release,
}

/// One field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// As in `spec.ports[name=http].port`.
    pub path: String,
    /// What is there now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// What would be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

/// What the live API server answers to a write that it is asked not to keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Server {
    /// It would take it.
    Accepts,
    /// It would refuse it: why.
    Refuses(String),
}

/// What ends processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// `Deployment ns/name`.
    pub object: String,
    /// What happens, in words.
    pub what: String,
}

/// An object of a lifecycle that is not as wanted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// `Listener ns/name`.
    pub object: String,
    /// Its state.
    pub state: String,
    /// What its status says of it.
    pub why: String,
}

impl Planned {
    /// Whether nothing would be written, in no namespace.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.elsewhere == 0
    }
}

impl Change {
    /// `Service ns/name`.
    pub fn object(&self) -> String {
        named(&self.kind, self.namespace.as_deref(), &self.name)
    }
}

/// `Service ns/name`; of a cluster-scoped object `Namespace name`.
pub(crate) fn named(kind: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{kind} {namespace}/{name}"),
        None => format!("{kind} {name}"),
    }
}
