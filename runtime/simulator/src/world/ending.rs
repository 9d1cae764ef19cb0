//! Status conditions of a terminating namespace, about the content that is left in it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::kinds::ObjectKey;
use super::object::list;
use super::view::View;

/// Type, reason and message of a condition without a problem.
const WELL: [(&str, &str, &str); 5] = [
    (
        "NamespaceDeletionDiscoveryFailure",
        "ResourcesDiscovered",
        "All resources successfully discovered",
    ),
    (
        "NamespaceDeletionGroupVersionParsingFailure",
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    (
        "NamespaceDeletionContentFailure",
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    (
        REMAINING,
        "ContentRemoved",
        "All content successfully removed",
    ),
    (
        FINALIZERS,
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
    ),
];

const REMAINING: &str = "NamespaceContentRemaining";
const FINALIZERS: &str = "NamespaceFinalizersRemaining";

/// Returns the conditions of a namespace in which these deleted objects still exist.
pub(super) fn conditions(
    view: &View<'_>,
    namespace: &Value,
    held: &[(&ObjectKey, &Value)],
) -> Vec<Value> {
    let told = WELL.map(|(kind, reason, message)| match problem(kind, held) {
        Some((reason, message)) => (kind, "True", reason, message),
        None => (kind, "False", reason, message.to_owned()),
    });
    let old = list(namespace, "/status/conditions");
    let conditions = told.map(|(kind, status, reason, message)| {
        let same = |one: &&Value| one["type"] == kind && one["status"] == status;
        let since = old.iter().find(same);
        let since = since.map_or_else(|| json!(view.now), |one| one["lastTransitionTime"].clone());
        json!({
            "type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since,
        })
    });
    conditions.into()
}

fn problem(kind: &str, held: &[(&ObjectKey, &Value)]) -> Option<(&'static str, String)> {
    match kind {
        REMAINING => {
            let names = held
                .iter()
                .map(|(key, _)| format!("{}.{} has", key.kind.plural, key.kind.group));
            let all = counted(names, "resource instances")?;
            Some((
                "SomeResourcesRemain",
                format!("Some resources are remaining: {all}"),
            ))
        }
        FINALIZERS => {
            let names = held.iter().flat_map(|(_, object)| {
                let finalizers = list(object, "/metadata/finalizers").iter();
                finalizers.filter_map(|one| Some(format!("{} in", one.as_str()?)))
            });
            let all = counted(names, "resource instances")?;
            Some((
                "SomeFinalizersRemain",
                format!("Some content in the namespace has finalizers remaining: {all}"),
            ))
        }
        _ => None,
    }
}

/// How many of each, in the order of their names; nothing of nothing.
fn counted(names: impl Iterator<Item = String>, of: &str) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    let said = counts.iter().map(|(name, n)| format!("{name} {n} {of}"));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(", "))
}
