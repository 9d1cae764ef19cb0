//! Revisions of the Pod template of a StatefulSet or a DaemonSet: a ControllerRevision for each
//! template that the set ever had.

use serde_json::{Value, json};

use super::cache::{Cache, controlled_by};
use super::kinds::ObjectKey;
use super::object::{letters, number, text};
use super::operation::Operation;
use super::view::View;
use super::workloads::controlled;

/// Label of a Pod that names the revision of its template.
pub(super) const LABEL: &str = "controller-revision-hash";
const KIND: &str = "ControllerRevision";

/// Revision of the present template.
pub(super) struct Revision {
    /// The name of the ControllerRevision.
    pub(super) name: String,
    /// The name without that of the set.
    pub(super) hash: String,
}

/// Returns the revision of the present template of a set, and the operation that records it.
pub(super) fn newest(
    view: &View<'_>,
    (key, set): (&ObjectKey, &Value),
) -> (Revision, Option<Operation>) {
    let template = comparable(&set["spec"]["template"]);
    let all = controlled(view.cache, set, KIND);
    let count = |one: &Value| number(one, "/revision").unwrap_or_default();
    let last = all.iter().map(|(_, one)| count(one)).max().unwrap_or(0);
    let mut same: Vec<_> = all
        .iter()
        .filter(|(_, one)| comparable(&one["data"]["spec"]["template"]) == template)
        .collect();
    same.sort_by_key(|(_, one)| count(one));
    if let Some((at, one)) = same.last() {
        let hash = text(one, &format!("/metadata/labels/{LABEL}"));
        let hash = hash.unwrap_or_else(|| at.name.replacen(&format!("{}-", key.name), "", 1));
        let revision = Revision {
            name: at.name.clone(),
            hash,
        };
        let again = json!({ "revision": last + 1 });
        let again = Operation::Patch((*at).clone(), None, again);
        return (revision, (count(one) < last).then_some(again));
    }
    let hash = letters(&template.to_string());
    let name = format!("{}-{hash}", key.name);
    let at = key.sibling(KIND, &name);
    let mut made = at.kind.object(&at);
    made["metadata"]["labels"] = template["metadata"]["labels"].clone();
    made["metadata"]["labels"][LABEL] = json!(hash);
    made["metadata"]["ownerReferences"] = controlled_by(key, set);
    made["revision"] = json!(last + 1);
    let mut template = set["spec"]["template"].clone();
    template["$patch"] = json!("replace");
    made["data"] = json!({ "spec": { "template": template } });
    (Revision { name, hash }, Some(Operation::Create(at, made)))
}

/// Returns the template of a recorded revision.
pub(super) fn template(cache: &Cache, set: &ObjectKey, name: &str) -> Option<Value> {
    let recorded = cache.get(&set.sibling(KIND, name))?;
    let mut template = recorded.pointer("/data/spec/template")?.clone();
    template.as_object_mut()?.remove("$patch");
    Some(template)
}

/// Returns the revision that a Pod was made of.
pub(super) fn of_pod(pod: &Value) -> Option<String> {
    text(pod, &format!("/metadata/labels/{LABEL}"))
}

fn comparable(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    let metadata = template.pointer_mut("/metadata");
    if let Some(fields) = metadata.and_then(Value::as_object_mut) {
        fields.remove("creationTimestamp");
    }
    template
}
