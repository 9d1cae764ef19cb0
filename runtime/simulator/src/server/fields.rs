//! Fields that field selectors may name, by kind. Knows no selectors.

use std::collections::BTreeMap;

use serde_json::Value;

use super::kinds::{Kind, Version};

/// Store of each kind with the fields that selectors may name. Each field has the path of its value
/// if that differs.
const FIELDS: [(&str, &[(&str, &str)]); 10] = [
    (
        "pods",
        &[
            ("spec.nodeName", ""),
            ("spec.restartPolicy", ""),
            ("spec.schedulerName", ""),
            ("spec.serviceAccountName", ""),
            ("spec.hostNetwork", ""),
            ("status.phase", ""),
            ("status.podIP", ""),
            ("status.podIPs", ""),
            ("status.nominatedNodeName", ""),
        ],
    ),
    (
        "events",
        &[
            ("involvedObject.kind", ""),
            ("involvedObject.namespace", ""),
            ("involvedObject.name", ""),
            ("involvedObject.uid", ""),
            ("involvedObject.apiVersion", ""),
            ("involvedObject.resourceVersion", ""),
            ("involvedObject.fieldPath", ""),
            ("reason", ""),
            ("reportingComponent", ""),
            ("source", "source.component"),
            ("type", ""),
        ],
    ),
    ("namespaces", &[("status.phase", "")]),
    ("secrets", &[("type", "")]),
    ("nodes", &[("spec.unschedulable", "")]),
    ("services", &[("spec.clusterIP", ""), ("spec.type", "")]),
    ("replicationcontrollers", &[("status.replicas", "")]),
    ("replicasets.apps", &[("status.replicas", "")]),
    ("jobs.batch", &[("status.successful", "status.succeeded")]),
    ("persistentvolumes", &[("name", "metadata.name")]),
];

/// The selectable fields of an object.
pub(crate) fn selectable_fields(
    store: &str,
    object: &Value,
    selectable: &[String],
) -> BTreeMap<String, String> {
    let built_in = FIELDS
        .iter()
        .filter(|(kind, _)| *kind == store)
        .flat_map(|(_, fields)| *fields)
        .map(|(field, path)| (*field, if path.is_empty() { *field } else { *path }));
    let declared = selectable
        .iter()
        .map(|field| (field.as_str(), field.as_str()));
    let shown = built_in
        .chain(declared)
        .map(|(field, path)| (field.to_owned(), format_field(field, object, path)));
    shown.filter(|(_, value)| !value.is_empty()).collect()
}

fn format_field(field: &str, object: &Value, path: &str) -> String {
    let mut value = object;
    for step in path.split('.') {
        value = value.get(step).unwrap_or(&Value::Null);
    }
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        // Of absent booleans and numbers the real server shows the zero.
        Value::Null if ["spec.unschedulable", "spec.hostNetwork"].contains(&field) => {
            "false".to_owned()
        }
        Value::Null if field.starts_with("status.replicas") || field == "status.successful" => {
            "0".to_owned()
        }
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

/// Why a selector may not name a field of a kind.
pub(crate) fn refusal(kind: &Kind, version: &Version, field: &str) -> Option<String> {
    if ["metadata.name", "metadata.namespace"].contains(&field) {
        return None;
    }
    let of_kind = FIELDS
        .iter()
        .find(|(store, _)| !kind.custom && *store == &*kind.store);
    if let Some((_, fields)) = of_kind {
        let known = fields.iter().any(|(known, _)| *known == field);
        return (!known).then(|| format!("field label not supported: {field}"));
    }
    if kind.custom {
        let known = selectable(version).iter().any(|known| known == field);
        return (!known).then(|| format!("field label not supported: {field}"));
    }
    Some(format!(
        "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    ))
}

/// Returns the fields that a CustomResourceDefinition makes selectable.
pub(crate) fn selectable(version: &Version) -> Vec<String> {
    let declared = version.declared.as_deref();
    let fields = declared
        .and_then(|declared| declared["selectableFields"].as_array())
        .into_iter()
        .flatten();
    let paths = fields.filter_map(|field| field["jsonPath"].as_str());
    paths
        .map(|path| path.trim_start_matches('.').to_owned())
        .collect()
}
