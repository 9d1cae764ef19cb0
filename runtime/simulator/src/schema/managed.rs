//! Ownership of fields: server-side apply, and the bookkeeping after every other kind of write.
//! Ported from structured-merge-diff and from the field managers of the API machinery; knows no
//! store and no request.

use serde_json::{Value, json};

use super::entries::{self, Entries, ManagedEntry};
use super::field_set::FieldSet;
use super::merging::{self, Comparison};
use super::node::{Arena, Id};
use super::paths;
use super::typed::{self, Duplicates};
use super::{Cause, Refusal, Schema};

/// Fields that no manager ever owns.
const NEVER_OWNED: [&[&str]; 12] = [
    &["apiVersion"],
    &["kind"],
    &["metadata"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "creationTimestamp"],
    &["metadata", "selfLink"],
    &["metadata", "uid"],
    &["metadata", "clusterName"],
    &["metadata", "generation"],
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
];

/// Identity of the writer.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The field manager; for writes other than applies the name of the program is its default.
    pub manager: &'a str,
    /// The subresource that is written, such as `status`.
    pub subresource: Option<&'a str>,
    /// Group and version of the request, such as `apps/v1`.
    pub api_version: &'a str,
    /// The time of the request, as Kubernetes writes times.
    pub time: &'a str,
    /// Fields that this endpoint does not write, with all below them: `status` for an object that has a subresource
    /// for it, `spec` for that subresource (`metadata` as well for custom resources).
    pub reset: &'a [&'a [&'a str]],
}

/// Applies a configuration: the merged object with its `managedFields`. Nothing else of it is filled, neither defaults nor `uid`.
///
/// Applies a configuration. A result equal to the live object, including its entries, means that
/// nothing must be written.
///
/// # Errors
/// Returns an error if other managers own desired fields and the apply is not forced. Also returns
/// one if the configuration does not fit the schema (500, no reason).
pub fn apply(
    schema: &Schema,
    live: Option<&Value>,
    wanted: &Value,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Value, Refusal> {
    let types = Types::from_schema(schema);
    if wanted
        .pointer("/metadata/managedFields")
        .is_some_and(|list| !list.is_null())
    {
        return Err(Refusal::bad_request("metadata.managedFields must be nil"));
    }
    types.check(wanted, Duplicates::Refused).map_err(|text| {
        Refusal::internal(format!(
            "failed to create typed patch object ({}): {text}",
            described(wanted)
        ))
    })?;
    let empty = types.empty_like(wanted);
    let mut there = live.unwrap_or(&empty).clone();
    let mut managers = entries::decode(live)
        .map_err(|error| Refusal::internal(format!("failed to decode managed fields: {error}")))?;
    entries::clear(&mut there);
    types.check(&there, Duplicates::Allowed).map_err(|text| {
        Refusal::internal(format!(
            "failed to create typed live object ({}): {text}",
            described(&there)
        ))
    })?;
    if managers.is_empty() {
        let before = Writer {
            manager: "before-first-apply",
            ..*writer
        };
        types.track(&mut managers, &empty, &there, &before);
    }
    let own = ManagedEntry {
        manager: writer.manager.to_owned(),
        applied: true,
        api_version: writer.api_version.to_owned(),
        subresource: writer.subresource.unwrap_or_default().to_owned(),
        time: None,
        fields: FieldSet::default(),
    };
    let forced = force
        || (writer.manager == "kubectl" && types.may_take(&there, &managers, wanted, &own, writer));
    let (merged, mut managers) =
        types.applied(&there, managers, wanted, own.clone(), writer, forced)?;
    strip(&mut managers, &own.key());
    let mut object = if typed::equal(&there, &merged) {
        there
    } else {
        if let Some(entry) = managers.get_mut(&own.key()) {
            entry.time = Some(writer.time.to_owned());
        }
        let mut merged = merged;
        if writer.manager == "kubectl" {
            note_applied(&mut merged, wanted);
        }
        merged
    };
    entries::encode(&mut object, &managers);
    Ok(object)
}

/// Records field ownership after a create (`live` is none), an update, or a patch that is not an
/// apply. `new` is the decoded and defaulted object, before the endpoint restores the fields that
/// it does not write.
pub fn update(schema: &Schema, live: Option<&Value>, new: &mut Value, writer: &Writer<'_>) {
    let types = Types::from_schema(schema);
    let from_live = || entries::decode(live).unwrap_or_default();
    let mut managers = if writer.subresource.is_some() {
        from_live()
    } else if entries::is_reset(new) {
        Entries::new()
    } else {
        match entries::decode(Some(new)) {
            Ok(managers) if !managers.is_empty() => managers,
            Ok(_) | Err(_) => from_live(),
        }
    };
    entries::clear(new);
    if managers.is_empty() && live.is_some() {
        return;
    }
    let empty = types.empty_like(new);
    let mut there = live.unwrap_or(&empty).clone();
    entries::clear(&mut there);
    let fits = |object: &Value| types.check(object, Duplicates::Allowed).is_ok();
    if !fits(&there) || !fits(new) {
        return;
    }
    types.track(&mut managers, &there, new, writer);
    entries::cap(&mut managers);
    entries::encode(new, &managers);
}

/// Takes the entries of the live object where the new one differs from it in their times alone, so that such a write is none.
pub fn keep_times(live: &Value, new: &mut Value) {
    let timeless = |object: &Value| {
        let mut object = object.clone();
        let list = object
            .pointer_mut("/metadata/managedFields")
            .and_then(Value::as_array_mut);
        for entry in list.into_iter().flatten() {
            if let Some(entry) = entry.as_object_mut() {
                entry.remove("time");
            }
        }
        object
    };
    if timeless(live) == timeless(new) {
        new.clone_from(live);
    }
}

/// Annotation in which client-side `kubectl apply` keeps its last applied object for the next time.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Keeps that note up to date when `kubectl` goes over to this side, so that it may go back.
fn note_applied(object: &mut Value, wanted: &Value) {
    let note = object
        .pointer_mut("/metadata/annotations")
        .and_then(|annotations| annotations.get_mut(LAST_APPLIED));
    let Some(note) = note.filter(|note| note.as_str().is_some_and(|text| !text.is_empty())) else {
        return;
    };
    let mut wanted = wanted.clone();
    let annotations = wanted.pointer_mut("/metadata/annotations");
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    *note = format!("{wanted}\n").into();
}

/// An object as messages of the field managers name it: `default/a; /v1, Kind=ConfigMap`.
fn described(object: &Value) -> String {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let api_version = text("/apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    format!(
        "{}/{}; {group}/{version}, Kind={}",
        text("/metadata/namespace"),
        text("/metadata/name"),
        text("/kind"),
    )
}

fn strip(managers: &mut Entries, key: &str) {
    if let Some(entry) = managers.get_mut(key) {
        entry.fields = entry.fields.difference(&FieldSet::from_paths(&NEVER_OWNED));
        if entry.fields.is_empty() {
            managers.remove(key);
        }
    }
}

/// Conflicts by the key of the other manager.
type Conflicts = Vec<(String, FieldSet)>;

struct Types<'a> {
    arena: &'a Arena,
    root: Id,
    is_builtin: bool,
}

impl<'a> Types<'a> {
    fn from_schema(schema: &'a Schema) -> Self {
        Self {
            arena: &schema.arena,
            root: schema.root,
            is_builtin: schema.custom.is_none(),
        }
    }

    /// Returns an object of the kind with no field set. For built-in kinds, it has the fields that
    /// their Go types write even then.
    fn empty_like(&self, object: &Value) -> Value {
        let mut empty = json!({});
        if self.is_builtin {
            empty = self.zero(self.root);
        }
        empty["apiVersion"] = object["apiVersion"].clone();
        empty["kind"] = object["kind"].clone();
        empty["metadata"] = json!({});
        empty
    }

    /// Structures have an empty object for their default; a required field without one is null.
    fn zero(&self, id: Id) -> Value {
        let mut out = serde_json::Map::new();
        let Some(map) = &self.arena.node(id).map else {
            return Value::Object(out);
        };
        for (name, id) in &map.fields {
            let node = self.arena.node(*id);
            match &node.default {
                Some(Value::Object(fields)) if fields.is_empty() && node.map.is_some() => {
                    out.insert(name.clone(), self.zero(*id));
                }
                Some(value) if map.required.contains(name) => {
                    out.insert(name.clone(), value.clone());
                }
                None if map.required.contains(name) => {
                    out.insert(name.clone(), Value::Null);
                }
                Some(_) | None => {}
            }
        }
        Value::Object(out)
    }

    fn check(&self, object: &Value, duplicates: Duplicates) -> Result<(), String> {
        let problems = typed::problems(self.arena, self.root, object, duplicates);
        problems.ok().map_err(|problems| problems.text())
    }

    /// Gives the writer ownership of its changes, and removes it from all others.
    fn track(&self, managers: &mut Entries, there: &Value, new: &Value, writer: &Writer<'_>) {
        let changes = self.changes(there, new, writer);
        for entry in managers.values_mut() {
            let taken = changes
                .modified
                .union(&changes.added)
                .union(&changes.removed);
            entry.fields = entry.fields.difference(&taken);
        }
        managers.retain(|_, entry| !entry.fields.is_empty());
        let fields = changes.modified.union(&changes.added);
        let fields = fields.difference(&FieldSet::from_paths(&NEVER_OWNED));
        if fields.is_empty() {
            return;
        }
        let mut entry = ManagedEntry {
            manager: match writer.manager {
                "" => "unknown".to_owned(),
                manager => manager.to_owned(),
            },
            applied: false,
            api_version: writer.api_version.to_owned(),
            subresource: writer.subresource.unwrap_or_default().to_owned(),
            time: Some(writer.time.to_owned()),
            fields,
        };
        let key = entry.key();
        if let Some(before) = managers.get(&key) {
            entry.fields = entry.fields.union(&before.fields);
        }
        managers.insert(key, entry);
    }

    fn changes(&self, there: &Value, new: &Value, writer: &Writer<'_>) -> Comparison {
        let found = merging::compare(self.arena, self.root, there, new);
        let reset = FieldSet::from_paths(writer.reset);
        Comparison {
            removed: found.removed.difference_with_all_below(&reset),
            modified: found.modified.difference_with_all_below(&reset),
            added: found.added.difference_with_all_below(&reset),
        }
    }

    /// Returns the merged object and its field ownership.
    fn applied(
        &self,
        there: &Value,
        mut managers: Entries,
        wanted: &Value,
        mut own: ManagedEntry,
        writer: &Writer<'_>,
        force: bool,
    ) -> Result<(Value, Entries), Refusal> {
        let (merged, last) = self.merged(there, &mut managers, wanted, &mut own, writer)?;
        let merged = self.pruned(merged, &managers, last.as_ref());
        let changes = self.changes(there, &merged, writer);
        let conflicts = conflicts(&managers, &own.key(), &changes);
        if !force && !conflicts.is_empty() {
            return Err(conflict(&managers, &conflicts));
        }
        for (key, entry) in &mut managers {
            if *key != own.key() {
                let taken = changes
                    .modified
                    .union(&changes.added)
                    .union(&changes.removed);
                entry.fields = entry.fields.difference(&taken);
            }
        }
        managers.retain(|_, entry| !entry.fields.is_empty());
        Ok((merged, managers))
    }

    fn merged(
        &self,
        there: &Value,
        managers: &mut Entries,
        wanted: &Value,
        own: &mut ManagedEntry,
        writer: &Writer<'_>,
    ) -> Result<(Value, Option<FieldSet>), Refusal> {
        let merged = merging::merge(self.arena, self.root, Some(there), Some(wanted))
            .map_err(|error| Refusal::internal(format!("failed to merge config: {error}")))?
            .unwrap_or(Value::Null);
        let set = typed::paths_of(self.arena, self.root, wanted);
        own.fields = set.difference_with_all_below(&FieldSet::from_paths(writer.reset));
        let last = managers.remove(&own.key());
        own.time = last.as_ref().and_then(|last| last.time.clone());
        managers.insert(own.key(), own.clone());
        let last = last
            .map(|last| last.fields)
            .filter(|fields| !fields.is_empty());
        Ok((merged, last))
    }

    /// Removes fields that the manager applied last but no longer applies. Fields that others own,
    /// also in part, remain.
    fn pruned(&self, merged: Value, managers: &Entries, last: Option<&FieldSet>) -> Value {
        let Some(last) = last else { return merged };
        let named = |set: &FieldSet| set.with_named_fields(self.arena, Some(self.root));
        let paths = |object: &Value| named(&typed::paths_of(self.arena, self.root, object));
        let last = named(last);
        let all = paths(&merged);
        let pruned = merging::remove(self.arena, self.root, &merged, &last);
        let owned = managers
            .values()
            .fold(FieldSet::default(), |all, entry| all.union(&entry.fields));
        let kept = paths(&pruned).union(&named(&owned));
        let pruned = merging::remove(self.arena, self.root, &merged, &all.difference(&kept));
        let gone = all.difference(&paths(&pruned)).intersection(&last);
        merging::remove(self.arena, self.root, &merged, &gone)
    }

    /// Returns true if client-side `kubectl apply` had set all fields that conflict with an apply
    /// by `kubectl`.
    fn may_take(
        &self,
        there: &Value,
        managers: &Entries,
        wanted: &Value,
        own: &ManagedEntry,
        writer: &Writer<'_>,
    ) -> bool {
        let last = there
            .pointer("/metadata/annotations")
            .and_then(|annotations| annotations.get(LAST_APPLIED))
            .and_then(Value::as_str)
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(last) = last.filter(|last| last["apiVersion"] == writer.api_version) else {
            return false;
        };
        if self.check(&last, Duplicates::Refused).is_err() {
            return false;
        }
        let changed = merging::compare(self.arena, self.root, &last, there);
        let allowed = typed::paths_of(self.arena, self.root, &last)
            .difference(&changed.modified)
            .difference(&changed.added)
            .difference(&changed.removed);
        let mut managers = managers.clone();
        let mut own = own.clone();
        let Ok((merged, last)) = self.merged(there, &mut managers, wanted, &mut own, writer) else {
            return false;
        };
        let merged = self.pruned(merged, &managers, last.as_ref());
        let changes = self.changes(there, &merged, writer);
        let found = conflicts(&managers, &own.key(), &changes);
        found
            .iter()
            .all(|(_, set)| set.difference(&allowed).is_empty())
    }
}

fn conflicts(managers: &Entries, own: &str, changes: &Comparison) -> Conflicts {
    let taken = changes.modified.union(&changes.added);
    let others = managers.iter().filter(|(key, _)| *key != own);
    others
        .map(|(key, entry)| (key.clone(), entry.fields.intersection(&taken)))
        .filter(|(_, set)| !set.is_empty())
        .collect()
}

/// The 409 of the real server, with a cause for each path.
fn conflict(managers: &Entries, conflicts: &Conflicts) -> Refusal {
    let mut causes = Vec::new();
    let mut lines = Vec::new();
    for (key, set) in conflicts {
        let shown = managers[key].describe();
        lines.push(format!("conflicts with {shown}:"));
        for path in set.paths() {
            let path = paths::show(&path);
            lines.push(format!("- {path}"));
            causes.push(Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: format!("conflict with {shown}"),
                field: path,
            });
        }
    }
    let message = match causes.as_slice() {
        [only] => format!(
            "Apply failed with 1 conflict: {}: {}",
            only.message, only.field
        ),
        causes => format!(
            "Apply failed with {} conflicts: {}",
            causes.len(),
            lines.join("\n")
        ),
    };
    Refusal {
        code: 409,
        reason: "Conflict",
        message,
        causes,
    }
}

#[cfg(test)]
#[path = "managed_tests.rs"]
mod tests;
