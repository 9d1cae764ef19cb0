//! Other writers of our desired fields. These are foreign field managers that own a field that
//! differs from the desired one, or that is not ours.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::{ManagerFields, Ours, others};
use super::taken::{Owners, taken};
use super::{Path, behind};

/// Their names, in order.
pub fn contenders(
    desired: &Value,
    live: &Value,
    manager: &str,
    replaced: &[String],
) -> BTreeSet<String> {
    let named = |is_one: &dyn Fn(ManagerFields<'_>) -> bool| -> BTreeSet<String> {
        let theirs = others(live, manager, replaced).filter(|(_, fields)| is_one(fields));
        theirs.map(|(name, _)| name.to_owned()).collect()
    };
    let differing = named(&|fields| owns_difference(fields, desired, live));
    if !differing.is_empty() {
        return differing;
    }
    let ours: Vec<_> = Ours::for_manager(live, manager, replaced, "")
        .all()
        .collect();
    named(&|fields| {
        let owners = Owners {
            ours: ours.clone(),
            others: vec![fields],
            claims_unowned: false,
        };
        taken((desired, live), &owners, &Path::root()).is_some()
    })
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
            entry(
                "us",
                "",
                json!({ "f:data": { "f:size": {} }, "f:spec": { "f:ports": { "k:{\"port\":80}": { "f:port": {} } } } })
            ),
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
