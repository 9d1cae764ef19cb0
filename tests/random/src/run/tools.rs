//! Reading of each status that the driver writes, by the rules that tools publish. It is compared
//! with the meaning of the lifecycle.

use serde_json::Value;

use super::Run;

/// Returns the result of `kstatus` for an object of a kind that it does not know.
fn read(object: &Value) -> &'static str {
    let at = |pointer: &str| object.pointer(pointer).filter(|value| !value.is_null());
    if at("/metadata/deletionTimestamp").is_some() {
        return "Terminating";
    }
    if is_behind(object) {
        return "InProgress";
    }
    let rows = at("/status/conditions").and_then(Value::as_array);
    let rows: Vec<(&str, &str)> = rows
        .into_iter()
        .flatten()
        .filter_map(|row| Some((row["type"].as_str()?, row["status"].as_str()?)))
        .collect();
    let told = rows.iter().find_map(|row| match row {
        ("Reconciling", "True") => Some("InProgress"),
        ("Stalled", "True") => Some("Failed"),
        _ => None,
    });
    let unready = rows
        .iter()
        .any(|(kind, status)| *kind == "Ready" && *status != "True");
    told.unwrap_or(if unready { "InProgress" } else { "Current" })
}

/// Returns true if the status is about another generation.
fn is_behind(object: &Value) -> bool {
    let seen = object.pointer("/status/observedGeneration");
    seen.is_some_and(|seen| Some(seen) != object.pointer("/metadata/generation"))
}

impl Run<'_> {
    /// Checks a written status against the reconciliation that wrote it.
    pub(super) fn is_read(&mut self, object: &Value) {
        let Some(last) = self.last.clone() else {
            return;
        };
        let Some(wanted) = self.meaning.readings(&last.world) else {
            return;
        };
        let is = read(object);
        let is_sure = last.failure.is_none() && last.ruled_out.is_none() && !is_behind(object);
        self.ran.readings += 1;
        if is == "Current" && !(is_sure && wanted.contains(&is)) || is_sure && !wanted.contains(&is)
        {
            self.find(format!(
                "another reading: tools read {is} and should read {wanted:?} in {:?}: {}",
                last.world, object["status"]
            ));
        }
    }
}
