//! What an effect would write: the desired fields as they are sent, and what the write is remembered by.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Map, Value, json};

use super::Name;
use crate::lifecycle::kept_by::KEPT_BY;
use crate::lifecycle::{KeptBy, Kind, Stored};
use crate::machine::compare::{Ours, Verdict, compare, fingerprint, pruned, under_our_paths};

/// One write that an effect could make now.
#[derive(Clone)]
pub struct Plan {
    /// The input whose object it is, of a group the member; `None`: it is the object of the lifecycle, or none of the cluster.
    pub input: Option<usize>,
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
    /// Makes exactly the version that was seen ours.
    Adopt,
    /// Takes our owner reference out of exactly the version that was seen, whoever else says it.
    Disown,
    /// Takes off exactly the version of the object that was seen what an older version of the lifecycle left on it.
    Tidy,
    /// A mutation outside Kubernetes.
    Call,
}

/// Without what is written, which may be secret.
impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plan = f.debug_struct("Plan");
        let plan = plan.field("name", &self.name).field("job", &self.job);
        plan.field("id", &self.id).finish_non_exhaustive()
    }
}

impl Plan {
    /// What the server made of our fields, where it did not keep them: a policy may always do the same to them.
    pub fn kept(&self, object: &Value) -> Option<(String, u64, u64)> {
        let ours = Ours::of(object, &self.manager, &self.replaced, "");
        let uid = object.pointer("/metadata/uid")?.as_str()?.to_owned();
        let live = fingerprint(&under_our_paths(&self.body, object, &ours));
        // A surplus is no policy's doing: it stands in an entry that an apply does not replace, and the next pass takes it over.
        let verdict = compare(&self.body, object, &ours);
        let differs = !matches!(verdict, Verdict::Current | Verdict::Surplus { .. });
        differs.then(|| (uid, fingerprint(&self.body), live))
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
    /// It manages the object as well, which one owner at most does.
    pub(super) controller: bool,
    /// Several owners contribute to the object, whoever else has a hand in it.
    pub(super) shares: bool,
}

impl Owner<'_> {
    pub(super) fn uid(&self) -> &str {
        self.object.meta.uid.as_deref().unwrap_or_default()
    }

    /// What says that an object is ours that has no reference to this owner.
    pub(super) fn keeps(&self, adopted: bool) -> KeptBy {
        let meta = &self.object.meta;
        KeptBy {
            api_version: self.kind.api_version(),
            kind: self.kind.kind.clone(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone().unwrap_or_default(),
            uid: self.uid().to_owned(),
            adopted,
        }
    }

    pub(super) fn reference(&self) -> Value {
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

    /// Whether an object has this owner. What has a controller is ours only if that is it.
    pub(super) fn owns(&self, object: &Stored) -> bool {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_it = |o: &OwnerReference| o.uid == self.uid();
        let controller = owners.clone().find(|o| o.controller == Some(true));
        match controller {
            Some(controller) if !self.shares => is_it(controller),
            Some(_) | None => !self.controller && owners.any(is_it),
        }
    }

    /// Whether an object has an owner of the same name that was there before this one.
    pub(super) fn succeeds(&self, object: &Stored) -> bool {
        let name = self.object.meta.name.as_deref();
        let mut owners = object.meta.owner_references.iter().flatten();
        owners.any(|o| {
            let is_namesake = o.kind == self.kind.kind && Some(o.name.as_str()) == name;
            is_namesake && o.api_version == self.kind.api_version() && o.uid != self.uid()
        })
    }

    /// Whether an object still says that it is controlled by this owner, which is a plain one.
    pub(super) fn controls_no_more(&self, object: &Stored) -> bool {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_plain = !self.controller && !self.shares;
        is_plain && owners.any(|o| o.uid == self.uid() && o.controller == Some(true))
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

/// Desired fields as they are sent: pruned, with kind, name and owner, without what only the server writes. What is kept has no owner reference, and says so.
pub(super) fn dressed(
    built: Value,
    kind: &Kind,
    name: &Name,
    (owner, kept): (Option<&Owner<'_>>, Option<&KeptBy>),
) -> Value {
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
        if kept.is_none() {
            owners.push(owner.reference());
        }
    }
    if !owners.is_empty() {
        meta.insert("ownerReferences".to_owned(), Value::Array(owners));
    }
    let mut annotations = map(meta.remove("annotations"));
    annotations.remove(KEPT_BY);
    if let Some(kept) = kept {
        annotations.insert(KEPT_BY.to_owned(), json!(kept.text()));
    }
    if !annotations.is_empty() {
        meta.insert("annotations".to_owned(), Value::Object(annotations));
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

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::lifecycle::Compared;

    fn stored(meta: Value) -> Stored {
        Stored {
            meta: serde_json::from_value(meta).expect("it is metadata"),
            decoded: Err("nobody reads it".to_owned()),
            raw: None,
            before: None,
            unread: None,
            compared: Compared::default(),
        }
    }

    /// Who owns an object by these references, each a uid and whether it says `controller`.
    fn owns(controller: bool, shares: bool, references: &[(&str, bool)]) -> bool {
        let object = stored(json!({ "name": "h", "uid": "ours" }));
        let kind = Kind::of::<ConfigMap>();
        let owner = Owner {
            kind: &kind,
            object: &object,
            controller,
            shares,
        };
        let of = |(uid, controls): &(&str, bool)| {
            let mut reference =
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid });
            if *controls {
                reference["controller"] = json!(true);
            }
            reference
        };
        let references: Vec<Value> = references.iter().map(of).collect();
        owner.owns(&stored(json!({ "ownerReferences": references })))
    }

    #[test]
    fn what_is_ours_has_us_among_its_owners_and_no_other_controller() {
        let controlled = |references: &[(&str, bool)]| owns(true, false, references);
        let dependent = |references: &[(&str, bool)]| owns(false, false, references);
        let shared = |references: &[(&str, bool)]| owns(false, true, references);
        let plain: &[_] = &[("ours", false)];
        assert!(!controlled(plain) && dependent(plain) && shared(plain));
        let by_us: &[_] = &[("other", false), ("ours", true)];
        assert!(controlled(by_us) && dependent(by_us) && shared(by_us));
        let by_other: &[_] = &[("ours", false), ("other", true)];
        assert!(!controlled(by_other) && !dependent(by_other) && shared(by_other));
        for none in [&[][..], &[("other", false)], &[("other", true)]] {
            assert!(!controlled(none) && !dependent(none) && !shared(none));
        }
    }

    #[test]
    fn a_plain_owner_controls_no_more_what_it_controlled() {
        let object = stored(json!({ "name": "h", "uid": "ours" }));
        let kind = Kind::of::<ConfigMap>();
        let check = |(controller, shares): (bool, bool), uid: &str, controls: bool, expected| {
            let owner = Owner {
                kind: &kind,
                object: &object,
                controller,
                shares,
            };
            let reference = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": uid, "controller": controls,
            });
            let live = stored(json!({ "ownerReferences": [reference] }));
            assert_eq!(owner.controls_no_more(&live), expected);
        };
        check((false, false), "ours", true, true);
        check((false, false), "ours", false, false);
        check((false, false), "other", true, false);
        check((true, false), "ours", true, false);
        check((false, true), "ours", true, false);
    }

    #[test]
    fn a_reference_says_that_it_controls_only_where_it_does() {
        let object = stored(json!({ "name": "h", "uid": "ours" }));
        let kind = Kind::of::<ConfigMap>();
        let said = |controller| {
            let owner = Owner {
                kind: &kind,
                object: &object,
                controller,
                shares: false,
            };
            owner.reference()
        };
        let plain = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "h", "uid": "ours" });
        assert_eq!(said(false), plain);
        assert_eq!(said(true)["controller"], true);
        assert_eq!(said(true)["blockOwnerDeletion"], true);
    }
}
