//! A sound volume during its composition: its inputs and facts, and the needs of its calls.

use crate::random::dice::Dice;
use crate::random::sketch::{Fact, Guard, Input, Promise, Sketch, alternatives, to_strings};

/// Needs of a call that makes something: its completion guard, its effects, and its refusals.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) done: Guard,
    pub(super) by: Vec<String>,
    pub(super) refusals: Vec<String>,
    pub(super) waits: bool,
}

/// A volume under way.
pub(super) struct Draft<'a> {
    pub(super) sketch: Sketch,
    pub(super) dice: &'a mut Dice,
    pub(super) preconditions: Vec<(&'static str, String)>,
    /// Guard that must hold before any write.
    pub(super) ready: Guard,
    /// Names that builders may read.
    pub(super) there: Vec<String>,
    pub(super) needs: Needs,
}

impl<'a> Draft<'a> {
    pub(super) fn new(dice: &'a mut Dice) -> Self {
        Self {
            sketch: Sketch::default(),
            dice,
            preconditions: Vec::new(),
            ready: Guard::new(),
            there: Vec::new(),
            needs: Needs::default(),
        }
    }

    pub(super) fn input(&mut self, name: &str, head: &str, lookup: &str, given: Guard) {
        self.sketch.inputs.push(Input {
            name: name.to_owned(),
            head: head.to_owned(),
            lookup: lookup.to_owned(),
            given,
        });
    }

    pub(super) fn fact(&mut self, name: &str, domain: &str, from: &[&str], given: Guard) {
        let givens = if given.is_empty() {
            Vec::new()
        } else {
            vec![(given, None)]
        };
        self.sketch.facts.push(Fact {
            held: false,
            name: name.to_owned(),
            domain: domain.to_owned(),
            from: to_strings(from),
            givens,
        });
    }

    pub(super) fn promise(&mut self, name: &str, when: &[&str], fact: &str, value: &str) {
        self.needs.waits = true;
        self.sketch.promises.push(Promise {
            name: name.to_owned(),
            when: to_strings(when),
            sets: alternatives(fact, &[value]),
        });
    }

    /// Turns a missing or wrong object into a precondition of the interface, a refusal, or a wait.
    pub(super) fn must(&mut self, bad: &str, code: &str, promised: (&str, &str, &str)) {
        let can_be_unknown = self
            .preconditions
            .iter()
            .all(|(name, _)| *name != "unknown");
        match self.dice.random_below(3) {
            0 if can_be_unknown => self.preconditions.push(("unknown", bad.to_owned())),
            1 => self.needs.refusals.push(format!("{bad} => {code};")),
            _ => {
                let (name, fact, value) = promised;
                let mut when = self.there.clone();
                when.retain(|one| *one != fact);
                when.push(bad.to_owned());
                let when: Vec<&str> = when.iter().map(String::as_str).collect();
                self.promise(name, &when, fact, value);
            }
        }
    }
}
