//! Lists that Go writes as null if absent, because their fields are never omitted. Identifies kinds
//! by the name of their store.

use serde_json::Value;

/// The kinds, and their fields.
const LISTS: [(&str, &str); 4] = [
    ("endpointslices.discovery.k8s.io", "endpoints"),
    ("endpointslices.discovery.k8s.io", "ports"),
    ("roles.rbac.authorization.k8s.io", "rules"),
    ("clusterroles.rbac.authorization.k8s.io", "rules"),
];

/// Shows absent or empty lists of an object as null. Both are stored alike. Returns true if there
/// are any.
pub(crate) fn show(store: &str, object: &mut Value) -> bool {
    let Some(fields) = object.as_object_mut() else {
        return false;
    };
    let mut any = false;
    for (_, field) in LISTS.iter().filter(|(of, _)| *of == store) {
        let list = fields.entry(*field).or_insert(Value::Null);
        if list.as_array().is_some_and(Vec::is_empty) {
            *list = Value::Null;
        }
        any |= list.is_null();
    }
    any
}

/// Returns true if objects of this store may be shown with nulls.
pub(crate) fn are_shown(store: &str) -> bool {
    LISTS.iter().any(|(of, _)| *of == store)
}

/// Removes the fields that `show` added, and those that are stored as absent.
pub(crate) fn forget(object: &mut Value) {
    let is_list = |name: &str| LISTS.iter().any(|(_, field)| *field == name);
    let is_empty = |value: &Value| value.is_null() || *value == Value::Array(Vec::new());
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, value| !(is_list(name) && is_empty(value)));
    }
}
