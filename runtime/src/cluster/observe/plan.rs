//! What an effect would write: the desired fields as they are sent, and what the write is remembered by.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Name;
use crate::lifecycle::{Kind, Stored};
use crate::machine::compare::{Ours, Verdict, compare, fingerprint, pruned, under_our_paths};

/// One write that an effect could make now.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: Name,
    pub job: Job,
    /// The desired fields; of a call or a deletion nothing.
    pub body: Value,
    pub(crate) live: Option<Arc<Stored>>,
    pub(crate) manager: String,
    /// Whose fields are ours as well: they must be merged into ours before one of them can go.
    pub(crate) replaced: Vec<String>,
    /// Lists of which every element is ours.
    pub(crate) exclusive: &'static [&'static str],
    pub id: WriteId,
    /// A number that stays the same while nothing changes that this was built from, but for what it writes.
    pub(crate) reads: u64,
}

/// How a plan is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// An apply that never touches an object that is there already.
    Create,
    /// A forced apply to exactly the object that was seen.
    Update,
    /// A forced apply to exactly the version that was seen, for it was built from that.
    Revise,
    /// Makes entries of managed fields ours that an apply would not replace.
    Migrate,
    /// A deletion of exactly the version that was seen.
    Delete,
    /// An apply of nothing: takes our fields away and leaves the rest.
    Withdraw,
    /// Writes an annotation of exactly the version of the object that was seen.
    Record,
    /// A mutation outside Kubernetes.
    Call,
}

impl Plan {
    /// What the server made of our fields, where it did not keep them: a policy may always do the same to them.
    pub fn kept(&self, object: &Value) -> Option<(String, u64, u64)> {
        let ours = Ours::of(object, &self.manager, &self.replaced, "");
        let uid = object.pointer("/metadata/uid")?.as_str()?.to_owned();
        let live = fingerprint(&under_our_paths(&self.body, object, &ours));
        // A surplus is no policy's doing: it stands in an entry that an apply does not replace, and the next pass takes it over.
        let verdict = compare(&self.body, object, &ours);
        matches!(verdict, Verdict::Behind { .. } | Verdict::Taken { .. })
            .then(|| (uid, fingerprint(&self.body), live))
    }
}

/// What a write is remembered by: refusals and pauses hold for exactly this.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteId {
    /// What was wanted.
    pub(crate) desired: u64,
    /// Of which object.
    pub(crate) uid: Option<String>,
    /// In which version.
    pub(crate) version: Option<String>,
}

impl WriteId {
    pub(super) fn of(desired: &Value, live: Option<&Stored>) -> Self {
        Self {
            desired: fingerprint(desired),
            uid: live.and_then(|l| l.meta.uid.clone()),
            version: live.and_then(|l| l.meta.resource_version.clone()),
        }
    }
}

/// The owner of what we make, as an owner reference.
pub(super) struct Owner<'a> {
    pub(super) kind: &'a Kind,
    pub(super) object: &'a Stored,
    /// Exactly one owner answers for an object; several may contribute to it.
    pub(super) controller: bool,
}

impl Owner<'_> {
    pub(super) fn uid(&self) -> &str {
        self.object.meta.uid.as_deref().unwrap_or_default()
    }

    fn reference(&self) -> Value {
        let mut reference = json!({
            "apiVersion": self.kind.api_version(),
            "kind": self.kind.kind,
            "name": self.object.meta.name,
            "uid": self.uid(),
        });
        if self.controller {
            reference["controller"] = json!(true);
            reference["blockOwnerDeletion"] = json!(true);
        }
        reference
    }

    /// Whether an object has this owner.
    pub(super) fn owns(&self, object: &Stored) -> bool {
        let owners = object.meta.owner_references.iter().flatten();
        owners
            .into_iter()
            .any(|o| o.uid == self.uid() && (!self.controller || o.controller == Some(true)))
    }
}

/// What the server fills in or what has a way of its own.
const NOT_OURS: [&str; 8] = [
    "creationTimestamp",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Desired fields as they are sent: pruned, with kind, name and owner, without what only the server writes.
pub(super) fn dressed(built: Value, kind: &Kind, name: &Name, owner: Option<&Owner<'_>>) -> Value {
    let mut body = map(Some(pruned(built)));
    body.remove("status");
    body.insert("apiVersion".to_owned(), json!(kind.api_version()));
    body.insert("kind".to_owned(), json!(kind.kind));
    let mut owners: Vec<Value> = Vec::new();
    let mut meta = map(body.remove("metadata"));
    if let Some(Value::Array(more)) = meta.get("ownerReferences") {
        owners.clone_from(more);
    }
    meta.retain(|key, _| !NOT_OURS.contains(&key.as_str()));
    if let Some(owner) = owner {
        owners.retain(|o| o.get("uid").and_then(Value::as_str) != Some(owner.uid()));
        owners.push(owner.reference());
    }
    if !owners.is_empty() {
        meta.insert("ownerReferences".to_owned(), Value::Array(owners));
    }
    meta.insert("name".to_owned(), json!(name.name));
    if let Some(namespace) = &name.namespace {
        meta.insert("namespace".to_owned(), json!(namespace));
    }
    body.insert("metadata".to_owned(), Value::Object(meta));
    Value::Object(body)
}

fn map(value: Option<Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(map)) => map,
        Some(
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_),
        )
        | None => Map::new(),
    }
}
