//! Reading of an object by tools, as a second implementation of the `kstatus` rules. It checks
//! whether a lifecycle that declares `kstatus;` lets tools consider it done too early. It is
//! independent of how the driver writes the status.

use serde_json::Value;

use lifecycle_runtime::machine::ir::{Lifecycle, Phase};
use lifecycle_runtime::machine::policy::Class;

/// Result that `kstatus` computes for an object of a kind that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It goes away.
    Terminating,
    /// A controller works on it.
    InProgress,
    /// A person must act.
    Failed,
    /// It is as wanted.
    Current,
}

/// Reads an object.
#[must_use]
pub fn reading(meta: &Value, status: &Value) -> Reading {
    if !meta["deletionTimestamp"].is_null() {
        return Reading::Terminating;
    }
    let (generation, seen) = (&meta["generation"], &status["observedGeneration"]);
    if !generation.is_null() && !seen.is_null() && generation != seen {
        return Reading::InProgress;
    }
    let rows = status["conditions"].as_array();
    let rows = || rows.into_iter().flatten();
    for row in rows().filter(|row| row["status"] == "True") {
        match row["type"].as_str() {
            Some("Reconciling") => return Reading::InProgress,
            Some("Stalled") => return Reading::Failed,
            Some(_) | None => {}
        }
    }
    match rows().find(|row| row["type"] == "Ready") {
        Some(ready) if ready["status"] != "True" => Reading::InProgress,
        Some(_) | None => Reading::Current,
    }
}

/// Returns the reason why tools read the status differently from the reconciliation that reported
/// it.
pub(crate) fn misread(
    ir: &Lifecycle,
    class: Class,
    meta: &Value,
    status: &Value,
) -> Option<String> {
    let is = reading(meta, status);
    let seen = &status["observedGeneration"];
    // A status of another generation never counts as done.
    if seen != &meta["generation"] && is == Reading::InProgress {
        return None;
    }
    let phase = match class {
        Class::State(state) => ir.states[state].phase,
        Class::Refused { .. } | Class::Contradiction => Phase::Error,
        Class::Deleting => Phase::Pending,
    };
    let should: &[Reading] = match phase {
        Phase::Ready => &[Reading::Current],
        // If the state is overdue, it waits for a person.
        Phase::Pending => &[Reading::InProgress, Reading::Failed, Reading::Terminating],
        Phase::Error => &[Reading::Failed, Reading::Terminating],
        Phase::Suspended => &[Reading::InProgress, Reading::Terminating],
        Phase::Ignored => return None,
    };
    (!should.contains(&is)).then(|| format!("tools read {is:?} and should read {:?}", should[0]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(kind: &str, status: &str) -> Value {
        json!({ "type": kind, "status": status })
    }

    #[test]
    fn an_object_is_read_as_kstatus_reads_it() {
        let living = json!({ "generation": 3 });
        let leaving = json!({ "generation": 3, "deletionTimestamp": "2026-01-01T00:00:00Z" });
        let table = [
            (&living, json!(null), Reading::Current),
            (
                &living,
                json!({ "observedGeneration": -1 }),
                Reading::InProgress,
            ),
            (
                &living,
                json!({ "observedGeneration": 3 }),
                Reading::Current,
            ),
            (
                &living,
                json!({ "conditions": [row("Ready", "True")] }),
                Reading::Current,
            ),
            (
                &living,
                json!({ "conditions": [row("Ready", "Unknown")] }),
                Reading::InProgress,
            ),
            (
                &living,
                json!({ "conditions": [row("Ready", "True"), row("Reconciling", "True")] }),
                Reading::InProgress,
            ),
            (
                &living,
                json!({ "conditions": [row("Ready", "False"), row("Stalled", "True")] }),
                Reading::Failed,
            ),
            (
                &living,
                json!({ "observedGeneration": 2, "conditions": [row("Stalled", "True")] }),
                Reading::InProgress,
            ),
            (
                &leaving,
                json!({ "observedGeneration": 3 }),
                Reading::Terminating,
            ),
        ];
        for (meta, status, expected) in table {
            assert_eq!(reading(meta, &status), expected, "{status}");
        }
    }
}
