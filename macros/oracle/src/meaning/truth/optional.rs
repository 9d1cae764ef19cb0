//! An object that exists only sometimes: the verdict where it must not, and its readers.

use super::{Evaluation, Given, Reality, is_missing};
use crate::syntax::Input;

impl<R: Reality> Evaluation<'_, R> {
    /// Returns true if the object of an input must exist.
    pub(super) fn is_asked_for(&self, input: &Input) -> bool {
        input.wanted_by.is_none() || self.reality.is_asked_for(&input.name)
    }

    /// Returns the verdict on an object that must not exist.
    pub(super) fn unwanted(
        &self,
        input: &Input,
        found: Option<&R::Object>,
    ) -> Result<&'static str, String> {
        Ok(match found {
            Some(object) if self.is_ours(input, object)? => match self.reality.is_leaving(object) {
                true => "Terminating",
                false => "Stale",
            },
            Some(_) | None => "Current",
        })
    }

    /// Returns true if a builder lacks one of its arguments. An object that must not exist and does
    /// not is passed as none.
    pub(super) fn lacks(&self, from: &Given<R::Object>) -> Result<bool, String> {
        for (name, _) in from.iter().filter(|one| is_missing(one)) {
            let input = self.meaning.life().input(name);
            let Some(input) = input.filter(|input| !self.is_asked_for(input)) else {
                return Ok(true);
            };
            let given = input.given.as_ref();
            let given = given.map(|given| self.meaning.worlds.test(given));
            let is_read = given.map_or(Ok(true), |test| self.holds(&test))?;
            let found = self.found(input)?.objects;
            if !is_read || self.unwanted(input, found.first())? != "Current" {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
