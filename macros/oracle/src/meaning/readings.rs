//! `kstatus;`: what tools may read of an object in a world, by the rules that they publish.

use super::{Meaning, Named, Place, Step};

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
