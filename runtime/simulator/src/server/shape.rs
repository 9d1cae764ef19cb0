//! Interface between the server and the schemas of its kinds: pruning, defaults, validation,
//! managed fields, apply, strategic merge.

use std::sync::Arc;

use serde_json::Value;

use super::call::Call;
use super::defaults;
use super::duplicates;
use super::failure::{Cause, Failure};
use super::object;
use super::state::State;
use crate::schema::managed::{self, Writer};
use crate::schema::{Schema, strategic_merge};

/// The most bytes of one write to the storage of a real server.
const MOST_STORED: usize = 1536 * 1024;

/// Kind of a write, as managed fields distinguish it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Write {
    /// A POST, a PUT or a patch.
    Plain,
    /// An apply, which has done the managed fields already.
    Apply,
}

/// Returns an object of a request without unknown fields and with defaults. Also returns warnings.
pub(crate) fn decode(call: &Call<'_>, object: Value) -> Result<(Value, Vec<String>), Failure> {
    if let Some(why) = mismatch(call, &object) {
        return Err(undecodable(call, &why));
    }
    clean(call, object).map_err(|why| undecodable(call, &why))
}

/// Cleans an object like `decode`, if it fits its type.
///
/// # Errors
/// Fails with the description of the unknown fields, if the request treats unknown fields as
/// errors.
pub(crate) fn clean(call: &Call<'_>, mut object: Value) -> Result<(Value, Vec<String>), String> {
    let unknown = schema(call).map(|schema| schema.prune(&mut object));
    let warnings = judge(call, &unknown.unwrap_or_default())?;
    default(call, &mut object);
    Ok((object, warnings))
}

fn undecodable(call: &Call<'_>, why: &str) -> Failure {
    let (kind, version) = (&call.kind.kind, &call.version.name);
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

/// Why an object cannot be of its built-in kind.
pub(crate) fn mismatch(call: &Call<'_>, object: &Value) -> Option<String> {
    schema(call)?.mismatch(object)
}

/// Returns the error of `mismatch`, in the words for the result of a strategic merge patch.
pub(crate) fn unrestorable(call: &Call<'_>, object: &Value) -> Option<String> {
    schema(call)?.unrestorable(object)
}

/// Restores a new custom resource as storage returns it. A field dropped from the request, such as
/// the status, gets its default again, which no manager owns.
pub(crate) fn read_back(call: &Call<'_>, object: &mut Value) {
    if let (true, Some(schema)) = (call.kind.custom, &call.version.schema) {
        schema.default(object);
    }
}

/// Fills defaults, those of schemas and those of built-in kinds.
fn default(call: &Call<'_>, object: &mut Value) {
    if let Some(schema) = schema(call) {
        schema.default(object);
    }
    defaults::default(&call.kind, object);
}

/// Warns of unknown or repeated fields, or refuses them if the request demands it.
fn judge(call: &Call<'_>, unknown: &[String]) -> Result<Vec<String>, String> {
    // The result of a patch has each field once.
    let is_whole = ["POST", "PUT"].contains(&call.asked.method.as_str());
    let mut messages = match (is_whole, call.kind.custom) {
        (true, false) => duplicates::field_warnings(call.asked.body, unknown),
        // The body of a custom kind is checked before its schema is used.
        (true, true) => duplicates::field_warnings(call.asked.body, &[]),
        (false, _) => Vec::new(),
    };
    for said in unknown.iter().map(|path| duplicates::unknown(path)) {
        if !messages.contains(&said) {
            messages.push(said);
        }
    }
    match call.asked.query.text("fieldValidation") {
        "Ignore" => Ok(Vec::new()),
        "Strict" if !messages.is_empty() => {
            let all = messages.join(", ");
            Err(format!("strict decoding error: {all}"))
        }
        _ => Ok(messages),
    }
}

/// Refuses a custom object that is too large for the storage of a real server. Objects of built-in
/// kinds are stored in another form, which is shorter.
pub(crate) fn check_size(call: &Call<'_>, before: usize, object: &Value) -> Result<(), Failure> {
    let may_be = call.kind.custom && call.asked.body.len() + before > MOST_STORED / 2;
    if may_be && object.to_string().len() > MOST_STORED {
        return Err(Failure::unforeseen("etcdserver: request is too large"));
    }
    Ok(())
}

/// Returns the violations of the schema.
pub(crate) fn validate(call: &Call<'_>, old: Option<&Value>, new: &Value) -> Vec<Cause> {
    let Some(schema) = schema(call).filter(|_| call.kind.custom) else {
        return Vec::new();
    };
    let old = old.map(|old| typed(call, old));
    let causes = schema.validate(old.as_ref(), &typed(call, new));
    causes.into_iter().map(Cause::from).collect()
}

/// Updates the managed fields. `new` is the decoded object, before any field is restored. An apply
/// has already updated them.
pub(crate) fn track(
    state: &State,
    call: &Call<'_>,
    old: Option<&Value>,
    new: &mut Value,
    write: Write,
) {
    let Some(schema) = schema(call).filter(|_| !matches!(write, Write::Apply)) else {
        return;
    };
    let now = state.now();
    let old = old.map(|old| typed(call, old));
    *new = typed(call, new);
    with_writer(call, &now, |writer| {
        managed::update(&schema, old.as_ref(), new, writer);
    });
}

/// The object that an apply makes of the live one.
pub(crate) fn apply(
    state: &State,
    call: &Call<'_>,
    live: Option<&Value>,
    wanted: &Value,
    force: bool,
) -> Result<Value, Failure> {
    let Some(schema) = schema(call) else {
        return Err(Failure::unforeseen("apply is not supported for this kind"));
    };
    let now = state.now();
    let live = live.map(|live| typed(call, live));
    let applied = with_writer(call, &now, |writer| {
        managed::apply(&schema, live.as_ref(), wanted, writer, force)
    });
    let mut merged = applied.map_err(Failure::from)?;
    if !call.kind.custom {
        schema.prune(&mut merged);
    }
    default(call, &mut merged);
    // The object is checked against the version and uid that the request names, or else against
    // the stored ones.
    for field in ["resourceVersion", "uid"] {
        let named = wanted["metadata"].get(field);
        let stored = live.as_ref().and_then(|live| live["metadata"].get(field));
        object::set(
            object::metadata(&mut merged),
            field,
            named.or(stored).cloned(),
        );
    }
    Ok(merged)
}

/// An object with its type, which stored ones do not carry.
fn typed(call: &Call<'_>, object: &Value) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = call.view.api_version.as_str().into();
    object["kind"] = call.kind.kind.as_str().into();
    object
}

fn schema(call: &Call<'_>) -> Option<Arc<Schema>> {
    call.version.schema.clone()
}

fn with_writer<T>(call: &Call<'_>, time: &str, then: impl FnOnce(&Writer<'_>) -> T) -> T {
    let subresource = call.target.subresource.as_str();
    let reset: &[&[&str]] = match (subresource, call.kind.custom) {
        ("", _) if call.version.has("status") => &[&["status"]],
        ("status", true) => &[&["metadata"], &["spec"]],
        ("status", false) => &[&["spec"]],
        _ => &[],
    };
    then(&Writer {
        manager: call.asked.manager(),
        subresource: (!subresource.is_empty()).then_some(subresource),
        api_version: &call.view.api_version,
        time,
        reset,
    })
}

/// The object that a strategic merge patch makes.
pub(crate) fn strategic(call: &Call<'_>, live: &Value, patch: &Value) -> Result<Value, Failure> {
    let Some(schema) = schema(call) else {
        return Err(Failure::unforeseen(
            "strategic merge patches are not supported for this kind",
        ));
    };
    strategic_merge(&schema, live, patch).map_err(Failure::from)
}

/// An applied object: JSON, which is YAML too.
pub(crate) fn yaml(_call: &Call<'_>, body: &[u8]) -> Result<Value, Failure> {
    let wanted: Value = serde_json::from_slice(body)
        .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?;
    if wanted.is_object() {
        Ok(wanted)
    } else {
        Err(Failure::bad_request("error decoding YAML: it is no object"))
    }
}
