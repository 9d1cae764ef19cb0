//! `kstatus;`: the declarations that conflict with it.

use crate::findings::Findings;
use crate::syntax::Life;

/// Reports declarations that are wrong beside the `kstatus;` line.
pub(crate) fn kstatus(life: &Life, found: &mut Findings) {
    if !life.kstatus {
        return;
    }
    if life.volume || life.implicit.is_some() {
        found.report("LC122", "kstatus");
    }
    if life.volume {
        return;
    }
    let of_tools = |name: &String| name == "Reconciling" || name == "Stalled";
    let conditions = life.conditions.iter().map(|condition| &condition.name);
    for name in conditions.filter(|name| of_tools(name)) {
        found.report("LC122", name);
    }
    for (name, _) in &life.fields {
        let letters = name.chars().filter(|c| *c != '_');
        if letters
            .map(|c| c.to_ascii_lowercase())
            .eq("observedgeneration".chars())
        {
            found.report("LC122", name);
        }
    }
    for state in &life.states {
        let is_wrong = match state.phase.as_deref() {
            Some("Ready") => !state.goal,
            Some("Pending" | "Error") => state.goal,
            _ => false,
        };
        if is_wrong {
            found.report("LC122", &state.name);
        }
    }
}
