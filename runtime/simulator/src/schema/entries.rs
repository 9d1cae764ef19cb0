//! `metadata.managedFields` as a map from managers to their owned fields: decoded, encoded, sorted,
//! capped.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::field_set::FieldSet;

/// More entries of updates than this are merged into one.
const MOST_UPDATERS: usize = 10;

const OLD_UPDATES: &str = "ancient-changes";

/// One entry: a manager, its kind of write, and its owned fields.
#[derive(Clone, Debug)]
pub(super) struct ManagedEntry {
    pub(super) manager: String,
    pub(super) applied: bool,
    pub(super) api_version: String,
    pub(super) subresource: String,
    pub(super) time: Option<String>,
    pub(super) fields: FieldSet,
}

impl ManagedEntry {
    /// Returns the key that identifies a manager. It is the same text as in the real server,
    /// because it decides orders.
    pub(super) fn key(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |name: &str, value: &str| {
            if !value.is_empty() {
                parts.push(format!("\"{name}\":{}", Value::from(value)));
            }
        };
        part("manager", &self.manager);
        part("operation", self.operation());
        if !self.applied {
            part("apiVersion", &self.api_version);
        }
        part("subresource", &self.subresource);
        format!("{{{}}}", parts.join(","))
    }

    pub(super) fn operation(&self) -> &'static str {
        if self.applied { "Apply" } else { "Update" }
    }

    /// The manager as conflicts name it.
    pub(super) fn describe(&self) -> String {
        let mut text = format!("{:?}", self.manager);
        if !self.subresource.is_empty() {
            text += &format!(" with subresource {:?}", self.subresource);
        }
        if !self.applied {
            text += &format!(" using {}", self.api_version);
        }
        text
    }

    fn decode(value: &Value) -> Result<Self, String> {
        let text = |name: &str| {
            value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let applied = match text("operation").as_str() {
            "Apply" => true,
            "Update" => false,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        if text("fieldsType") != "FieldsV1" {
            return Err("invalid fieldsType in managed fields entry".to_owned());
        }
        let fields = match value.get("fieldsV1") {
            None | Some(Value::Null) => FieldSet::default(),
            Some(fields) => FieldSet::decode(fields)?,
        };
        Ok(Self {
            manager: text("manager"),
            applied,
            api_version: text("apiVersion"),
            subresource: text("subresource"),
            time: Some(text("time")).filter(|time| !time.is_empty()),
            fields,
        })
    }

    fn encode(&self) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                out.insert(name.to_owned(), Value::from(value));
            }
        };
        put("manager", &self.manager);
        put("operation", self.operation());
        put("apiVersion", &self.api_version);
        put("time", self.time.as_deref().unwrap_or_default());
        put("subresource", &self.subresource);
        put("fieldsType", "FieldsV1");
        out.insert("fieldsV1".to_owned(), self.fields.encode());
        Value::Object(out)
    }
}

/// All entries by their keys.
pub(super) type Entries = BTreeMap<String, ManagedEntry>;

/// Decodes `metadata.managedFields` of an object.
///
/// # Errors
/// An entry is malformed.
pub(super) fn decode(object: Option<&Value>) -> Result<Entries, String> {
    let list = object.and_then(|object| object.pointer("/metadata/managedFields"));
    let mut entries = Entries::new();
    for value in list.and_then(Value::as_array).into_iter().flatten() {
        let entry = ManagedEntry::decode(value)?;
        entries.insert(entry.key(), entry);
    }
    Ok(entries)
}

/// Returns true if the client requests a reset of the tracking: with an empty list, or with one
/// empty entry.
pub(super) fn is_reset(object: &Value) -> bool {
    let list = object
        .pointer("/metadata/managedFields")
        .and_then(Value::as_array);
    list.is_some_and(|list| list.is_empty() || *list == [json!({})])
}

/// Writes entries into an object, sorted as the real server sorts them; none removes the field.
pub(super) fn encode(object: &mut Value, entries: &Entries) {
    let mut sorted: Vec<&ManagedEntry> = entries.values().collect();
    sorted.sort_by(|left, right| {
        let rank = |entry: &ManagedEntry| (entry.operation(), seconds(entry.time.as_deref()));
        rank(left)
            .cmp(&rank(right))
            .then_with(|| left.manager.cmp(&right.manager))
            .then_with(|| left.api_version.cmp(&right.api_version))
            .then_with(|| left.subresource.cmp(&right.subresource))
    });
    set(
        object,
        sorted.into_iter().map(ManagedEntry::encode).collect(),
    );
}

/// Removes `metadata.managedFields`.
pub(super) fn clear(object: &mut Value) {
    set(object, Vec::new());
}

fn set(object: &mut Value, list: Vec<Value>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    if list.is_empty() {
        metadata.remove("managedFields");
    } else {
        metadata.insert("managedFields".to_owned(), Value::Array(list));
    }
}

fn seconds(time: Option<&str>) -> i64 {
    let parsed = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
    parsed.map(jiff::Timestamp::as_second).unwrap_or_default()
}

/// Merges the oldest entries of updates until there are few enough.
pub(super) fn cap(entries: &mut Entries) {
    let mut updaters: Vec<String> = entries
        .iter()
        .filter(|(_, entry)| !entry.applied)
        .map(|(key, _)| key.clone())
        .collect();
    let mut left = updaters.len();
    updaters.sort_by_key(|key| (seconds(entries[key].time.as_deref()), key.clone()));
    let mut first_of: BTreeMap<String, String> = BTreeMap::new();
    for key in updaters {
        if left <= MOST_UPDATERS {
            break;
        }
        let version = entries[&key].api_version.clone();
        let Some(first) = first_of.get(&version) else {
            first_of.insert(version, key);
            continue;
        };
        let mut bucket = ManagedEntry {
            manager: OLD_UPDATES.to_owned(),
            applied: false,
            api_version: version.clone(),
            subresource: String::new(),
            time: None,
            fields: FieldSet::default(),
        };
        let bucket_key = bucket.key();
        let old = entries
            .remove(&bucket_key)
            .or_else(|| entries.remove(first));
        let Some(merged) = entries.remove(&key) else {
            continue;
        };
        let old = old.map(|old| old.fields).unwrap_or_default();
        bucket.fields = merged.fields.union(&old);
        bucket.time = merged.time;
        entries.insert(bucket_key, bucket);
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(manager: &str, applied: bool, time: &str) -> ManagedEntry {
        ManagedEntry {
            manager: manager.to_owned(),
            applied,
            api_version: "v1".to_owned(),
            subresource: String::new(),
            time: Some(time.to_owned()),
            fields: FieldSet::from_paths(&[&["data", manager]]),
        }
    }

    #[test]
    fn entries_are_sorted_by_operation_time_and_name() {
        let all = [
            entry("b", false, "2026-01-01T00:00:00Z"),
            entry("a", false, "2026-01-01T00:00:01Z"),
            entry("z", true, "2026-01-01T00:00:09Z"),
        ];
        let entries = all.into_iter().map(|entry| (entry.key(), entry)).collect();
        let mut object = json!({"metadata": {}});
        encode(&mut object, &entries);
        let list = object["metadata"]["managedFields"].as_array().unwrap();
        let managers: Vec<&str> = list
            .iter()
            .map(|entry| entry["manager"].as_str().unwrap())
            .collect();
        assert_eq!(managers, ["z", "b", "a"]);
        let again = decode(Some(&object)).unwrap();
        assert_eq!(again.len(), 3);
    }

    #[test]
    fn the_oldest_updates_become_one_entry() {
        let mut entries = Entries::new();
        for second in 0..12 {
            let entry = entry(
                &format!("m{second:02}"),
                false,
                &format!("2026-01-01T00:00:{second:02}Z"),
            );
            entries.insert(entry.key(), entry);
        }
        cap(&mut entries);
        assert_eq!(entries.len(), MOST_UPDATERS);
        let old = entries
            .values()
            .find(|entry| entry.manager == OLD_UPDATES)
            .unwrap();
        assert_eq!(old.fields.paths().len(), 3);
        assert_eq!(old.time.as_deref(), Some("2026-01-01T00:00:02Z"));
    }

    #[test]
    fn an_empty_list_or_one_empty_entry_begins_anew() {
        assert!(is_reset(&json!({"metadata": {"managedFields": []}})));
        assert!(is_reset(&json!({"metadata": {"managedFields": [{}]}})));
        assert!(!is_reset(&json!({"metadata": {}})));
    }
}
