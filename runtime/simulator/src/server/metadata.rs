//! Rules about `metadata` that all kinds share: fields that create and update fill in, and their
//! refusals.

use serde_json::Value;

use super::failure::{Cause, Failure};
use super::kinds::Kind;
use super::names::{self, Names};
use super::object::{self, list, metadata, name, namespace, text};
use super::selectors;

/// No object may carry more bytes of annotations.
const ANNOTATIONS: usize = 256 * 1024;

/// Places the object in the namespace of the request, or refuses it.
pub(crate) fn settle_namespace(object: &mut Value, wanted: &str) -> Result<(), Failure> {
    let found = namespace(object);
    if found == wanted {
        return Ok(());
    }
    if !found.is_empty() && !wanted.is_empty() {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    let namespace = (!wanted.is_empty()).then(|| wanted.into());
    object::set(metadata(object), "namespace", namespace);
    Ok(())
}

/// Owner references are kept once, when they are equal in full.
pub(crate) fn dedup_owners(object: &mut Value) {
    let owners = metadata(object).get_mut("ownerReferences");
    if let Some(owners) = owners.and_then(Value::as_array_mut) {
        let mut kept: Vec<Value> = Vec::new();
        for owner in owners.drain(..) {
            if !kept.contains(&owner) {
                kept.push(owner);
            }
        }
        *owners = kept;
    }
}

/// Returns the errors of the metadata of a new object.
pub(crate) fn of_new(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut wrong = |field: &str, value: &str, prefix: bool| {
        let refusals = names::refusals(kind.traits.names, value, prefix);
        let path = format!("metadata.{field}");
        causes.extend(Cause::all_invalid(path, &value.into(), refusals));
    };
    let generate = object::meta(object, "generateName");
    if !generate.is_empty() {
        wrong("generateName", generate, true);
    }
    if name(object).is_empty() {
        let detail = "name or generateName is required";
        causes.push(Cause::required("metadata.name", detail));
    } else {
        wrong("name", name(object), false);
    }
    causes.extend(of_namespace(kind, object));
    causes.extend(of_maps(object));
    causes.extend(of_owners(object));
    causes.extend(of_finalizers(object));
    causes
}

/// Returns the errors of the metadata of a changed object.
pub(crate) fn of_changed(kind: &Kind, old: &Value, new: &Value) -> Vec<Cause> {
    let refusals = names::refusals(Names::Path, name(new), false);
    let mut causes = Cause::all_invalid("metadata.name", &name(new).into(), refusals);
    causes.extend(of_namespace(kind, new));
    causes.extend(of_maps(new));
    causes.extend(of_owners(new));
    causes.extend(of_finalizers(new));
    if object::is_deleting(old) {
        let before = object::finalizers(old);
        let mut added = object::finalizers(new);
        added.retain(|finalizer| !before.contains(finalizer));
        added.sort();
        if !added.is_empty() {
            let shown: Vec<String> = added.iter().map(|one| format!("{one:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                shown.join(", ")
            );
            causes.push(Cause::forbidden("metadata.finalizers", &detail));
        }
    }
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let (before, after) = (&old["metadata"][field], &new["metadata"][field]);
        if before != after {
            let path = format!("metadata.{field}");
            causes.push(Cause::invalid(path, after, "field is immutable"));
        }
    }
    causes
}

fn of_namespace(kind: &Kind, object: &Value) -> Vec<Cause> {
    let found = namespace(object);
    let path = "metadata.namespace";
    match (kind.namespaced, found.is_empty()) {
        (true, true) => vec![Cause::required(path, "")],
        (false, false) => vec![Cause::forbidden(path, "not allowed on this type")],
        (true, false) => Cause::all_invalid(path, &found.into(), names::label(found)),
        (false, true) => Vec::new(),
    }
}

fn of_maps(object: &Value) -> Vec<Cause> {
    let metadata = &object["metadata"];
    let mut causes = selectors::of_labels(&metadata["labels"], "metadata.labels");
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        let wrong = names::label_key(&key.to_lowercase());
        let path = "metadata.annotations";
        causes.extend(Cause::all_invalid(path, &key.as_str().into(), wrong));
    }
    if size > ANNOTATIONS {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATIONS));
    }
    causes
}

fn of_owners(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let owners = list(&object["metadata"], "ownerReferences");
    let path = "metadata.ownerReferences";
    let mut controller: Option<String> = None;
    for owner in owners {
        let api_version = text(owner, "apiVersion");
        if api_version.is_empty() || api_version.ends_with('/') {
            let path = format!("{path}.apiVersion");
            causes.push(Cause::invalid(
                path,
                &api_version.into(),
                "version must not be empty",
            ));
        }
        for field in ["kind", "name", "uid"] {
            if text(owner, field).is_empty() {
                let path = format!("{path}.{field}");
                causes.push(Cause::invalid(path, &"".into(), "must not be empty"));
            }
        }
        if owner["controller"] == true {
            let named = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
            match &controller {
                Some(first) => {
                    let detail = format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {named}"
                    );
                    causes.push(Cause::invalid(path, &owners.into(), &detail));
                }
                None => controller = Some(named),
            }
        }
    }
    causes
}

fn of_finalizers(object: &Value) -> Vec<Cause> {
    let finalizers = object::finalizers(object);
    let mut causes = Vec::new();
    for finalizer in &finalizers {
        let (path, wrong) = ("metadata.finalizers", names::qualified(finalizer));
        causes.extend(Cause::all_invalid(path, &finalizer.as_str().into(), wrong));
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid(
            "metadata.finalizers",
            &finalizers.into(),
            detail,
        ));
    }
    causes
}
