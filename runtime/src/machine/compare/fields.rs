//! Entries of `metadata.managedFields`: the ones that are ours, and the meaning of their keys.

use serde_json::{Map, Value};

use super::same;

/// The `fieldsV1` of one entry, or a part of it.
pub(super) type ManagerFields<'a> = &'a Map<String, Value>;

/// Entries of an object that count as ours.
#[derive(Clone, Debug, Default)]
pub struct Ours<'a> {
    /// Fields that we applied under our manager; an apply replaces them as a whole.
    pub applied: Option<ManagerFields<'a>>,
    /// Fields that remain regardless of our applies: operation `Update`, or another manager of
    /// ours.
    pub stuck: Vec<ManagerFields<'a>>,
    /// Fields that other managers own, regardless of the operation that wrote them.
    pub others: Vec<ManagerFields<'a>>,
}

impl<'a> Ours<'a> {
    /// Finds the entries by manager and, for statuses, by subresource. `replaced` are managers
    /// whose fields we take over.
    pub fn for_manager(
        live: &'a Value,
        manager: &str,
        replaced: &[String],
        subresource: &str,
    ) -> Self {
        let mut ours = Self::default();
        for entry in entries(live) {
            let Some(fields) = entry.get("fieldsV1").and_then(Value::as_object) else {
                continue;
            };
            match entry_owner(entry, manager, replaced, subresource) {
                EntryOwner::Applied => ours.applied = Some(fields),
                EntryOwner::Stuck => ours.stuck.push(fields),
                EntryOwner::Others => ours.others.push(fields),
            }
        }
        ours
    }

    pub(super) fn all(&self) -> impl Iterator<Item = ManagerFields<'a>> + '_ {
        self.applied
            .iter()
            .copied()
            .chain(self.stuck.iter().copied())
    }
}

pub(super) enum EntryOwner {
    Applied,
    Stuck,
    Others,
}

pub(super) fn entry_owner(
    entry: &Value,
    manager: &str,
    replaced: &[String],
    subresource: &str,
) -> EntryOwner {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let (by, operation) = (text("manager"), text("operation"));
    let ours = by == manager || replaced.iter().any(|r| r == by);
    match (ours && text("subresource") == subresource, by == manager) {
        (false, _) => EntryOwner::Others,
        (true, true) if operation == "Apply" => EntryOwner::Applied,
        (true, _) => EntryOwner::Stuck,
    }
}

pub(super) fn entries(live: &Value) -> &[Value] {
    live.pointer("/metadata/managedFields")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Returns the fields of every entry of an object.
pub(super) fn all(live: &Value) -> impl Iterator<Item = ManagerFields<'_>> {
    let entries = entries(live).iter();
    entries.filter_map(|entry| entry.get("fieldsV1")?.as_object())
}

/// Returns the fields that other managers own of an object itself, with their names.
pub(super) fn others<'a>(
    live: &'a Value,
    manager: &'a str,
    replaced: &'a [String],
) -> impl Iterator<Item = (&'a str, ManagerFields<'a>)> {
    let is_status = |entry: &Value| {
        let of = entry.get("subresource").and_then(Value::as_str);
        of.is_some_and(|of| !of.is_empty())
    };
    let theirs = entries(live).iter().filter(move |entry| {
        !is_status(entry)
            && matches!(
                entry_owner(entry, manager, replaced, ""),
                EntryOwner::Others
            )
    });
    theirs.filter_map(|entry| {
        let name = entry.get("manager")?.as_str()?;
        Some((name, entry.get("fieldsV1")?.as_object()?))
    })
}

/// Owned as a whole: an atomic list or map, or a scalar.
pub(super) fn is_leaf(entry: &Map<String, Value>) -> bool {
    entry.is_empty()
}

/// The parts of entries below one name.
pub(super) fn child_entries<'a>(ours: &[ManagerFields<'a>], name: &str) -> Vec<ManagerFields<'a>> {
    ours.iter()
        .filter_map(|o| o.get(name)?.as_object())
        .collect()
}

/// A value of a set, if it is among them.
pub(super) fn value_among(list: &Value, value: &Value) -> Option<Value> {
    list.as_array()?.iter().find(|v| same(v, value)).cloned()
}
