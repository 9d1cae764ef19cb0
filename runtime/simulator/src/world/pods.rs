//! Queries about Pods that all controllers share.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cache::Cache;
use super::kinds::{Kind, ObjectKey};
use super::object::{has_condition, text};

/// It has ended, well or not.
pub(super) fn is_over(pod: &Value) -> bool {
    let phase = text(pod, "/status/phase");
    matches!(phase.as_deref(), Some("Succeeded" | "Failed"))
}

pub(super) fn is_ready(pod: &Value) -> bool {
    has_condition(pod, "Ready", "True")
}

pub(super) fn has_phase(pod: &Value, phase: &str) -> bool {
    text(pod, "/status/phase").as_deref() == Some(phase)
}

/// Those that have a node.
pub(super) fn on_node(cache: &Cache, node: &str) -> BTreeSet<ObjectKey> {
    let kind = Kind::from_name("Pod");
    let here = |pod: &Value| text(pod, "/spec/nodeName").as_deref() == Some(node);
    let pods = cache.all(&kind, None).filter(|(_, pod)| here(pod));
    pods.map(|(key, _)| key.clone()).collect()
}
