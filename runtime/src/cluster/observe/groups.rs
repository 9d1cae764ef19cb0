//! Fact of a group: its worst member, in the order of sets. Each reconciliation evaluates each
//! member, so that each recovers independently.

use super::answers::InputAnswer;
use super::{Failure, Name, Observing};
use crate::cluster::index::IndexKey;
use crate::lifecycle::Built;
use crate::machine::ir::Verb;
use crate::machine::verdict::Verdict;

impl Observing<'_> {
    pub(super) fn ask_group(&mut self, number: usize) -> Result<InputAnswer, Failure> {
        let members: Vec<usize> = self.ir.members(number).collect();
        let (effect, wanted) = match self.built(number, true) {
            Some((effect, Built::Group(wanted))) => (Some(effect), wanted),
            Some((_, Built::One(_) | Built::Each(_))) | None
                if self.effect(number, Verb::Apply).is_some() =>
            {
                return Ok((Verdict::Behind, String::new()));
            }
            // Where nothing is made, all that is found is to go.
            Some((_, Built::One(_) | Built::Each(_))) | None => (None, Vec::new()),
        };
        let mut wanted = wanted.into_iter();
        let mut worst = (Verdict::Current, String::new());
        for member in members {
            let said = match (effect, wanted.next().flatten()) {
                (Some(effect), Some(built)) => {
                    let sought = self.sought(member);
                    let name = self.named(effect, member, sought.as_ref(), &built)?;
                    self.dependencies[member].insert(IndexKey::Named(name.clone()));
                    self.touched.insert((member, name.clone()));
                    self.ask_member(member, Some(effect), (&name, built))
                }
                (_, Some(_) | None) => self.ask_unwanted_member(member),
            };
            if said.0 < worst.0 {
                worst = said;
            }
        }
        Ok(worst)
    }

    /// Evaluates a member that is not wanted. An existing object of ours must go. An object under
    /// its name that is owned by another controller or user is ignored.
    fn ask_unwanted_member(&mut self, member: usize) -> InputAnswer {
        let live = self.observation.objects(member).first().cloned();
        match live.filter(|live| self.is_ours(member, live)) {
            Some(live) => self.ask_unwanted(member, &Name::from_meta(&live.meta), &live),
            None => (Verdict::Current, String::new()),
        }
    }

    /// Hides a member that must not be read, because no verdict of its own covers that.
    pub(super) fn hide_unreadable(&mut self, member: usize) {
        let live = self.observation.objects(member).first();
        let is_readable = live.is_none_or(|live| {
            self.is_ours(member, live) && live.meta.deletion_timestamp.is_none()
        });
        if !is_readable {
            self.observation.hide(member);
        }
    }
}

#[cfg(test)]
mod tests;
