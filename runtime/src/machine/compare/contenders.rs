//! Who else writes what we want: the field managers of others that own a field of which an object is not as wanted.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::{ManagerFields, others};
use super::{Path, behind};

/// Their names, in order.
pub fn contenders(
    desired: &Value,
    live: &Value,
    manager: &str,
    replaced: &[String],
) -> BTreeSet<String> {
    let others = others(live, manager, replaced);
    let theirs = others.filter(|(_, fields)| owns_difference(fields, desired, live));
    theirs.map(|(name, _)| name.to_owned()).collect()
}

fn owns_difference(fields: ManagerFields<'_>, desired: &Value, live: &Value) -> bool {
    let mut wanted = desired.as_object().into_iter().flatten();
    wanted.any(|(key, wanted)| {
        let Some(fields) = fields.get(&format!("f:{key}")).and_then(Value::as_object) else {
            return false;
        };
        match (wanted, live.get(key)) {
            (Value::Object(_), Some(live @ Value::Object(_))) if !fields.is_empty() => {
                owns_difference(fields, wanted, live)
            }
            (_, live) => {
                let live = live.unwrap_or(&Value::Null);
                behind(wanted, live, &[], &Path::root()).is_some()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_owns_what_differs_is_named() {
        let entry = |manager: &str, subresource: &str, fields: Value| json!({ "manager": manager, "operation": "Update", "subresource": subresource, "fieldsV1": fields });
        let managed = json!([
            entry("us", "", json!({ "f:data": { "f:size": {} } })),
            entry(
                "rival",
                "",
                json!({ "f:data": { "f:size": {}, "f:colour": {} } })
            ),
            entry(
                "porter",
                "",
                json!({ "f:spec": { "f:ports": { "k:{\"port\":80}": { "f:port": {} } } } })
            ),
            entry("painter", "", json!({ "f:data": { "f:colour": {} } })),
            entry("reporter", "status", json!({ "f:data": { "f:size": {} } })),
        ]);
        let live = json!({
            "metadata": { "managedFields": managed },
            "data": { "size": "theirs", "colour": "red" },
            "spec": { "ports": [{ "port": 80 }] },
        });
        let check = |desired: Value, expected: &[&str]| {
            let found = contenders(&desired, &live, "us", &[]);
            assert_eq!(found.into_iter().collect::<Vec<_>>(), expected, "{desired}");
        };
        check(
            json!({ "data": { "size": "ours", "colour": "red" } }),
            &["rival"],
        );
        check(json!({ "data": { "size": "theirs" } }), &[]);
        check(
            json!({ "data": { "colour": "blue" } }),
            &["painter", "rival"],
        );
        check(json!({ "data": { "weight": "1" } }), &[]);
        check(
            json!({ "spec": { "ports": [{ "port": 81 }] } }),
            &["porter"],
        );
        check(json!({ "spec": { "ports": [{ "port": 80 }] } }), &[]);
    }
}
