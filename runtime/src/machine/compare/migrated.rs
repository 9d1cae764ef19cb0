//! Merges several entries of `metadata.managedFields` into one of ours.

use serde_json::{Map, Value, json};

use super::exclusive::unnamed;
use super::fields::{EntryOwner, entries, entry_owner, is_leaf};

/// Returns the managed fields of an object with all of ours in one entry that an apply replaces. In
/// `exclusive` lists, everything is ours.
pub fn migrated(live: &Value, manager: &str, replaced: &[String], exclusive: &[&str]) -> Value {
    let (mut merged, mut others) = (Map::new(), Vec::new());
    let mut at = None;
    for entry in entries(live) {
        match entry_owner(entry, manager, replaced, "") {
            EntryOwner::Others => {
                let mut entry = entry.clone();
                let fields = entry.get_mut("fieldsV1").and_then(Value::as_object_mut);
                let taken = fields.is_some_and(|fields| taken_over(fields, &mut merged, exclusive));
                if !taken {
                    others.push(entry);
                }
            }
            EntryOwner::Applied | EntryOwner::Stuck => {
                at = at.max(entry.get("time").and_then(Value::as_str));
                if let Some(fields) = entry.get("fieldsV1").and_then(Value::as_object) {
                    merge(&mut merged, fields);
                }
            }
        }
    }
    for path in exclusive {
        let nobodys = unnamed(live, &merged, path);
        if !nobodys.is_empty() {
            merge(&mut merged, &nested(path, nobodys));
        }
    }
    let mut ours = json!({
        "manager": manager,
        "operation": "Apply",
        "apiVersion": live.get("apiVersion"),
        "fieldsType": "FieldsV1",
        "fieldsV1": merged,
    });
    if let Some(at) = at {
        ours["time"] = json!(at);
    }
    others.push(ours);
    Value::Array(others)
}

/// Moves the elements of these lists. Returns true if the entry contained nothing else.
fn taken_over(
    fields: &mut Map<String, Value>,
    merged: &mut Map<String, Value>,
    exclusive: &[&str],
) -> bool {
    let had = !fields.is_empty();
    for path in exclusive {
        if let Some(list) = take(fields, path) {
            merge(merged, &nested(path, list));
        }
    }
    had && fields.is_empty()
}

/// Returns an entry with only this list.
fn nested(path: &str, list: Map<String, Value>) -> Map<String, Value> {
    let around = |inner: Map<String, Value>, part: &str| {
        Map::from_iter([(format!("f:{part}"), Value::Object(inner))])
    };
    path.rsplit('.').fold(list, around)
}

/// Takes the part of an entry that describes a list of elements with keys. Removes that part, and
/// each parent that contained only this list.
fn take(fields: &mut Map<String, Value>, path: &str) -> Option<Map<String, Value>> {
    let (part, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = format!("f:{part}");
    let inner = fields.get_mut(&name)?.as_object_mut()?;
    let taken = if rest.is_empty() {
        // A list that is owned as a whole is no list of elements.
        (!is_leaf(inner)).then(|| std::mem::take(inner))
    } else {
        take(inner, rest)
    }?;
    if inner.keys().all(|key| key == ".") {
        fields.remove(&name);
    }
    Some(taken)
}

fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key).and_then(Value::as_object_mut), value) {
            (Some(inner), Value::Object(more)) => merge(inner, more),
            (Some(_), _) => {}
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}
