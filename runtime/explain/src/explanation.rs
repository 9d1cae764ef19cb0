//! What is told of an object, as data: the shape of the JSON, documented in `docs/explain.md`. The text for people is made of nothing else.

use serde::Serialize;

/// Why an object is where it is.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The object.
    pub object: Object,
    /// Where it is; several where what decides is not known from here.
    pub states: Vec<State>,
    /// Since when it is not Ready, or being deleted, as far as anything tells.
    pub since: Option<Since>,
    /// It has taken longer than its state says.
    pub overdue: Option<String>,
    /// Who must act, and what is to be done.
    pub who: Vec<Act>,
    /// The facts that decided.
    pub why: Vec<Fact>,
    /// What makes the operator look again.
    pub wakes: Vec<String>,
    /// The declared way to the goal.
    pub way: Way,
    /// What blocks a deletion.
    pub deletion: Deletion,
    /// What the operator has told in the status.
    pub status: Status,
    /// What may not be read, or is not served.
    pub unread: Vec<Unread>,
    /// What is not asked or compared from here.
    pub unasked: Vec<String>,
    /// Owners, and lifecycles that it waits for.
    pub related: Vec<Related>,
}

/// Which object.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    /// API group; empty of the core group.
    pub group: String,
    /// `Listener`.
    pub kind: String,
    /// `listeners.skupper.io`, as kubectl takes it.
    pub resource: String,
    /// Its namespace, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// A state in which it may be.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// As declared, or `Deleting`, `Refused`, `Unclear`.
    pub name: String,
    /// `Pending`, `Ready`, `Error`, `Suspended` or `Ignored`.
    pub phase: String,
    /// What its declaration says of it.
    pub doc: String,
}

/// A time.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Since {
    /// RFC 3339.
    pub at: String,
    /// How long ago.
    pub seconds: i64,
}

/// Who acts next.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub enum Who {
    /// A person.
    Person,
    /// The operator of the lifecycle.
    Operator,
    /// Another lifecycle.
    Lifecycle,
    /// The cluster, or something outside it.
    Cluster,
    /// Another controller.
    OtherController,
    /// Nobody.
    Nobody,
}

/// What is to be done, by whom.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// By whom.
    pub who: Who,
    /// What.
    pub what: String,
}

/// A fact that decided.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Its name in the declaration.
    pub name: String,
    /// Its answer; several where that is not known from here.
    pub values: Vec<String>,
    /// What it says of that, or what its declaration says of it.
    pub sentence: String,
    /// Only the operator knows it: this is what its status leaves.
    pub from_status: bool,
    /// The objects that decided it.
    pub from: Vec<LookedAt>,
}

/// What was looked at for an input.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LookedAt {
    /// Its name in the declaration.
    pub input: String,
    /// What it was found by.
    pub by: String,
    /// What is there.
    pub found: Vec<String>,
    /// How much more is there.
    pub more: usize,
    /// What was looked for by name and is not there.
    pub missing: Vec<String>,
}

/// The declared way to the goal.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Way {
    /// What has to happen before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The states from there on, the goal last.
    pub steps: Vec<Step>,
}

/// A state on the way.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Its name.
    pub state: String,
    /// After so many seconds it is told that it takes too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue_after: Option<u64>,
}

/// What blocks a deletion.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Deletion {
    /// Whether it is being deleted.
    pub requested: bool,
    /// What is on the object.
    pub finalizers: Vec<Finalizer>,
    /// What must be given back.
    pub held: Vec<String>,
    /// The step of the teardown that is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why it does not go on, or goes although something is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A finalizer.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Finalizer {
    /// As it stands on the object.
    pub name: String,
    /// Whose it is.
    pub whose: String,
    /// Whether it is the operator's.
    pub ours: bool,
}

/// What the status tells.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether it tells of what was found.
    pub agrees: bool,
    /// It is about an older generation of the object.
    pub is_behind: bool,
    /// What is not met, a line each.
    pub says: Vec<String>,
}

/// What may not be read.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// For which input.
    pub input: String,
    /// `get` or `list`.
    pub verb: String,
    /// As in a rule of RBAC: `services`, `sites.skupper.io`.
    pub resource: String,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Of one object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why.
    pub why: String,
}

/// Another object that matters.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// How it matters.
    pub how: String,
    /// Which one.
    pub object: Object,
    /// Why it is where it is; left out where it is told elsewhere already, or not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Box<Explanation>>,
    /// Why there is no explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} `{namespace}/{}`", self.kind, self.name),
            None => write!(f, "{} `{}`", self.kind, self.name),
        }
    }
}

impl Explanation {
    /// What it says, whenever it is asked.
    pub(crate) fn timeless(&self) -> Self {
        let mut same = self.clone();
        if let Some(since) = &mut same.since {
            since.seconds = 0;
        }
        for related in &mut same.related {
            if let Some(inside) = &mut related.explanation {
                **inside = inside.timeless();
            }
        }
        same
    }
}
