//! Visibility of a call: the contents of its request, and the state of its process.

use super::Rpc;
use crate::syntax::{Call, Input, Life, Pred, atoms};
use crate::worlds::{World, Worlds};

/// Visibility of a call.
pub(crate) struct Visibility<'a> {
    life: &'a Life,
    worlds: &'a Worlds<'a>,
    rpc: &'static Rpc,
    /// Variables that depend only on a field that the request does not carry.
    fixed: Vec<usize>,
}

impl<'a> Visibility<'a> {
    pub(crate) fn new(life: &'a Life, worlds: &'a Worlds<'a>, rpc: &'static Rpc) -> Self {
        let mut visibility = Self {
            life,
            worlds,
            rpc,
            fixed: Vec::new(),
        };
        let vars = 0..worlds.vars.len();
        visibility.fixed = vars.filter(|var| visibility.is_unsaid(*var)).collect();
        visibility
    }

    /// Returns the predicates that a call evaluates by itself: its preconditions, its target, its
    /// refusals, and the permissions of its effects. A volume that is being created has no
    /// preconditions to see.
    pub(super) fn predicates(&self, call: &'a Call) -> Vec<&'a Pred> {
        let mut all: Vec<&Pred> = call.refusals.iter().map(|(when, _)| when).collect();
        let effects = self.life.effects.iter();
        let own = effects.filter(|effect| call.by.contains(&effect.name));
        all.extend(own.filter_map(|effect| effect.when.as_ref()));
        if call.name != "CreateVolume" {
            let asks = |name: &str| {
                self.rpc
                    .preconditions
                    .iter()
                    .any(|(other, _)| *other == name)
            };
            let preconditions = self
                .life
                .preconditions
                .iter()
                .filter(|(name, _)| asks(name));
            all.extend(preconditions.filter_map(|(_, when)| when.as_ref()));
        }
        match call.to.as_ref().map(|to| (to, self.life.target_state(to))) {
            None => {}
            Some((to, None)) => all.push(to),
            Some((_, Some(state))) => {
                all.extend(self.life.states[..=state].iter().map(|state| &state.when));
            }
        }
        all
    }

    fn is_unsaid(&self, var: usize) -> bool {
        let reads = self.worlds.reach.reads.get(&self.worlds.vars[var].name);
        let plain = |name: &String| is_of_request(name) || self.life.value(name).is_some();
        let lacks = |name: &String| !self.rpc.has(name);
        reads.is_some_and(|reads| reads.iter().any(lacks) && reads.iter().all(plain))
    }

    /// Returns true if the call can meet a world. Facts that its request does not carry have the
    /// first value.
    pub(crate) fn meets(&self, world: &World) -> bool {
        let first = |var: &usize| {
            let is_first = world[*var] == self.worlds.vars[*var].answers[0];
            is_first || self.worlds.unasked(*var, world).is_some()
        };
        self.fixed.iter().all(first)
    }

    pub(super) fn sees(&self, pred: &Pred) -> bool {
        pred.parts().into_iter().all(|(name, asked)| {
            let fixed = self
                .worlds
                .var(name)
                .is_some_and(|var| self.fixed.contains(&var));
            fixed || self.answers(name, asked)
        })
    }

    /// Returns true if the call can evaluate a question.
    pub(crate) fn answers(&self, name: &str, asked: Option<&[String]>) -> bool {
        if let Some(fact) = self.life.fact(name) {
            let from = fact.from.iter().all(|one| self.reads(one));
            return from && fact.chain.iter().all(|(given, _)| self.decides(given));
        }
        let Some(input) = self.life.input(name) else {
            return true;
        };
        let is = |word: &str| asked.is_some_and(|asked| asked.iter().any(|one| one == word));
        let compares = is("Behind") || is("Surplus") || is("Stale") != is("Current");
        let effects = self.life.effects.iter();
        let mut builders = effects.filter(|one| one.on == name && one.verb == "apply");
        let builds = |from: &Vec<String>| from.iter().all(|one| self.reads(one));
        self.finds(input) && (!compares || builders.all(|one| builds(&one.from)))
    }

    /// Returns true if every question of a `given` has a value. Questions about the request have
    /// one even if the request does not carry the field.
    fn decides(&self, given: &Pred) -> bool {
        given.parts().into_iter().all(|(name, asked)| {
            let of_request = |name: &str| {
                let fact = self.life.fact(name);
                fact.is_some_and(|fact| fact.from.iter().any(|one| is_of_request(one)))
            };
            let fixed = self
                .worlds
                .var(name)
                .is_some_and(|var| self.fixed.contains(&var));
            fixed || of_request(name) || self.answers(name, asked)
        })
    }

    /// Returns true if a name in a `from` is available.
    fn reads(&self, name: &str) -> bool {
        if is_of_request(name) {
            return self.rpc.has(name);
        }
        if let Some(value) = self.life.value(name) {
            let from = value.from.iter().all(|one| self.reads(one));
            return from && value.given.iter().all(|given| self.decides(given));
        }
        self.life.input(name).is_none_or(|input| self.finds(input))
    }

    /// Returns true if an input can be looked up.
    pub(crate) fn finds(&self, input: &Input) -> bool {
        let path = |path: &String| match path.split_once('.') {
            Some(("request", field)) => self.rpc.carries.contains(&field),
            Some((root, _)) => self.reads(root),
            None => self.reads(path),
        };
        let here = input.own != "probe" || self.rpc.node;
        let asked = atoms(input.given.as_ref()).is_empty()
            || input.given.iter().all(|given| self.decides(given));
        here && asked
            && input.from.iter().all(|one| self.reads(one))
            && input.paths.iter().all(path)
    }
}

fn is_of_request(name: &str) -> bool {
    name.split('.').next() == Some("request")
}
