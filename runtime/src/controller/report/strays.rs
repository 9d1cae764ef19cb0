//! Status fields that stay although our apply leaves them out, because another manager wrote them
//! or their writer is unknown. Pure.

use serde_json::{Value, json};

/// Returns the status as a merge patch, with null for fields to remove. Returns `None` if an apply
/// removes them by itself. Conditions of types that are not `known` belong to other controllers and
/// stay.
pub(crate) fn cleared(
    live: Option<&Value>,
    manager: &str,
    (fields, known): (&[&str], &[&str]),
    status: &Value,
) -> Option<Value> {
    let live = live?;
    let old = live.get("status")?;
    let is_there = |field: &&&str| old.get(**field).is_some_and(|value| !value.is_null());
    let is_gone = |field: &&&str| status.get(**field).is_none();
    let gone = fields.iter().filter(is_there).filter(is_gone);
    let gone: Vec<&str> = gone.copied().collect();
    let now: Vec<&str> = types(status).collect();
    let unwanted = |kind: &&str| known.contains(kind) && !now.contains(kind);
    let stray_field = gone.iter().any(|field| {
        let path = [format!("f:{field}")];
        !is_ours_alone(live, manager, &path)
    });
    let stray_condition = types(old).filter(unwanted).any(|kind| {
        let path = [
            "f:conditions".to_owned(),
            format!("k:{}", json!({ "type": kind })),
        ];
        !is_ours_alone(live, manager, &path)
    });
    if !stray_field && !stray_condition {
        return None;
    }
    let mut merged = beside_others(Some(live), known, status);
    for field in gone {
        merged[field] = Value::Null;
    }
    Some(merged)
}

/// Returns the status as a merge patch, which replaces lists as a whole. It keeps the conditions of
/// other controllers.
pub(crate) fn beside_others(live: Option<&Value>, known: &[&str], status: &Value) -> Value {
    let mut merged = status.clone();
    let old = live.and_then(|live| live.get("status"));
    let rows = merged.get_mut("conditions").and_then(Value::as_array_mut);
    if let (Some(rows), Some(old)) = (rows, old) {
        let of_others = |row: &&Value| kind_of(row).is_some_and(|kind| !known.contains(&kind));
        rows.extend(conditions(old).filter(of_others).cloned());
    }
    merged
}

fn conditions(status: &Value) -> impl Iterator<Item = &Value> {
    let rows = status.get("conditions").and_then(Value::as_array);
    rows.into_iter().flatten()
}

fn types(status: &Value) -> impl Iterator<Item = &str> {
    conditions(status).filter_map(kind_of)
}

fn kind_of(row: &Value) -> Option<&str> {
    row.get("type").and_then(Value::as_str)
}

/// Returns true if our applied fields own this part of the status, and no other manager owns it.
fn is_ours_alone(live: &Value, manager: &str, path: &[String]) -> bool {
    let entries = live.pointer("/metadata/managedFields");
    let entries = entries.and_then(Value::as_array).into_iter().flatten();
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str) == Some(manager);
    let is_applied =
        |entry: &Value| entry.get("operation").and_then(Value::as_str) == Some("Apply");
    let (mut ours, mut others) = (false, false);
    for entry in entries.filter(|entry| owns(entry, path)) {
        match text(entry, "manager") && is_applied(entry) {
            true => ours = true,
            false => others = true,
        }
    }
    ours && !others
}

fn owns(entry: &Value, path: &[String]) -> bool {
    let mut part = entry.get("fieldsV1").and_then(|all| all.get("f:status"));
    for step in path {
        part = part.and_then(|fields| fields.get(step));
    }
    part.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[&str] = &["matched", "message"];
    const KNOWN: &[&str] = &["Configured", "Resolved", "Ready"];

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({ "manager": manager, "operation": operation, "subresource": "status", "fieldsV1": { "f:status": fields } })
    }

    fn row(kind: &str) -> Value {
        json!({ "type": kind, "status": "True" })
    }

    fn live(entries: Vec<Value>) -> Value {
        json!({
            "metadata": { "managedFields": entries },
            "status": { "matched": true, "message": "OK", "conditions": [row("Resolved"), row("Theirs")] },
        })
    }

    fn check(entries: Vec<Value>, status: Value, expected: Option<Value>) {
        let live = live(entries);
        assert_eq!(
            cleared(Some(&live), "us", (FIELDS, KNOWN), &status),
            expected
        );
    }

    fn fields() -> Value {
        json!({ "f:matched": {}, "f:conditions": { "k:{\"type\":\"Resolved\"}": { ".": {} } } })
    }

    #[test]
    fn what_is_ours_alone_goes_by_itself() {
        let new = json!({ "message": "no", "conditions": [row("Configured")] });
        check(vec![entry("us", "Apply", fields())], new, None);
    }

    #[test]
    fn what_others_wrote_is_said_to_go() {
        let new = json!({ "message": "no", "conditions": [row("Configured")] });
        let said = json!({
            "matched": null, "message": "no", "conditions": [row("Configured"), row("Theirs")],
        });
        let all: [Vec<Value>; 4] = [
            vec![entry("controller", "Update", fields())],
            vec![
                entry("us", "Apply", fields()),
                entry("controller", "Update", fields()),
            ],
            vec![entry("us", "Update", fields())],
            vec![],
        ];
        for entries in all {
            check(entries, new.clone(), Some(said.clone()));
        }
    }

    #[test]
    fn what_stays_or_is_nobodys_business_is_no_reason() {
        let theirs = || vec![entry("controller", "Update", fields())];
        let new = json!({ "matched": true, "conditions": [row("Resolved")] });
        let expected = json!({ "matched": true, "message": null, "conditions": [row("Resolved"), row("Theirs")] });
        // The writer of the message is not known.
        check(theirs(), new, Some(expected));
        let new = json!({ "matched": true, "message": "OK", "conditions": [row("Resolved")] });
        check(theirs(), new, None);
        assert_eq!(
            cleared(Some(&json!({})), "us", (FIELDS, KNOWN), &json!({})),
            None
        );
    }
}
