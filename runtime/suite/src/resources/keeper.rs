//! Owner and keeper of an object, as its metadata name them. Knows no harness.

use lifecycle_runtime::lifecycle::KeptBy;
use lifecycle_runtime::lifecycle::kept_by::KEPT_BY;
use lifecycle_runtime::machine::ir::{Lifecycle, Verb};
use serde_json::Value;

/// Returns true if an effect adopts objects of an input.
pub(crate) fn adopts(ir: &Lifecycle, input: usize) -> bool {
    let mut effects = ir.effects.iter();
    effects.any(|effect| effect.verb == Verb::Adopt && effect.target == input)
}

/// Returns the keeper of an object, as its annotation names it.
pub(crate) fn keeper(object: &Value) -> Option<KeptBy> {
    let text = object.pointer("/metadata/annotations")?.get(KEPT_BY)?;
    Some(serde_json::from_str(text.as_str()?).unwrap_or_default())
}

/// Returns the uids of owners, and for each owner true if it is the controller.
pub(crate) fn owners(object: &Value) -> impl Iterator<Item = (&str, bool)> {
    let owners = object.pointer("/metadata/ownerReferences");
    let owners = owners.and_then(Value::as_array).into_iter().flatten();
    owners.filter_map(|owner| Some((owner["uid"].as_str()?, owner["controller"] == true)))
}

/// Returns true if a write only adopts an unowned object, exactly as it was observed.
pub(crate) fn takes_over(body: &Value, before: &Value, is_there: impl Fn(&str) -> bool) -> bool {
    let Some(meta) = body.get("metadata").and_then(Value::as_object) else {
        return false;
    };
    let known = ["annotations", "ownerReferences", "uid", "resourceVersion"];
    let is_alone = body.as_object().is_some_and(|body| body.len() == 1)
        && meta.keys().all(|key| known.contains(&key.as_str()));
    let is_seen = meta.get("uid") == before.pointer("/metadata/uid")
        && meta.get("resourceVersion") == before.pointer("/metadata/resourceVersion");
    let is_nobodys = owners(before).all(|(uid, controls)| is_there(uid) && !controls)
        && keeper(before).is_none_or(|kept| !is_there(&kept.uid));
    is_alone && is_seen && is_nobodys
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn before() -> Value {
        json!({ "metadata": { "uid": "x", "resourceVersion": "7" } })
    }

    fn adoption(version: &str) -> Value {
        json!({ "metadata": {
            "uid": "x", "resourceVersion": version, "annotations": { KEPT_BY: "{}" },
        } })
    }

    #[test]
    fn only_what_is_nobodys_is_taken_over_and_exactly_as_it_was_seen() {
        let check = |body: &Value, before: &Value, expected| {
            assert_eq!(takes_over(body, before, |uid| uid == "there"), expected);
        };
        check(&adoption("7"), &before(), true);
        check(&adoption("6"), &before(), false);
        let mut more = adoption("7");
        more["spec"] = json!({});
        check(&more, &before(), false);
        let mut controlled = before();
        controlled["metadata"]["ownerReferences"] = json!([{ "uid": "o", "controller": true }]);
        check(&adoption("7"), &controlled, false);
        let mut kept = before();
        let by = |uid: &str| json!({ "apiVersion": "v1", "kind": "A", "name": "a", "uid": uid });
        kept["metadata"]["annotations"] = json!({ KEPT_BY: by("there").to_string() });
        check(&adoption("7"), &kept, false);
        kept["metadata"]["annotations"] = json!({ KEPT_BY: by("gone").to_string() });
        check(&adoption("7"), &kept, true);
    }
}
