//! Write that an effect would make: the desired fields as they are sent, and the identity by which
//! the write is remembered.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Map, Value, json};

use super::Name;
use crate::lifecycle::kept_by::KEPT_BY;
use crate::lifecycle::{KeptBy, Kind, Stored};
use crate::machine::compare::{Comparison, Ours, compare, fingerprint, pruned, under_our_paths};

/// One write that an effect could make now.
#[derive(Clone)]
pub struct Plan {
    /// Input of its object, or the member of a group. `None` for the object of the lifecycle, or
    /// for no object of the cluster.
    pub input: Option<usize>,
    pub name: Name,
    pub job: Job,
    /// The desired fields; of a call or a deletion nothing.
    pub body: Value,
    pub(crate) live: Option<Arc<Stored>>,
    pub(crate) manager: String,
    /// Field managers whose fields are ours as well. Their entries must be merged into ours before
    /// one of these fields can go.
    pub(crate) replaced: Vec<String>,
    /// Lists whose elements are all ours.
    pub(crate) exclusive: &'static [&'static str],
    pub id: WriteId,
    /// Number that stays constant while the sources of the write are unchanged, apart from its own
    /// changes.
    pub(crate) reads: u64,
}

/// How a plan is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// An apply that never touches an existing object.
    Create,
    /// A forced apply to exactly the object that was seen.
    Update,
    /// A forced apply to exactly the version that was seen, for it was built from that.
    Revise,
    /// Takes over entries of managed fields that an apply would not replace.
    Migrate,
    /// A deletion of exactly the version that was seen.
    Delete,
    /// An apply of nothing. It removes our fields and keeps the others.
    Withdraw,
    /// Writes an annotation of exactly the version of the object that was seen.
    Record,
    /// Makes exactly the observed version ours.
    Adopt,
    /// Removes our owner reference from exactly the observed version, even if others also set it.
    Disown,
    /// Removes leftovers of an older version of the lifecycle from exactly the observed version of
    /// the object.
    Tidy,
    /// A mutation outside Kubernetes.
    Call,
}

/// Omits the written content, which may be secret.
impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plan = f.debug_struct("Plan");
        let plan = plan.field("name", &self.name).field("job", &self.job);
        plan.field("id", &self.id).finish_non_exhaustive()
    }
}

impl Plan {
    /// Returns the uid, and the fingerprints of the desired and the live values, if the server did
    /// not keep our fields. A policy may always change them in the same way.
    pub fn altered_fields(&self, object: &Value) -> Option<(String, u64, u64)> {
        let ours = Ours::for_manager(object, &self.manager, &self.replaced, "");
        let uid = object.pointer("/metadata/uid")?.as_str()?.to_owned();
        let live = fingerprint(&under_our_paths(&self.body, object, &ours));
        // No policy causes a surplus. It belongs to an entry that an apply does not replace, and
        // the next reconciliation takes it over.
        let comparison = compare(&self.body, object, &ours);
        let differs = !matches!(comparison, Comparison::Current | Comparison::Surplus { .. });
        differs.then(|| (uid, fingerprint(&self.body), live))
    }
}

/// Identity by which a write is remembered. Refusals and pauses hold for exactly this write.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteId {
    /// Fingerprint of the desired fields.
    pub(crate) desired: u64,
    /// Uid of the object.
    pub(crate) uid: Option<String>,
    /// Version of the object.
    pub(crate) version: Option<String>,
}

impl WriteId {
    pub(super) fn new(desired: &Value, live: Option<&Stored>) -> Self {
        Self {
            desired: fingerprint(desired),
            uid: live.and_then(|l| l.meta.uid.clone()),
            version: live.and_then(|l| l.meta.resource_version.clone()),
        }
    }
}

/// Owner of the objects that we create, as an owner reference.
pub(super) struct Owner<'a> {
    pub(super) kind: &'a Kind,
    pub(super) object: &'a Stored,
    /// It manages the object as well, which one owner at most does.
    pub(super) controller: bool,
    /// True if several owners contribute to the object, possibly beside other writers.
    pub(super) shares: bool,
}

impl Owner<'_> {
    pub(super) fn uid(&self) -> &str {
        self.object.meta.uid.as_deref().unwrap_or_default()
    }

    /// Returns the annotation that marks an object without a reference to this owner as ours.
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

    /// Returns true if an object has this owner. An object with a controller is ours only if this
    /// owner is the controller.
    pub(super) fn owns(&self, object: &Stored) -> bool {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_it = |o: &OwnerReference| o.uid == self.uid();
        let controller = owners.clone().find(|o| o.controller == Some(true));
        match controller {
            Some(controller) if !self.shares => is_it(controller),
            Some(_) | None => !self.controller && owners.any(is_it),
        }
    }

    /// Returns true if an object has an owner of the same name that existed before this one.
    pub(super) fn succeeds(&self, object: &Stored) -> bool {
        let name = self.object.meta.name.as_deref();
        let mut owners = object.meta.owner_references.iter().flatten();
        owners.any(|o| {
            let is_namesake = o.kind == self.kind.kind && Some(o.name.as_str()) == name;
            is_namesake && o.api_version == self.kind.api_version() && o.uid != self.uid()
        })
    }

    /// Returns true if an object still names this owner as its controller, although this owner is a
    /// plain one.
    pub(super) fn controls_no_more(&self, object: &Stored) -> bool {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_plain = !self.controller && !self.shares;
        is_plain && owners.any(|o| o.uid == self.uid() && o.controller == Some(true))
    }
}

/// Metadata fields that the server fills in, or that are handled separately.
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

/// Returns the desired fields as they are sent: pruned, with kind, name and owner, without the
/// fields that only the server writes. A retained object has no owner reference, but an annotation
/// that names its keeper.
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

    /// Returns true if the owner owns an object with these references. Each reference is a uid,
    /// with true if it sets `controller`.
    fn owns(controller: bool, shares: bool, references: &[(&str, bool)]) -> bool {
        let object = stored(json!({ "name": "h", "uid": "ours" }));
        let kind = Kind::for_type::<ConfigMap>();
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
        let kind = Kind::for_type::<ConfigMap>();
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
        let kind = Kind::for_type::<ConfigMap>();
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
