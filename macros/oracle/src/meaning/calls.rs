//! Meaning of the calls of a volume: the result of each in a world, its codes, and the point at
//! which it gives up.

use super::{Meaning, Named};
use crate::calls::{Answer, ResolvedCall};
use crate::syntax::Call;

/// Result of a call in a world. Codes are spelled as the interface spells them.
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
    /// It waits for a promise.
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

    /// Returns the result of a call in a world; `None` if the call or the world does not exist.
    pub fn doing(&self, call: &str, named: &Named) -> Option<Doing> {
        let (declared, world) = (self.declared(call)?, self.numbered(named)?);
        let asking = ResolvedCall::new(self.worlds, declared);
        Some(match asking.answer(&world, self.worlds.classify(&world)) {
            Answer::Precondition(at) => Doing::Precondition(asking.preconditions[at].1.to_owned()),
            Answer::Done => Doing::Done,
            Answer::Refusal(at) => Doing::Refusal(declared.refusals[at].1.clone()),
            Answer::Run(act) => Doing::Run(self.worlds.acts[act].name.clone()),
            Answer::Wait => Doing::Wait,
        })
    }

    /// Returns the effects by which a call proceeds.
    pub fn steps(&self, call: &str) -> Vec<String> {
        self.declared(call)
            .map(|call| call.by.clone())
            .unwrap_or_default()
    }

    /// Returns the code with which a call stops waiting; `None` if it never waits.
    pub fn gives_up(&self, call: &str) -> Option<String> {
        self.declared(call)?.within.clone()
    }

    /// Returns every code with which a call may end after it observed its inputs. The codes of the
    /// interface for a failed observation are not included.
    pub fn codes(&self, call: &str) -> Vec<String> {
        let Some(declared) = self.declared(call) else {
            return Vec::new();
        };
        let asking = ResolvedCall::new(self.worlds, declared);
        let preconditions = asking.preconditions.iter();
        let preconditions = preconditions.map(|(_, code)| (*code).to_owned());
        let refusals = declared.refusals.iter().map(|(_, code)| code.clone());
        preconditions
            .chain(refusals)
            .chain(declared.within.clone())
            .collect()
    }
}
