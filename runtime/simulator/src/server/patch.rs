//! Patches: JSON patch, merge patch, strategic merge, and apply. Each makes a new object of the stored one, which is then
//! changed as by a PUT.

use serde_json::Value;

use super::answer::Answer;
use super::call::Call;
use super::create;
use super::failure::Failure;
use super::golang;
use super::object::{meta, metadata};
use super::shape::{self, Write};
use super::state::State;
use super::store::StoreKey;
use super::update::{change, check_name};

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const KNOWN: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    STRATEGIC,
    "application/apply-patch+yaml",
];

/// A PATCH.
pub(crate) fn patch(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let target = call.target;
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
    let key = StoreKey::new(call.namespace(), &target.name);
    let live = state.store.get(&call.kind.store, &key).cloned();
    let live = live.ok_or_else(|| Failure::not_found(&call.kind, &target.name))?;
    let old = call.view.value(&live);
    let mut full = old.clone();
    full["apiVersion"] = call.view.api_version.as_str().into();
    full["kind"] = call.kind.kind.as_str().into();
    let (new, shown, mismatch) = patched(call, kind, full)?;
    let undecodable = |why: String| {
        let cause = super::failure::Cause::invalid("patch", &shown.as_str().into(), &why);
        Failure::invalid_kind("", "", "", &[cause])
    };
    if let Some(why) = mismatch {
        return Err(undecodable(why));
    }
    call.check_type(&new)?;
    check_name(call, &new)?;
    let (new, warnings) = shape::clean(call, new).map_err(undecodable)?;
    let changed = change(state, call, &live, &old, new, Write::Plain)?;
    Ok(Answer::bytes(200, call.view.object(&changed)).warn(warnings))
}

/// Returns the scale of an object after a patch. An apply only sets the replicas that it names.
pub(crate) fn of_scale(call: &Call<'_>, mut scale: Value) -> Result<Value, Failure> {
    let kind = call.asked.content_type.as_str();
    let is_known = KNOWN.contains(&kind) && !(call.kind.custom && kind == STRATEGIC);
    if !is_known {
        let known = KNOWN.into_iter();
        let known = known.filter(|known| !call.kind.custom || *known != STRATEGIC);
        let known: Vec<&str> = known.collect();
        return Err(Failure::unsupported_media_type(&known));
    }
    if kind == KNOWN[3] {
        let wanted = shape::yaml(call, call.asked.body)?;
        json_patch::merge(&mut scale["spec"], &wanted["spec"]);
        return Ok(scale);
    }
    let patch = call.asked.body;
    let patch: Value = serde_json::from_slice(patch)
        .map_err(|error| Failure::bad_request(format!("error decoding patch: {error}")))?;
    match kind {
        "application/json-patch+json" => json_patched(&mut scale, &patch)?,
        _ => json_patch::merge(&mut scale, &patch),
    }
    Ok(scale)
}

/// Returns the patched object, the text that messages show for it, and the reason why it cannot be
/// an object of its kind.
fn patched(
    call: &Call<'_>,
    kind: &str,
    mut object: Value,
) -> Result<(Value, String, Option<String>), Failure> {
    let patch: Value = serde_json::from_slice(call.asked.body).map_err(|error| {
        let why = if error.is_eof() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        };
        Failure::bad_request(match kind {
            STRATEGIC => why,
            _ => format!("error decoding patch: {why}"),
        })
    })?;
    match kind {
        "application/json-patch+json" => json_patched(&mut object, &patch)?,
        "application/merge-patch+json" => {
            let mut patch = patch;
            prune_items(&mut patch, false);
            if !patch.is_object() {
                let why = golang::unmarshal(&patch, golang::OBJECT);
                return Err(Failure::bad_request(format!("error decoding patch: {why}")));
            }
            json_patch::merge(&mut object, &patch);
        }
        _ => {
            if !patch.is_object() {
                let why = golang::unmarshal(&patch, golang::OBJECT);
                return Err(Failure::bad_request(why));
            }
            let new = shape::strategic(call, &object, &patch)?;
            let why = shape::unrestorable(call, &new);
            return Ok((new, golang::format_value(&patch), why));
        }
    }
    let (shown, why) = (object.to_string(), shape::mismatch(call, &object));
    Ok((object, shown, why))
}

fn json_patched(object: &mut Value, patch: &Value) -> Result<(), Failure> {
    let misfit = |value: &Value, wanted: &str| {
        let why = golang::unmarshal(value, wanted);
        Failure::bad_request(format!("error decoding patch: {why}"))
    };
    let operations = patch.as_array();
    for operation in operations.ok_or_else(|| misfit(patch, "[]handlers.jsonPatchOp"))? {
        if !operation.is_object() {
            return Err(misfit(operation, "handlers.jsonPatchOp"));
        }
        let operation = serde_json::from_value(operation.clone());
        let operation = lenient(object, operation.map_err(|_| Failure::unprocessable())?);
        json_patch::patch(object, &[operation]).map_err(|_| Failure::unprocessable())?;
    }
    Ok(())
}

/// Removes nulls within the items of lists, which count as absent. Nulls outside lists remove
/// fields.
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

/// Relaxes a replace operation. The real server accepts a replacement of an absent field if its
/// parent exists.
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
    let key = StoreKey::new(call.namespace(), &call.target.name);
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
    // With a version, an apply only changes an existing object. With version "1", it only creates
    // an absent one.
    metadata(&mut merged).remove("resourceVersion");
    let made = create::make(state, call, merged, Write::Apply)?;
    Ok(Answer::bytes(201, call.view.object(&made)))
}
