//! Changes of objects: optimistic locking, immutable fields, and updates without a change.

use std::sync::Arc;

use serde_json::Value;

use super::answer::Answer;
use super::call::Call;
use super::create;
use super::failure::{Cause, Failure};
use super::metadata as rules;
use super::nulls;
use super::object::{self, meta, metadata, name, set};
use super::shape::{self, Write};
use super::state::State;
use super::store::{StoreKey, Stored};
use super::{events, services, strategy};
use crate::schema::managed;

/// A PUT.
pub(crate) fn put(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let target = call.target;
    let object = call.body()?;
    call.check_type(&object)?;
    check_name(call, &object)?;
    let (object, warnings) = shape::decode(call, object)?;
    let key = StoreKey::new(call.namespace(), &target.name);
    let Some(live) = state.store.get(&call.kind.store, &key).cloned() else {
        if !call.kind.traits.create_on_update {
            return Err(Failure::not_found(&call.kind, &target.name));
        }
        let mut object = object;
        if !meta(&object, "uid").is_empty() {
            return Err(Failure::conflict(
                &call.kind,
                &target.name,
                &missing(meta(&object, "uid")),
            ));
        }
        metadata(&mut object).remove("resourceVersion");
        call.authorize_create(state)?;
        let made = create::make(state, call, object, Write::Plain)?;
        return Ok(Answer::bytes(201, call.view.object(&made)).warn(warnings));
    };
    let old = call.view.value(&live);
    let (wanted, found) = (meta(&object, "uid"), meta(&old, "uid"));
    if !wanted.is_empty() && wanted != found {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
             UID in precondition: {wanted}, UID in object meta: {found}",
            stored_under(call)
        );
        return Err(Failure::conflict(&call.kind, &target.name, &why));
    }
    let changed = change(state, call, &live, &old, object, Write::Plain)?;
    Ok(Answer::bytes(200, call.view.object(&changed)).warn(warnings))
}

/// The key in the real server's storage, which one of its messages names.
fn stored_under(call: &Call<'_>) -> String {
    let (kind, namespace) = (&call.kind, call.namespace());
    let place = match (kind.custom, kind.plural.as_str()) {
        (true, plural) => format!("{}/{plural}", kind.group),
        (false, "services") => "services/specs".to_owned(),
        (false, "endpoints") => "services/endpoints".to_owned(),
        (false, "nodes") => "minions".to_owned(),
        (false, "ingresses") => "ingress".to_owned(),
        (false, "customresourcedefinitions") => format!("{}/customresourcedefinitions", kind.group),
        (false, plural) => plural.to_owned(),
    };
    let parts = ["/registry", &place, namespace, &call.target.name];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("/")
}

fn missing(uid: &str) -> String {
    format!("Precondition failed: UID in precondition: {uid}, UID in object meta: ")
}

/// The name in the body is the one in the path.
pub(crate) fn check_name(call: &Call<'_>, object: &Value) -> Result<(), Failure> {
    let (found, wanted) = (name(object), &call.target.name);
    if found != wanted {
        return Err(Failure::bad_request(if found.is_empty() {
            format!(
                "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
            )
        } else {
            format!(
                "the name of the object ({found}) does not match the name on the URL ({wanted})"
            )
        }));
    }
    let (found, wanted) = (object::namespace(object), call.namespace());
    if !wanted.is_empty() && !found.is_empty() && found != wanted {
        return Err(Failure::bad_request(format!(
            "the namespace of the object ({found}) does not match the namespace on the request ({wanted})"
        )));
    }
    Ok(())
}

/// Makes `new` of `old`, as far as the rules let it; `old` and `new` are as the caller of this version sees them.
pub(crate) fn change(
    state: &mut State,
    call: &Call<'_>,
    live: &Arc<Stored>,
    old: &Value,
    mut new: Value,
    write: Write,
) -> Result<Arc<Stored>, Failure> {
    let kind = &call.kind;
    check_version(call, live, &mut new)?;
    rules::settle_namespace(&mut new, call.namespace())?;
    rules::dedup_owners(&mut new);
    object::tidy(&mut new, kind.custom);
    shape::track(state, call, Some(old), &mut new, write);
    carry(old, &mut new);
    strategy::prepare_changed(call, old, &mut new);
    // The real server validates twice, once for all kinds and once per kind, and reports all
    // causes.
    let mut causes = rules::of_changed(kind, old, &new);
    causes.extend(causes.clone());
    causes.extend(shape::validate(call, Some(old), &new));
    causes.extend(strategy::validate_changed(call, old, &new));
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, name(&new), &causes));
    }
    if kind.is("", "services") && call.target.subresource.is_empty() {
        services::allocate(state, kind, &mut new, Some(old), call.dry_run)?;
    }
    for field in ["apiVersion", "kind"] {
        new.as_object_mut().map(|map| map.remove(field));
    }
    managed::keep_times(old, &mut new);
    if nulls::are_shown(&kind.store) {
        nulls::forget(&mut new);
    }
    // An unchanged object is not written.
    if new == *old && !leaves(old, &new) {
        return Ok(live.clone());
    }
    if events::is_other_view(kind) {
        new = events::to_store(new);
    }
    let key = live.key.clone();
    if call.dry_run {
        return Ok(Arc::new(Stored::draft(kind, key, new)));
    }
    shape::check_size(call, live.bare().len(), &new)?;
    if leaves(old, &new) {
        // Watchers last see the object with its finalizers. The reply shows it without finalizers,
        // in the previous version.
        strategy::bury(state, kind, &key, live.value());
        return Ok(Arc::new(Stored::draft(kind, key, new)));
    }
    Ok(strategy::store(state, kind, key, new))
}

/// An object that is being deleted goes with its last finalizer.
fn leaves(old: &Value, new: &Value) -> bool {
    object::is_deleting(old)
        && object::finalizers(new).is_empty()
        && object::list(&new["spec"], "finalizers").is_empty()
        && old["metadata"]["deletionGracePeriodSeconds"]
            .as_i64()
            .is_none_or(|seconds| seconds == 0)
}

/// The version that the new object names is the one that is stored; with none, it is taken for the stored one where kinds allow.
fn check_version(call: &Call<'_>, live: &Stored, new: &mut Value) -> Result<(), Failure> {
    let kind = &call.kind;
    let asked = meta(new, "resourceVersion").to_owned();
    let field = "metadata.resourceVersion";
    if asked.is_empty() || asked == "0" {
        if !kind.traits.unconditional {
            let cause = Cause::invalid(field, &0.into(), "must be specified for an update");
            return Err(Failure::invalid_kind(
                &kind.group,
                &kind.plural,
                &live.key.name,
                &[cause],
            ));
        }
        let current = live.revision.to_string().into();
        metadata(new).insert("resourceVersion".to_owned(), current);
        return Ok(());
    }
    let Ok(number) = asked.parse::<u64>() else {
        let detail = format!("strconv.ParseUint: parsing {asked:?}: invalid syntax");
        let cause = Cause::invalid(field, &asked.as_str().into(), &detail);
        return Err(Failure::invalid_kind(
            &kind.group,
            &kind.plural,
            &live.key.name,
            &[cause],
        ));
    };
    if number != live.revision {
        return Err(Failure::modified(kind, &live.key.name));
    }
    Ok(())
}

/// Restores the fields that no request changes.
fn carry(old: &Value, new: &mut Value) {
    let before = &old["metadata"];
    let after = metadata(new);
    set(after, "generation", before.get("generation").cloned());
    set(after, "selfLink", None);
    if !after.get("uid").is_some_and(Value::is_string) {
        set(after, "uid", before.get("uid").cloned());
    }
    set(
        after,
        "creationTimestamp",
        before.get("creationTimestamp").cloned(),
    );
    if let Some(deleted) = before.get("deletionTimestamp") {
        after.insert("deletionTimestamp".to_owned(), deleted.clone());
    }
    if let Some(grace) = before.get("deletionGracePeriodSeconds") {
        after
            .entry("deletionGracePeriodSeconds")
            .or_insert_with(|| grace.clone());
    }
}
