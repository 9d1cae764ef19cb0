//! Settled points of a run: the worlds, and every object that was given or written, without values
//! that a server chooses freely. A run on another cluster is compared with them. They are
//! independent of lifecycles and clusters.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

use super::key::WorldsKey;
use lifecycle_runtime::machine::ir::Lifecycle;

/// So much of a difference is shown.
const MOST_SHOWN: usize = 600;

/// Start of the text that reports how long a state lasts. Waiting takes longer on the simulated
/// cluster, where it costs nothing.
const OVERDUE: &str = "\nit has been ";

/// A uid, with hyphens or without.
static UID: LazyLock<Regex> = LazyLock::new(|| {
    let form = r"\b[0-9a-f]{8}(-?)[0-9a-f]{4}(-?)[0-9a-f]{4}(-?)[0-9a-f]{4}(-?)[0-9a-f]{12}\b";
    Regex::new(form).expect("it is a regular expression")
});

/// One settled point of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rest {
    pub(crate) key: WorldsKey,
    objects: BTreeMap<String, Value>,
}

impl Rest {
    /// The worlds and the objects of a run.
    pub(crate) fn new(key: WorldsKey, objects: BTreeMap<String, Value>) -> Self {
        Self {
            key,
            objects: normalised(objects),
        }
    }

    /// How it differs from another one, if it does.
    pub(crate) fn unlike(&self, wanted: &Self, irs: &[&Lifecycle]) -> Option<String> {
        if self == wanted {
            return None;
        }
        if self.key != wanted.key {
            let (is, was) = (self.key.describe(irs), wanted.key.describe(irs));
            return Some(format!(
                "it settles in {is}, but on the simulated cluster in {was}"
            ));
        }
        let text = |objects: &BTreeMap<String, Value>| {
            let fields = objects.iter().map(|(k, v)| (k.clone(), v.clone()));
            Value::Object(fields.collect())
        };
        let (was, is) = (text(&wanted.objects), text(&self.objects));
        let changes = json_patch::diff(&was, &is).0;
        let changes = changes.iter().map(|change| {
            let path = change.path().to_string();
            let shown = |all: &Value| {
                all.pointer(&path)
                    .map_or("nothing".to_owned(), Value::to_string)
            };
            let (is, was) = (shown(&is), shown(&was));
            format!("{path} is {is} and there {was}")
        });
        let text = changes.collect::<Vec<_>>().join("; ");
        Some(text.chars().take(MOST_SHOWN).collect())
    }
}

/// The version of each object, by path.
pub(crate) fn versions(objects: BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let version = |(path, object): (String, Value)| {
        let version = object.pointer("/metadata/resourceVersion");
        let version = version.and_then(Value::as_str).unwrap_or_default();
        (path, version.to_owned())
    };
    objects.into_iter().map(version).collect()
}

/// Names for values that a server chooses, so that references to them can be compared.
#[derive(Default)]
struct Names {
    uids: BTreeMap<String, String>,
    addresses: BTreeMap<String, String>,
    numbers: BTreeMap<i64, String>,
}

impl Names {
    fn from_objects(objects: &BTreeMap<String, Value>) -> Self {
        let mut names = Self::default();
        for (path, object) in objects {
            if let Some(uid) = object.pointer("/metadata/uid").and_then(Value::as_str) {
                let name = format!("uid of {path}");
                names.uids.insert(uid.replace('-', ""), name.clone());
                names.uids.insert(uid.to_owned(), name);
            }
            let address = object.pointer("/spec/clusterIP").and_then(Value::as_str);
            if let Some(address) = address.filter(|text| text.parse::<IpAddr>().is_ok()) {
                let name = format!("address of {path}");
                names.addresses.insert(address.to_owned(), name);
            }
            let ports = object.pointer("/spec/ports").and_then(Value::as_array);
            for (n, port) in ports.into_iter().flatten().enumerate() {
                if let Some(number) = port.get("nodePort").and_then(Value::as_i64) {
                    let name = format!("node port {n} of {path}");
                    names.numbers.insert(number, name);
                }
            }
        }
        names
    }

    /// Replaces uids by names. Uids also occur inside keys and values, some of them without
    /// hyphens.
    fn without_uids(&self, object: &Value) -> Value {
        let text = object.to_string();
        let name = |found: &Captures<'_>| {
            let name = self.uids.get(&found[0]);
            name.map_or_else(|| "the uid of one that is gone".to_owned(), Clone::clone)
        };
        let text = UID.replace_all(&text, name);
        serde_json::from_str(&text).expect("a name of a uid needs no escapes")
    }

    fn rename(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(name) = self.addresses.get(text) {
                    text.clone_from(name);
                } else if text.parse::<Timestamp>().is_ok() {
                    "a time".clone_into(text);
                } else if let Some(at) = text.find(OVERDUE) {
                    text.truncate(at);
                }
            }
            Value::Number(number) => {
                let name = number.as_i64().and_then(|n| self.numbers.get(&n));
                if let Some(name) = name {
                    *value = Value::from(name.clone());
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.rename(field)),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// Returns the objects without freely chosen server values, and without their write counts.
fn normalised(mut objects: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let names = Names::from_objects(&objects);
    for object in objects.values_mut() {
        let generation = object.pointer("/metadata/generation").cloned();
        if let Some(generation) = generation {
            forget_generations(object, &generation);
        }
        if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            meta.remove("resourceVersion");
            meta.remove("generation");
            sort_managers(meta);
        }
        *object = names.without_uids(object);
        names.rename(object);
    }
    objects
}

/// Replaces each `observedGeneration` of the newest generation with a text that is equal on every
/// server.
fn forget_generations(value: &mut Value, newest: &Value) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                if key == "observedGeneration" && field == newest {
                    *field = Value::from("the newest");
                } else {
                    forget_generations(field, newest);
                }
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|i| forget_generations(i, newest));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Sorts the managers. They are listed in the order of their writes, which may differ between two
/// runs.
fn sort_managers(meta: &mut Map<String, Value>) {
    let managers = meta.get_mut("managedFields").and_then(Value::as_array_mut);
    let Some(managers) = managers else {
        return;
    };
    managers.sort_by_key(|entry| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
        (text("manager"), text("operation"), text("subresource"))
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn service(uid: &str, address: &str, port: u16, version: &str) -> BTreeMap<String, Value> {
        let service = json!({
            "metadata": { "uid": uid, "resourceVersion": version, "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "clusterIP": address, "ports": [{ "port": 80, "nodePort": port }] },
        });
        let reports = json!({
            "metadata": { "ownerReferences": [{ "uid": uid }] },
            "spec": { (format!("mnt.{}", uid.replace('-', ""))): "a" },
            "status": { "address": address, "port": port, "observedGeneration": 3 },
        });
        [("a".to_owned(), service), ("b".to_owned(), reports)].into()
    }

    const ONE: &str = "4a2b5c1e-0000-4000-8000-0123456789ab";
    const OTHER: &str = "4a2b5c1e-1111-4000-8000-0123456789ab";

    #[test]
    fn what_a_server_chooses_makes_no_difference() {
        let one = normalised(service(ONE, "10.96.0.1", 30001, "17"));
        let other = normalised(service(OTHER, "10.96.7.1", 31234, "4711"));
        assert_eq!(one, other);
    }

    #[test]
    fn what_refers_to_another_choice_makes_one() {
        let one = normalised(service(ONE, "10.96.0.1", 30001, "17"));
        let mut wrong = service(ONE, "10.96.0.1", 30001, "17");
        wrong.get_mut("b").unwrap()["status"]["port"] = json!(30002);
        assert_ne!(one, normalised(wrong));
        let mut old = service(ONE, "10.96.0.1", 30001, "17");
        old.get_mut("a").unwrap()["status"] = json!({ "observedGeneration": 2 });
        assert_ne!(one, normalised(old));
    }
}
