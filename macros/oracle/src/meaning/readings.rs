//! `kstatus;`: the readings of an object that tools may make in a world, by their published rules.

use super::{Meaning, Named, Step, WorldClass};

impl Meaning<'_> {
    /// Returns the statuses that a tool may read of an object with a reported world; `None` if
    /// nothing is reported for tools.
    pub fn readings(&self, named: &Named) -> Option<&'static [&'static str]> {
        if !self.life().kstatus {
            return None;
        }
        let state = match self.classify(named)? {
            WorldClass::Deleting => return Some(&["Terminating"]),
            WorldClass::Refused => return Some(&["Failed"]),
            WorldClass::State(name) => self.life().state(&name)?,
        };
        match state.phase.as_deref()? {
            "Ready" if self.step(named) == Step::Rest => Some(&["Current"]),
            "Ready" | "Suspended" => Some(&["InProgress"]),
            "Error" => Some(&["Failed"]),
            // A state that is overdue has failed.
            "Pending" => Some(&["InProgress", "Failed"]),
            _ => None,
        }
    }
}
