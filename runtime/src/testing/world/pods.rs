//! What all controllers ask of Pods.

use serde_json::Value;

use super::cache::{has_condition, text};

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
