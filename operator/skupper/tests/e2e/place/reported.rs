//! The status of an object as a person reads it with `kubectl`. Pure.

use serde::Serialize;
use serde_json::Value;

/// Returns the fields that every kind reports: status, message, and the conditions as `Type=Status
/// Reason Message`.
pub(crate) fn report<K: Serialize>(object: &K) -> (String, String, Vec<String>) {
    let object = serde_json::to_value(object).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let status = &object["status"];
    let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
    let line = |c: &Value| {
        format!(
            "{}={} {} {}",
            text(&c["type"]),
            text(&c["status"]),
            text(&c["reason"]),
            text(&c["message"])
        )
    };
    let lines = conditions.iter().map(line).collect();
    (text(&status["status"]), text(&status["message"]), lines)
}

/// Returns true if the object reports this status and message for its newest generation.
pub(crate) fn has_report<K: Serialize>(object: &K, status: &str, message: &str) -> bool {
    let value = serde_json::to_value(object).unwrap_or_default();
    let generation = &value["metadata"]["generation"];
    let conditions = value["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let is_new = conditions
        .iter()
        .all(|c| &c["observedGeneration"] == generation);
    let (is, said, _) = report(object);
    is_new && !conditions.is_empty() && is == status && said == message
}
