//! What the calls of a volume mean: what each does in a world, with which codes, and when it gives up.

use super::{Meaning, Named};
use crate::calls::{Answer, Asking};
use crate::syntax::Call;

/// What a call does in a world. Codes are spelled as the interface spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It ends with this code, for a precondition of the interface.
    Precondition(String),
    /// It ends well.
    Done,
    /// It ends with this code, for one of its own refusals.
    Refusal(String),
    /// It runs the effect of this name, and looks again.
    Run(String),
    /// It waits for what is promised.
    Wait,
}

impl Meaning<'_> {
    fn declared(&self, call: &str) -> Option<&Call> {
        self.life().calls.iter().find(|one| one.name == call)
    }

    /// The calls of a volume, in the order of declaration.
    pub fn calls(&self) -> Vec<String> {
        self.life()
            .calls
            .iter()
            .map(|call| call.name.clone())
            .collect()
    }

    /// What a call does in a world; `None` where there is no such call or world.
    pub fn doing(&self, call: &str, named: &Named) -> Option<Doing> {
        let (declared, world) = (self.declared(call)?, self.numbered(named)?);
        let asking = Asking::new(self.worlds, declared);
        Some(match asking.answer(&world, self.worlds.place(&world)) {
            Answer::Precondition(at) => Doing::Precondition(asking.preconditions[at].1.to_owned()),
            Answer::Done => Doing::Done,
            Answer::Refusal(at) => Doing::Refusal(declared.refusals[at].1.clone()),
            Answer::Run(act) => Doing::Run(self.worlds.acts[act].name.clone()),
            Answer::Wait => Doing::Wait,
        })
    }

    /// The effects by which a call goes on.
    pub fn steps(&self, call: &str) -> Vec<String> {
        self.declared(call)
            .map(|call| call.by.clone())
            .unwrap_or_default()
    }

    /// The code with which a call gives up waiting; `None` where it never waits.
    pub fn gives_up(&self, call: &str) -> Option<String> {
        self.declared(call)?.within.clone()
    }

    /// Every code with which a call may end where it looks, besides those of the interface that mean that it could not look.
    pub fn codes(&self, call: &str) -> Vec<String> {
        let Some(declared) = self.declared(call) else {
            return Vec::new();
        };
        let asking = Asking::new(self.worlds, declared);
        let preconditions = asking.preconditions.iter();
        let preconditions = preconditions.map(|(_, code)| (*code).to_owned());
        let refusals = declared.refusals.iter().map(|(_, code)| code.clone());
        preconditions
            .chain(refusals)
            .chain(declared.within.clone())
            .collect()
    }
}
