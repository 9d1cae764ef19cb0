//! Lists that Go shows as null when nobody gave one, since their fields are not left out. Knows kinds by the name of their store.

use serde_json::Value;

/// Of which kinds, and which of their fields.
const LISTS: [(&str, &str); 4] = [
    ("endpointslices.discovery.k8s.io", "endpoints"),
    ("endpointslices.discovery.k8s.io", "ports"),
    ("roles.rbac.authorization.k8s.io", "rules"),
    ("clusterroles.rbac.authorization.k8s.io", "rules"),
];

/// Shows those of an object that are not there or empty, which is the same in what is stored; whether there are any.
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

/// Whether objects of this store may be shown with nulls.
pub(crate) fn are_shown(store: &str) -> bool {
    LISTS.iter().any(|(of, _)| *of == store)
}

/// Takes away what `show` added, and what is stored as if it were not there.
pub(crate) fn forget(object: &mut Value) {
    let is_list = |name: &str| LISTS.iter().any(|(_, field)| *field == name);
    let is_empty = |value: &Value| value.is_null() || *value == Value::Array(Vec::new());
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|name, value| !(is_list(name) && is_empty(value)));
    }
}
