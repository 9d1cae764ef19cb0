//! Groups: several objects that are judged as one.

use super::Parser;
use super::tokens::Parsed;
use crate::syntax::Input;

impl Parser {
    /// Parses the text behind `name: owned {`. The members are inputs of their own, which are
    /// observed wherever the group is.
    pub(super) fn group(&mut self, name: String) -> Parsed<()> {
        let at = self.life.inputs.len();
        while !self.cursor.eat("}") {
            let member = self.cursor.ident()?;
            self.cursor.need(":")?;
            let may_lack = self.cursor.eat("optional");
            let words = ["owned", "shared", "part", "record", "poll", "probe"];
            let own = match words.contains(&self.cursor.peek()) {
                true => Some(self.cursor.next()?),
                false => None,
            };
            let says_owned = own.is_some();
            self.observed(member, own.unwrap_or_else(|| "owned".to_owned()))?;
            if let Some(member) = self.life.inputs.last_mut() {
                member.group = Some(name.clone());
                (member.may_lack, member.says_owned) = (may_lack, says_owned);
                member.is_given_alone = member.given.is_some();
            }
        }
        let given = self.given()?;
        self.cursor.need(";")?;
        for member in &mut self.life.inputs[at..] {
            member.given.clone_from(&given);
        }
        let group = Input {
            name,
            own: "group".to_owned(),
            many: true,
            given,
            ..Input::default()
        };
        self.life.inputs.insert(at, group);
        Ok(())
    }
}
