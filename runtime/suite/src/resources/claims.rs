//! Promises between lifecycles that run together: where all of them rest, none is open, unless whoever is to keep it visibly waits for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::Core;
use super::harness::Harness;
use super::invariant::Invariant;
use super::observer::Last;
use lifecycle_runtime::lifecycle::{Kind, Machine, ObjectRef, Observation, Stored};
use lifecycle_runtime::machine::ir::{Claim, Lifecycle, Phase, Promise};
use lifecycle_runtime::machine::policy::Class;

/// What an object that is to keep a promise does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stand {
    /// It rests where it says that it has kept it.
    Claims(String),
    /// Somebody must act first, which it tells.
    WaitsForSomebody,
    /// Neither: it is where it has not kept it, and nothing holds it up.
    Elsewhere(String),
}

/// Whoever keeps a promise: a lifecycle, and where its objects rest.
pub(crate) struct Keepers<'a> {
    pub(crate) machine: &'a Arc<dyn Machine>,
    pub(crate) last: &'a BTreeMap<ObjectRef, Last>,
}

impl Keepers<'_> {
    /// What is wrong about a promise that is open, if something is; `from` is the lifecycle that it was made to, what its pass saw, and the
    /// namespace that it is in. At the end of a run nothing is to come any more.
    pub(crate) fn why_open(
        &self,
        claim: &Claim,
        from: (&dyn Machine, &Observation, Option<&str>),
        is_end: bool,
    ) -> Option<String> {
        fault(&self.stands(claim, from), is_end)
    }

    /// What is told of it.
    pub(crate) fn not_kept(
        &self,
        object: &dyn fmt::Display,
        promise: &str,
        (claim, why): (&Claim, &str),
    ) -> String {
        let (keeper, states) = (self.machine.ir().name, claim.states.join(" | "));
        format!("{object}: `{promise}` is open, which {keeper} keeps in {states}: {why}")
    }

    /// What those do that are to keep it: the one of their kind that the pass has found, else those, else all of its namespace.
    fn stands(
        &self,
        claim: &Claim,
        (machine, observation, namespace): (&dyn Machine, &Observation, Option<&str>),
    ) -> Vec<Stand> {
        let kind = self.machine.subject();
        let found = kind.and_then(|kind| found(machine, observation, &kind));
        let theirs = self.last.iter().filter(|(other, _)| match &found {
            Some(found) => found.contains(&(other.namespace.clone(), other.name.clone())),
            None => {
                namespace.is_none()
                    || other.namespace.is_none()
                    || other.namespace.as_deref() == namespace
            }
        });
        let ir = self.machine.ir();
        theirs
            .map(|(other, last)| stand(ir, claim, other, last))
            .collect()
    }
}

impl Harness {
    /// Looks for promises between the lifecycles that are open where all of them rest; at the end of a run nothing is to come any more. Objects
    /// whose promises wait for a person may wait as well.
    pub(crate) fn look_for_open_claims(&mut self, is_end: bool) -> BTreeSet<(usize, ObjectRef)> {
        let mut excused = BTreeSet::new();
        let core = Arc::clone(&self.core);
        for (member, machine) in core.machines().enumerate() {
            for promise in machine.ir().promises {
                let (Some(keeper), Some(claim)) = (core.claimed(promise), &promise.claim) else {
                    continue;
                };
                for (object, last) in self.last_of(member) {
                    if !is_open(machine.ir(), promise, &last) {
                        continue;
                    }
                    let keeper = Keepers {
                        machine: core
                            .machines()
                            .nth(keeper)
                            .expect("it was found among them"),
                        last: &self.last_of(keeper),
                    };
                    let from = (&**machine, &*last.observation, object.namespace.as_deref());
                    match keeper.why_open(claim, from, is_end) {
                        Some(why) => {
                            let called = core.called(member, promise);
                            let text = keeper.not_kept(&object, &called, (claim, &why));
                            self.find(Invariant::ClaimsKept, text);
                        }
                        None => {
                            excused.insert((member, object));
                        }
                    }
                }
            }
        }
        excused
    }
}

impl Core {
    /// Whether a promise is anybody's but that of a lifecycle that runs as well.
    pub(crate) fn is_outside(&self, promise: &Promise) -> bool {
        self.claimed(promise).is_none()
    }
}

/// Whether an object waits for a promise: not while it goes, nor while it is set aside.
fn is_open(ir: &Lifecycle, promise: &Promise, last: &Last) -> bool {
    let aside = ir.is_suspended(last.class) || ir.is_silent(last.class);
    last.failure.is_none() && !last.deleting && !aside && last.world().holds(&promise.when)
}

type Names = BTreeSet<(Option<String>, String)>;

/// The objects of a kind that a pass has found, if it looks for any: those that it found by themselves, else those that it found as a set.
fn found(machine: &dyn Machine, observation: &Observation, kind: &Kind) -> Option<Names> {
    let ir = machine.ir();
    let is_of = |input: &usize| {
        let own = machine.kind(*input);
        own.is_some_and(|own| own.api_version() == kind.api_version() && own.kind == kind.kind)
    };
    let inputs = (0..ir.inputs.len()).filter(is_of);
    let (sets, single): (Vec<_>, Vec<_>) = inputs.partition(|input| ir.inputs[*input].many);
    let names = |inputs: &[usize]| -> Names {
        let objects = inputs.iter().flat_map(|input| observation.objects(*input));
        let name = |object: &Arc<Stored>| {
            let meta = &object.meta;
            (
                meta.namespace.clone(),
                meta.name.clone().unwrap_or_default(),
            )
        };
        objects.map(name).collect()
    };
    match (single.as_slice(), sets.as_slice()) {
        ([], []) => None,
        ([], sets) => Some(names(sets)),
        (single, _) => Some(names(single)),
    }
}

fn stand(ir: &Lifecycle, claim: &Claim, object: &ObjectRef, last: &Last) -> Stand {
    let state = match last.class {
        Class::State(state) => &ir.states[state],
        Class::Refused { .. } | Class::Contradiction => return Stand::WaitsForSomebody,
        Class::Deleting => return Stand::WaitsForSomebody,
    };
    let refused =
        |effect: &lifecycle_runtime::machine::ir::Effect| last.world().get(effect.refused) == 1;
    let told = matches!(
        state.phase,
        Phase::Error | Phase::Suspended | Phase::Ignored
    );
    if last.failure.is_some() {
        Stand::WaitsForSomebody
    } else if claim.has(state.name) {
        Stand::Claims(format!("{object} rests in {}", state.name))
    } else if told || ir.effects.iter().any(refused) {
        Stand::WaitsForSomebody
    } else {
        Stand::Elsewhere(format!("{object} rests in {}", state.name))
    }
}

/// What is wrong with an open promise, given what those do that are to keep it.
fn fault(stands: &[Stand], is_end: bool) -> Option<String> {
    let claims = stands.iter().find_map(|stand| match stand {
        Stand::Claims(text) => Some(text.clone()),
        Stand::WaitsForSomebody | Stand::Elsewhere(_) => None,
    });
    let waits = stands.contains(&Stand::WaitsForSomebody);
    if claims.is_some() || !is_end || waits {
        return claims;
    }
    let elsewhere = stands.iter().find_map(|stand| match stand {
        Stand::Elsewhere(text) => Some(text.clone()),
        Stand::Claims(_) | Stand::WaitsForSomebody => None,
    });
    Some(elsewhere.unwrap_or_else(|| "there is none".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elsewhere() -> Stand {
        Stand::Elsewhere("Site west rests in Starting".to_owned())
    }

    #[test]
    fn whoever_says_that_it_was_kept_has_kept_it_at_every_rest() {
        let claims = Stand::Claims("Site west rests in Ready".to_owned());
        for is_end in [false, true] {
            let found = fault(&[Stand::WaitsForSomebody, claims.clone()], is_end);
            assert_eq!(found.as_deref(), Some("Site west rests in Ready"));
        }
    }

    #[test]
    fn whoever_is_on_its_way_has_time_until_the_end() {
        assert_eq!(fault(&[elsewhere()], false), None);
        assert_eq!(
            fault(&[elsewhere()], true).as_deref(),
            Some("Site west rests in Starting")
        );
        assert_eq!(fault(&[], false), None);
        assert_eq!(fault(&[], true).as_deref(), Some("there is none"));
    }

    #[test]
    fn whoever_waits_for_a_person_is_excused() {
        assert_eq!(fault(&[Stand::WaitsForSomebody], true), None);
        assert_eq!(fault(&[elsewhere(), Stand::WaitsForSomebody], true), None);
    }
}
