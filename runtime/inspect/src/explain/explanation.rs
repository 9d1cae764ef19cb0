//! Explanation of an object, as data: the shape of the JSON, documented in `docs/explain.md`. The
//! text for people is made from it alone.

use serde::Serialize;

/// Why an object is where it is.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The object.
    pub object: Object,
    /// States in which the object may be. Several if the deciding facts are not known here.
    pub states: Vec<State>,
    /// Time since the object is not Ready or is being deleted, as far as it is known.
    pub since: Option<Since>,
    /// Message if the object exceeds the time limit of its state.
    pub overdue: Option<String>,
    /// Actors that must act, and their actions.
    pub who: Vec<Act>,
    /// The facts that decided.
    pub why: Vec<Fact>,
    /// Events that make the operator observe the object again.
    pub wakes: Vec<String>,
    /// The declared way to the goal.
    pub way: Route,
    /// Obstacles to a deletion.
    pub deletion: Deletion,
    /// Status that the operator has reported.
    pub status: Status,
    /// Objects that may not be read, or are not served.
    pub unread: Vec<Unread>,
    /// Inputs that are not queried or compared from here.
    pub unasked: Vec<String>,
    /// Owners, and lifecycles that it waits for.
    pub related: Vec<Related>,
}

/// Reference to an object.
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

/// State in which the object may be.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// As declared, or `Deleting`, `Refused`, `Unclear`.
    pub name: String,
    /// `Pending`, `Ready`, `Error`, `Suspended` or `Ignored`.
    pub phase: String,
    /// Region whose state it is. States of regions are true at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Documentation of the state in its declaration.
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

/// Actor that acts next.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub enum Actor {
    /// A person.
    Person,
    /// The operator of the lifecycle.
    Operator,
    /// Another lifecycle.
    Lifecycle,
    /// The cluster, or a system outside it.
    Cluster,
    /// Another controller.
    OtherController,
    /// No one needs to act.
    Nobody,
}

/// Action, and its actor.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// Actor of the action.
    pub who: Actor,
    /// Action.
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
    /// Sentence that the fact reports for its value, or its documentation in the declaration.
    pub sentence: String,
    /// True if only the operator knows the value, so that this one is derived from the status.
    pub from_status: bool,
    /// The objects that decided it.
    pub from: Vec<LookedAt>,
}

/// Objects that were observed for an input.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LookedAt {
    /// Its name in the declaration.
    pub input: String,
    /// Lookup that found the objects.
    pub by: String,
    /// Objects that exist.
    pub found: Vec<String>,
    /// Number of further objects found.
    pub more: usize,
    /// Objects that were looked up by name and do not exist.
    pub missing: Vec<String>,
}

/// The declared way to the goal.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Route {
    /// Event that has to happen first.
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
    /// Seconds after which the wait is reported as overdue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue_after: Option<u64>,
}

/// Obstacles to a deletion.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Deletion {
    /// True if the object is being deleted.
    pub requested: bool,
    /// Finalizers on the object.
    pub finalizers: Vec<Finalizer>,
    /// Resources that need cleanup.
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
    /// Owner of the finalizer.
    pub whose: String,
    /// True if the finalizer is the operator's.
    pub ours: bool,
}

/// Content of the status.
#[derive(Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// True if the status matches the observation.
    pub agrees: bool,
    /// It is about an older generation of the object.
    pub is_behind: bool,
    /// Unmet conditions, one per line.
    pub says: Vec<String>,
}

/// Objects that may not be read.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// Input that needs the right.
    pub input: String,
    /// `get` or `list`.
    pub verb: String,
    /// As in a rule of RBAC: `services`, `sites.skupper.io`.
    pub resource: String,
    /// Namespace of the read, if any.
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
    /// Related object.
    pub object: Object,
    /// Explanation of its state. Omitted if the object is explained elsewhere or does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Box<Explanation>>,
    /// Reason why there is no explanation.
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
    /// Returns the explanation without its dependence on the time of the query.
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
