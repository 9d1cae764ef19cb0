//! Lists whose elements are all ours, and the elements that others have added. An apply keeps the
//! elements of others, and is always refused if one of them conflicts with ours. We must take over
//! such an element first.

use serde_json::{Map, Value};

use super::fields::{self, ManagerFields, Ours};
use super::members::MemberKeys;
use super::same;

/// Returns the first element of such a list that our apply would keep: `spec.ports[1]`.
pub fn intruder(live: &Value, ours: &Ours<'_>, exclusive: &[&str]) -> Option<String> {
    let all: Vec<_> = fields::all(live).collect();
    not_of(live, exclusive, (&all, ours.applied.as_slice()))
}

/// Returns the first element of such a list that is not ours.
pub fn stranger(live: &Value, ours: &Ours<'_>, exclusive: &[&str]) -> Option<String> {
    let own: Vec<_> = ours.all().collect();
    not_of(live, exclusive, (&ours.others, &own))
}

/// Returns the first element of such a list that some entries name and ours do not. Also returns an
/// unowned element beside elements of ours, because its writer has released it.
fn not_of(
    live: &Value,
    exclusive: &[&str],
    (some, ours): (&[ManagerFields<'_>], &[ManagerFields<'_>]),
) -> Option<String> {
    exclusive.iter().find_map(|path| {
        let list = path
            .split('.')
            .try_fold(live, |value, part| value.get(part))?;
        let names = |entries: &[ManagerFields<'_>]| -> Vec<Named> {
            let entries = entries.iter().copied();
            let named =
                entries.filter_map(|entry| entry_field(entry, path).map(Named::from_fields));
            named.collect()
        };
        let (some, ours) = (names(some), names(ours));
        let has = |named: &[Named], item: &Value| named.iter().any(|named| named.has(item));
        let has_ours = ours.iter().any(|named| !named.is_empty());
        let all = names(&fields::all(live).collect::<Vec<_>>());
        let mut items = list.as_array()?.iter();
        let at = items.position(|item| {
            let is_nobodys = || has_ours && !has(&all, item);
            !has(&ours, item) && (has(&some, item) || is_nobodys())
        })?;
        Some(format!("{path}[{at}]"))
    })
}

/// Returns the names that an entry would give to the list elements that it does not name. Returns
/// all of them, if the entry names others.
pub(super) fn unnamed(live: &Value, entry: ManagerFields<'_>, path: &str) -> Map<String, Value> {
    let mut parts = path.split('.');
    let list = parts.try_fold(live, |value, part| value.get(part));
    let named = entry_field(entry, path).map(Named::from_fields);
    let (Some(list), Some(named)) = (list.and_then(Value::as_array), named) else {
        return Map::new();
    };
    let name = |item: &Value| match item.as_object() {
        Some(fields) => {
            let fields = fields.keys().map(|field| format!("f:{field}"));
            let all = [".".to_owned()].into_iter().chain(fields);
            let owned = all.map(|part| (part, Value::Object(Map::new())));
            Some((named.keys.name_of(item)?, owned.collect()))
        }
        None => {
            let is_set = !named.values.is_empty();
            is_set.then(|| (format!("v:{item}"), Value::Object(Map::new())))
        }
    };
    let items = list.iter().filter(|item| !named.has(item));
    items.filter_map(name).collect()
}

/// Returns the part of an entry that describes a field.
fn entry_field<'a>(entry: ManagerFields<'a>, path: &str) -> Option<&'a Map<String, Value>> {
    let mut parts = path.split('.');
    parts.try_fold(entry, |entry, part| {
        entry.get(&format!("f:{part}"))?.as_object()
    })
}

/// The elements of a list that an entry names: by their keys, or by their values in a set (`v:"a"`).
struct Named {
    keys: MemberKeys,
    values: Vec<Value>,
}

impl Named {
    fn from_fields(list: ManagerFields<'_>) -> Self {
        let values = list.keys().filter_map(|name| name.strip_prefix("v:"));
        Self {
            keys: MemberKeys::from_entries(&[list]),
            values: values
                .filter_map(|value| serde_json::from_str(value).ok())
                .collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.values.is_empty()
    }

    fn has(&self, item: &Value) -> bool {
        self.keys.exact(item).is_some() || self.values.iter().any(|value| same(value, item))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::machine::compare::{Comparison, compare, migrated};

    const US: &str = "us";
    const PORTS: &[&str] = &["spec.ports"];

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({ "manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields })
    }

    /// Builds the content of an entry that owns these ports.
    fn port_fields(ports: &[u16]) -> Value {
        let all = ports.iter().map(|port| {
            let key = format!("k:{{\"port\":{port},\"protocol\":\"TCP\"}}");
            (
                key,
                json!({ ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {} }),
            )
        });
        json!({ "f:spec": { "f:ports": Value::Object(all.collect()) } })
    }

    fn list(ports: &[u16]) -> Value {
        let all = ports
            .iter()
            .map(|port| json!({ "name": "http", "port": port, "protocol": "TCP" }));
        all.collect()
    }

    fn live(ports: &[u16], managed: &[Value]) -> Value {
        json!({ "apiVersion": "v1", "metadata": { "managedFields": managed }, "spec": { "ports": list(ports) } })
    }

    fn found(live: &Value, replaced: &[String]) -> Option<String> {
        intruder(live, &Ours::for_manager(live, US, replaced, ""), PORTS)
    }

    /// Returns the written object once other managers own nothing of the list.
    fn moved(live: &Value, replaced: &[String]) -> Value {
        let mut after = live.clone();
        after["metadata"]["managedFields"] = migrated(live, US, replaced, PORTS);
        assert_eq!(found(&after, replaced), None, "{after}");
        after
    }

    fn comparison(live: &Value, wanted: &[u16]) -> Comparison {
        let desired = json!({ "spec": { "ports": list(wanted) } });
        compare(&desired, live, &Ours::for_manager(live, US, &[], ""))
    }

    #[test]
    fn only_elements_that_an_apply_would_leave_are_intruders() {
        let ours = entry(US, "Apply", port_fields(&[80]));
        let theirs = |ports: &[u16]| entry("kubectl", "Update", port_fields(ports));
        let check = |live: Value, expected: Option<&str>| {
            assert_eq!(found(&live, &[]).as_deref(), expected, "{live}");
        };
        check(live(&[80], std::slice::from_ref(&ours)), None);
        check(
            live(&[80, 81], &[ours.clone(), theirs(&[81])]),
            Some("spec.ports[1]"),
        );
        check(live(&[81], &[theirs(&[81])]), Some("spec.ports[0]"));
        check(live(&[80], &[ours.clone(), theirs(&[80])]), None);
        check(
            live(&[80, 81], &[ours, entry(US, "Update", port_fields(&[81]))]),
            Some("spec.ports[1]"),
        );
        let atomic = entry("kubectl", "Update", json!({ "f:spec": { "f:ports": {} } }));
        check(live(&[80], &[atomic]), None);
        let stuck = entry(US, "Update", port_fields(&[80]));
        let who = |live: Value| stranger(&live, &Ours::for_manager(&live, US, &[], ""), PORTS);
        assert_eq!(who(live(&[80], std::slice::from_ref(&stuck))), None);
        let added = live(&[80, 81], &[stuck, theirs(&[81])]);
        assert_eq!(who(added).as_deref(), Some("spec.ports[1]"));
        let text = json!({ "metadata": { "managedFields": [theirs(&[80])] }, "spec": { "ports": "no list" } });
        check(text, None);
    }

    #[test]
    fn an_edited_port_becomes_ours_and_the_next_apply_takes_it_away() {
        let edited = json!({ "f:spec": {
            "f:ports": { ".": {}, "k:{\"port\":81,\"protocol\":\"TCP\"}": { ".": {}, "f:port": {} } },
            "f:type": {},
        } });
        let entries = [
            entry(US, "Apply", json!({ "f:spec": { "f:selector": {} } })),
            entry("kubectl", "Update", edited),
        ];
        let after = moved(&live(&[81], &entries), &[]);
        assert_eq!(
            comparison(&after, &[80]),
            Comparison::Behind {
                at: "spec.ports[0]".to_owned()
            }
        );
        let left = &after["metadata"]["managedFields"][0];
        assert_eq!(
            left["fieldsV1"],
            json!({ "f:spec": { "f:type": {} } }),
            "the rest is theirs"
        );
        let ours = &after["metadata"]["managedFields"][1];
        assert_eq!(
            (&ours["manager"], &ours["operation"]),
            (&json!(US), &json!("Apply"))
        );
        assert!(ours["fieldsV1"]["f:spec"]["f:selector"].is_object());
    }

    #[test]
    fn an_added_port_becomes_ours_and_is_surplus() {
        let entries = [
            entry(US, "Apply", port_fields(&[80])),
            entry("kubectl", "Update", port_fields(&[81])),
        ];
        let after = moved(&live(&[80, 81], &entries), &[]);
        let surplus = comparison(&after, &[80]);
        assert!(
            matches!(surplus, Comparison::Surplus { migrate: false, .. }),
            "{surplus:?}"
        );
        let managed = after["metadata"]["managedFields"].as_array();
        assert_eq!(
            managed.map(Vec::len),
            Some(1),
            "an entry of nothing else is gone"
        );
    }

    /// Its writer may have released it by editing the managed fields.
    #[test]
    fn a_port_that_nobody_owns_becomes_ours_too() {
        let ours = entry(US, "Apply", port_fields(&[80]));
        let both = live(&[80, 81], std::slice::from_ref(&ours));
        let strange = |live: &Value| stranger(live, &Ours::for_manager(live, US, &[], ""), PORTS);
        assert_eq!(strange(&both).as_deref(), Some("spec.ports[1]"));
        assert_eq!(found(&both, &[]).as_deref(), Some("spec.ports[1]"));
        let after = moved(&both, &[]);
        let entries = &after["metadata"]["managedFields"];
        assert_eq!(entries[0]["fieldsV1"], port_fields(&[80, 81]));
        let surplus = comparison(&after, &[80]);
        assert!(
            matches!(surplus, Comparison::Surplus { migrate: false, .. }),
            "{surplus:?}"
        );
        // The names of elements are unknown for a list that no entry mentions.
        assert_eq!(strange(&live(&[80, 81], &[])), None);
        let set = |values: &[&str], owned: Value| {
            let ours = entry(
                US,
                "Apply",
                json!({ "f:metadata": { "f:finalizers": owned } }),
            );
            json!({ "metadata": { "finalizers": values, "managedFields": [ours] } })
        };
        let set = set(&["a", "b"], json!({ "v:\"a\"": {} }));
        let lists = &["metadata.finalizers"];
        let at = stranger(&set, &Ours::for_manager(&set, US, &[], ""), lists);
        assert_eq!(at.as_deref(), Some("metadata.finalizers[1]"));
        let after = migrated(&set, US, &[], lists);
        assert_eq!(
            after[0]["fieldsV1"]["f:metadata"]["f:finalizers"],
            json!({ "v:\"a\"": {}, "v:\"b\"": {} })
        );
    }

    #[test]
    fn what_a_replaced_operator_wrote_becomes_ours_at_once() {
        let entries = [
            entry("old", "Update", port_fields(&[80])),
            entry("other", "Apply", port_fields(&[82])),
        ];
        let both = live(&[80, 82], &entries);
        assert_eq!(
            found(&both, &["old".to_owned()]).as_deref(),
            Some("spec.ports[0]")
        );
        let after = moved(&both, &["old".to_owned()]);
        assert_eq!(
            after["metadata"]["managedFields"].as_array().map(Vec::len),
            Some(1)
        );
    }

    #[test]
    fn members_of_a_set_are_named_by_their_value() {
        let ours = entry(
            US,
            "Apply",
            json!({ "f:metadata": { "f:finalizers": { "v:\"a\"": {} } } }),
        );
        let theirs = entry(
            "x",
            "Update",
            json!({ "f:metadata": { "f:finalizers": { "v:\"b\"": {} } } }),
        );
        let live =
            json!({ "metadata": { "finalizers": ["a", "b"], "managedFields": [ours, theirs] } });
        let ours = Ours::for_manager(&live, US, &[], "");
        let found = intruder(&live, &ours, &["metadata.finalizers"]);
        assert_eq!(found.as_deref(), Some("metadata.finalizers[1]"));
    }
}
