//! `kstatus;`: what does not go with it, and what tools may read of an object in a world, by the rules that tools publish.

use crate::findings::Found;
use crate::meaning::{Meaning, Named, Place, Step};
use crate::syntax::Life;

/// What is wrong beside the line.
pub(crate) fn kstatus(life: &Life, found: &mut Found) {
    if !life.kstatus {
        return;
    }
    if life.volume || life.implicit.is_some() {
        found.say("LC122", "kstatus");
    }
    if life.volume {
        return;
    }
    let of_tools = |name: &String| name == "Reconciling" || name == "Stalled";
    let conditions = life.conditions.iter().map(|condition| &condition.name);
    for name in conditions.filter(|name| of_tools(name)) {
        found.say("LC122", name);
    }
    for (name, _) in &life.fields {
        let letters = name.chars().filter(|c| *c != '_');
        if letters
            .map(|c| c.to_ascii_lowercase())
            .eq("observedgeneration".chars())
        {
            found.say("LC122", name);
        }
    }
    for state in &life.states {
        let is_wrong = match state.phase.as_deref() {
            Some("Ready") => !state.goal,
            Some("Pending" | "Error") => state.goal,
            _ => false,
        };
        if is_wrong {
            found.say("LC122", &state.name);
        }
    }
}

impl Meaning<'_> {
    /// What a tool may read of an object of which a world is told; `None` where nothing is told for tools.
    pub fn readings(&self, named: &Named) -> Option<&'static [&'static str]> {
        if !self.life().kstatus {
            return None;
        }
        let state = match self.place(named)? {
            Place::Deleting => return Some(&["Terminating"]),
            Place::Refused => return Some(&["Failed"]),
            Place::State(name) => self.life().state(&name)?,
        };
        match state.phase.as_deref()? {
            "Ready" if self.step(named) == Step::Rest => Some(&["Current"]),
            "Ready" | "Suspended" => Some(&["InProgress"]),
            "Error" => Some(&["Failed"]),
            // What takes too long has failed.
            "Pending" => Some(&["InProgress", "Failed"]),
            _ => None,
        }
    }
}
