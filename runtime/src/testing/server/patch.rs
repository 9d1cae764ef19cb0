//! Patches: JSON patch, merge patch, strategic merge, and apply. Each makes a new object of the stored one, which is then
//! changed as by a PUT.

use serde_json::Value;

use super::answer::Answer;
use super::create;
use super::dispatch::Call;
use super::failure::Failure;
use super::object::{meta, metadata};
use super::shape::{self, Write};
use super::state::State;
use super::store::Key;
use super::subresource;
use super::update::{change, check_name};

const KNOWN: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// A PATCH.
pub(crate) fn patch(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let target = call.target;
    if !["", "status", "finalize"].contains(&target.subresource.as_str()) {
        return subresource::patch(state, call);
    }
    let kind = call.asked.content_type.as_str();
    let custom_strategic = call.kind.custom && kind == KNOWN[2];
    if !KNOWN.contains(&kind) || custom_strategic {
        let known: Vec<&str> = KNOWN
            .into_iter()
            .filter(|known| !call.kind.custom || *known != KNOWN[2])
            .collect();
        return Err(Failure::unsupported_media_type(&known));
    }
    if kind == KNOWN[3] {
        return apply(state, call);
    }
    if call.asked.query.has("force") {
        let cause =
            super::failure::Cause::forbidden("force", "may not be specified for non-apply patch");
        return Err(Failure::invalid_kind(
            "meta.k8s.io",
            "PatchOptions",
            "",
            &[cause],
        ));
    }
    let key = Key::new(call.namespace(), &target.name);
    let live = state.store.get(&call.kind.store, &key).cloned();
    let live = live.ok_or_else(|| Failure::not_found(&call.kind, &target.name))?;
    let old = call.view.value(&live);
    let mut full = old.clone();
    full["apiVersion"] = call.view.api_version.as_str().into();
    full["kind"] = call.kind.kind.as_str().into();
    let new = patched(call, kind, full)?;
    if let Some(why) = shape::mismatch(call, &new) {
        let shown = String::from_utf8_lossy(call.asked.body).into_owned();
        let cause = super::failure::Cause::invalid("patch", &shown.into(), &why);
        return Err(Failure::invalid_kind("", "", "", &[cause]));
    }
    call.check_type(&new)?;
    check_name(call, &new)?;
    let (new, warnings) = shape::decode(call, new)?;
    let changed = change(state, call, &live, &old, new, Write::Plain)?;
    Ok(Answer::bytes(200, call.view.object(&changed)).warn(warnings))
}

fn patched(call: &Call<'_>, kind: &str, mut object: Value) -> Result<Value, Failure> {
    let body = call.asked.body;
    match kind {
        "application/json-patch+json" => {
            let patch: json_patch::Patch = serde_json::from_slice(body)
                .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
            for operation in patch.0 {
                let operation = lenient(&object, operation);
                json_patch::patch(&mut object, &[operation])
                    .map_err(|_| Failure::unprocessable())?;
            }
            Ok(object)
        }
        "application/merge-patch+json" => {
            let mut patch: Value = serde_json::from_slice(body)
                .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
            prune_items(&mut patch, false);
            if !patch.is_object() {
                return Err(Failure::bad_request(
                    "error decoding patch: it is no object",
                ));
            }
            json_patch::merge(&mut object, &patch);
            Ok(object)
        }
        _ => {
            let patch: Value = serde_json::from_slice(body)
                .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
            shape::strategic(call, &object, &patch)
        }
    }
}

/// Nulls in the items of lists are as good as absent; those outside of lists remove.
fn prune_items(value: &mut Value, within_list: bool) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !(within_list && value.is_null()));
            for value in fields.values_mut() {
                prune_items(value, within_list);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune_items(item, true)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The real server lets a field be replaced that is not there, if only what it is in is there.
fn lenient(object: &Value, operation: json_patch::PatchOperation) -> json_patch::PatchOperation {
    let json_patch::PatchOperation::Replace(replace) = &operation else {
        return operation;
    };
    let path = replace.path.as_str();
    let parent = path
        .rsplit_once('/')
        .and_then(|(parent, _)| object.pointer(parent));
    if object.pointer(path).is_some() || !parent.is_some_and(Value::is_object) {
        return operation;
    }
    json_patch::PatchOperation::Add(json_patch::AddOperation {
        path: replace.path.clone(),
        value: replace.value.clone(),
    })
}

/// Server-side apply.
fn apply(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.asked.query.text("fieldManager").is_empty() {
        let cause = super::failure::Cause::required("fieldManager", "is required for apply patch");
        return Err(Failure::invalid_kind(
            "meta.k8s.io",
            "PatchOptions",
            "",
            &[cause],
        ));
    }
    let mut wanted = shape::yaml(call, call.asked.body)?;
    let text = |field: &str| wanted[field].as_str().unwrap_or_default().is_empty();
    if text("apiVersion") || text("kind") {
        return Err(Failure::bad_request(
            "invalid object type: /, Kind=".to_owned(),
        ));
    }
    call.check_type(&wanted)?;
    if meta(&wanted, "name").is_empty() {
        metadata(&mut wanted).insert("name".to_owned(), call.target.name.as_str().into());
    }
    check_name(call, &wanted)?;
    let force = call.asked.query.flag("force");
    let key = Key::new(call.namespace(), &call.target.name);
    let Some(live) = state.store.get(&call.kind.store, &key).cloned() else {
        return apply_new(state, call, &wanted, force);
    };
    let old = call.view.value(&live);
    let merged = shape::apply(state, call, Some(&old), &wanted, force)?;
    let changed = change(state, call, &live, &old, merged, Write::Apply)?;
    Ok(Answer::bytes(200, call.view.object(&changed)))
}

fn apply_new(
    state: &mut State,
    call: &Call<'_>,
    wanted: &Value,
    force: bool,
) -> Result<Answer, Failure> {
    let name = &call.target.name;
    if !call.target.subresource.is_empty() && !call.kind.traits.create_on_update {
        return Err(Failure::not_found(&call.kind, name));
    }
    let uid = meta(wanted, "uid");
    if !uid.is_empty() {
        let why = format!(
            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        );
        return Err(Failure::conflict(&call.kind, name, &why));
    }
    call.authorize_create(state)?;
    let mut merged = shape::apply(state, call, None, wanted, force)?;
    // A version in an apply says: only if this exists; "1" says: only if none does.
    metadata(&mut merged).remove("resourceVersion");
    let made = create::make(state, call, merged, Write::Apply)?;
    Ok(Answer::bytes(201, call.view.object(&made)))
}
