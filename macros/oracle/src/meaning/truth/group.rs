//! The verdict on a group: its worst member.

use super::{Evaluation, Member, Reality, member_name};
use crate::syntax::Input;

impl<R: Reality> Evaluation<'_, R> {
    /// Each member is wanted and as wanted, or is not wanted and not there.
    pub(super) fn worst_of_group(&self, group: &Input) -> Result<&'static str, String> {
        let mut effects = self.meaning.life().effects.iter();
        let applies = effects.find(|e| e.on == group.name && e.verb == "apply");
        let from = applies.map(|effect| self.given(&effect.from)).transpose()?;
        if from.as_ref().map_or(Ok(false), |from| self.lacks(from))? {
            return Ok("Behind");
        }
        let built = applies
            .map(|effect| effect.name.as_str())
            .zip(from.as_ref());
        let mut worst = Member::Current;
        for member in self.meaning.life().members(&group.name) {
            let found = self.found(member)?.objects;
            let wanted = built.filter(|(effect, from)| {
                !member.may_lack || self.reality.is_wanted(effect, &member.name, from)
            });
            let is = match (wanted, found.into_iter().next()) {
                (None, None) => Member::Current,
                (Some(_), None) => Member::Behind,
                (wanted, Some(object)) => match wanted {
                    None if !self.is_ours(member, &object)? => Member::Current,
                    Some(_) if !self.is_ours(member, &object)? => Member::Foreign,
                    _ if self.reality.is_leaving(&object) => Member::Draining,
                    None => Member::Surplus,
                    Some((effect, from))
                        if self
                            .reality
                            .is_member_as_built(effect, &member.name, from, &object) =>
                    {
                        Member::Current
                    }
                    Some(_) => Member::Behind,
                },
            };
            worst = worst.min(is);
        }
        Ok(member_name(worst))
    }
}
