//! Entries of `metadata.managedFields`: which are ours, and what their keys mean.

use serde_json::{Map, Value};

use super::same;

/// The `fieldsV1` of one entry, or a part of it.
pub(super) type ManagerFields<'a> = &'a Map<String, Value>;

/// The entries of an object that count as ours.
#[derive(Clone, Debug, Default)]
pub struct Ours<'a> {
    /// What we applied under our manager; an apply replaces it as a whole.
    pub applied: Option<ManagerFields<'a>>,
    /// What stays there whatever we apply: operation `Update`, or another manager of ours.
    pub stuck: Vec<ManagerFields<'a>>,
    /// What others have, whatever they wrote it through.
    pub others: Vec<ManagerFields<'a>>,
}

impl<'a> Ours<'a> {
    /// Finds them by manager and, for statuses, by subresource; `replaced` are managers whose fields we take over.
    pub fn of(live: &'a Value, manager: &str, replaced: &[String], subresource: &str) -> Self {
        let mut ours = Self::default();
        for entry in entries(live) {
            let Some(fields) = entry.get("fieldsV1").and_then(Value::as_object) else {
                continue;
            };
            match whose(entry, manager, replaced, subresource) {
                Whose::Applied => ours.applied = Some(fields),
                Whose::Stuck => ours.stuck.push(fields),
                Whose::Others => ours.others.push(fields),
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

pub(super) enum Whose {
    Applied,
    Stuck,
    Others,
}

pub(super) fn whose(entry: &Value, manager: &str, replaced: &[String], subresource: &str) -> Whose {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let (by, operation) = (text("manager"), text("operation"));
    let ours = by == manager || replaced.iter().any(|r| r == by);
    match (ours && text("subresource") == subresource, by == manager) {
        (false, _) => Whose::Others,
        (true, true) if operation == "Apply" => Whose::Applied,
        (true, _) => Whose::Stuck,
    }
}

pub(super) fn entries(live: &Value) -> &[Value] {
    live.pointer("/metadata/managedFields")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// What every entry of an object says.
pub(super) fn all(live: &Value) -> impl Iterator<Item = ManagerFields<'_>> {
    let entries = entries(live).iter();
    entries.filter_map(|entry| entry.get("fieldsV1")?.as_object())
}

/// What others own of an object itself, with their names.
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
        !is_status(entry) && matches!(whose(entry, manager, replaced, ""), Whose::Others)
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
pub(super) fn within<'a>(ours: &[ManagerFields<'a>], name: &str) -> Vec<ManagerFields<'a>> {
    ours.iter()
        .filter_map(|o| o.get(name)?.as_object())
        .collect()
}

/// A value of a set, if it is among them.
pub(super) fn value_among(list: &Value, value: &Value) -> Option<Value> {
    list.as_array()?.iter().find(|v| same(v, value)).cloned()
}
