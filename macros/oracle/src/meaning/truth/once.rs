//! The verdict on an object that is created once: by the existing objects, and by the record of the
//! creation.

use super::{Evaluation, Reality};
use crate::syntax::Input;

impl<R: Reality> Evaluation<'_, R> {
    /// Returns the names in the record of an input.
    fn noted(&self, input: &Input) -> Vec<String> {
        let record = self.meaning.life().noted(&input.name);
        record.map_or_else(Vec::new, |record| self.reality.noted(&record.name))
    }

    /// Returns true if the record already names the object as made.
    pub(super) fn is_noted(&self, input: &Input, object: &R::Object) -> bool {
        self.noted(input).contains(&self.reality.called(object))
    }

    /// Of one object.
    pub(super) fn created(
        &self,
        input: &Input,
        found: Option<&R::Object>,
    ) -> Result<&'static str, String> {
        let Some(object) = found else {
            let from = self.given(&input.lookup())?;
            let name = self.reality.sought(&input.name, &from);
            let was_made = name.is_some_and(|name| self.noted(input).contains(&name));
            return Ok(if was_made { "Gone" } else { "Absent" });
        };
        let (ours, noted) = (self.is_ours(input, object)?, self.is_noted(input, object));
        Ok(match (ours, noted) {
            (true, true) if self.reality.is_leaving(object) => "Terminating",
            (true, true) => "Made",
            (true, false) => "New",
            (false, true) => "Gone",
            (false, false) => "Foreign",
        })
    }

    /// Of a set: the first of these that is true of any member.
    pub(super) fn created_set(
        &self,
        input: &Input,
        found: &[R::Object],
    ) -> Result<&'static str, String> {
        let mut effects = self.meaning.life().effects.iter();
        let create = effects.find(|one| one.on == input.name && one.verb == "create");
        let from = create.map(|effect| self.given(&effect.from)).transpose()?;
        let from = from.unwrap_or_default();
        let noted = self.noted(input);
        let wanted = match self.lacks(&from)? {
            true => None,
            false => Some(self.reality.desired_names(&input.name, &from)),
        };
        let mut seen = Vec::new();
        for name in wanted.iter().flatten().filter(|name| !noted.contains(name)) {
            seen.push(match self.reality.named(&input.name, name) {
                None => "Behind",
                Some(object) if self.is_ours(input, &object)? => "New",
                Some(_) => "Foreign",
            });
        }
        for object in found {
            let name = self.reality.called(object);
            let is_wanted = wanted.as_ref().map(|wanted| wanted.contains(&name));
            if is_wanted == Some(true) || !self.is_ours(input, object)? {
                continue;
            }
            match (is_wanted, noted.contains(&name)) {
                (None, false) => seen.push("New"),
                (None, true) => {}
                (Some(_), _) if self.reality.is_leaving(object) => seen.push("Draining"),
                (Some(_), _) => seen.push("Surplus"),
            }
        }
        if wanted.is_none() {
            seen.push("Behind");
        }
        let order = ["New", "Behind", "Surplus", "Draining", "Foreign"];
        let first = order.into_iter().find(|word| seen.contains(word));
        Ok(first.unwrap_or("Current"))
    }
}
