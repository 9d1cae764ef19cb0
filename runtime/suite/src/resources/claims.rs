//! Promises between lifecycles that run together. Once all of them have settled, no promise is
//! open, unless its keeper visibly waits for a person.

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

/// Position of an object that should keep a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ClaimStatus {
    /// The keeper has settled in a state that claims that the promise is kept.
    Claims(String),
    /// The keeper reports that a person must act first.
    WaitsForSomebody,
    /// Neither: it is where it has not kept it, and nothing holds it up.
    Elsewhere(String),
}

/// Keeper of a promise: a lifecycle, and the settled states of its objects.
pub(crate) struct Keepers<'a> {
    pub(crate) machine: &'a Arc<dyn Machine>,
    pub(crate) last: &'a BTreeMap<ObjectRef, Last>,
}

impl Keepers<'_> {
    /// Returns the reason why an open promise is a failure, if it is one. `from` is the lifecycle
    /// to which it was made, the observation of its reconciliation, and its namespace. At the end
    /// of a run, no further change is expected.
    pub(crate) fn why_open(
        &self,
        claim: &Claim,
        from: (&dyn Machine, &Observation, Option<&str>),
        is_end: bool,
    ) -> Option<String> {
        fault(&self.claim_statuses(claim, from), is_end)
    }

    /// Formats the message about it.
    pub(crate) fn not_kept(
        &self,
        object: &dyn fmt::Display,
        promise: &str,
        (claim, why): (&Claim, &str),
    ) -> String {
        let (keeper, states) = (self.machine.ir().name, claim.states.join(" | "));
        format!("{object}: `{promise}` is open, which {keeper} keeps in {states}: {why}")
    }

    /// Returns the positions of the keepers: the object of their kind that the reconciliation has
    /// found; else those objects; else all of its namespace.
    fn claim_statuses(
        &self,
        claim: &Claim,
        (machine, observation, namespace): (&dyn Machine, &Observation, Option<&str>),
    ) -> Vec<ClaimStatus> {
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
            .map(|(other, last)| claim_status(ir, claim, other, last))
            .collect()
    }
}

impl Harness {
    /// Looks for promises between the lifecycles that are open once all of them have settled. At
    /// the end of a run, no further change is expected. Objects whose promises wait for a person
    /// may wait as well.
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
    /// Returns true if no other running lifecycle claims a promise.
    pub(crate) fn is_outside(&self, promise: &Promise) -> bool {
        self.claimed(promise).is_none()
    }
}

/// Returns true if an object waits for a promise: not while it is being deleted, nor while it is
/// set aside.
fn is_open(ir: &Lifecycle, promise: &Promise, last: &Last) -> bool {
    let aside = ir.is_suspended(last.class) || ir.is_silent(last.class);
    last.failure.is_none() && !last.deleting && !aside && last.world().holds(&promise.when)
}

type Names = BTreeSet<(Option<String>, String)>;

/// Returns the objects of a kind that a reconciliation has found, if it looks for any. Prefers the
/// objects that it found individually to those that it found as a set.
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

fn claim_status(ir: &Lifecycle, claim: &Claim, object: &ObjectRef, last: &Last) -> ClaimStatus {
    let state = match last.class {
        Class::State(state) => &ir.states[state],
        Class::Refused { .. } | Class::Contradiction => return ClaimStatus::WaitsForSomebody,
        Class::Deleting => return ClaimStatus::WaitsForSomebody,
    };
    let refused =
        |effect: &lifecycle_runtime::machine::ir::Effect| last.world().get(effect.refused) == 1;
    let told = matches!(
        state.phase,
        Phase::Error | Phase::Suspended | Phase::Ignored
    );
    if last.failure.is_some() {
        ClaimStatus::WaitsForSomebody
    } else if claim.has(state.name) {
        ClaimStatus::Claims(format!("{object} settles in {}", state.name))
    } else if told || ir.effects.iter().any(refused) {
        ClaimStatus::WaitsForSomebody
    } else {
        ClaimStatus::Elsewhere(format!("{object} settles in {}", state.name))
    }
}

/// Returns the failure of an open promise, given the positions of its keepers.
fn fault(stands: &[ClaimStatus], is_end: bool) -> Option<String> {
    let claims = stands.iter().find_map(|stand| match stand {
        ClaimStatus::Claims(text) => Some(text.clone()),
        ClaimStatus::WaitsForSomebody | ClaimStatus::Elsewhere(_) => None,
    });
    let waits = stands.contains(&ClaimStatus::WaitsForSomebody);
    if claims.is_some() || !is_end || waits {
        return claims;
    }
    let elsewhere = stands.iter().find_map(|stand| match stand {
        ClaimStatus::Elsewhere(text) => Some(text.clone()),
        ClaimStatus::Claims(_) | ClaimStatus::WaitsForSomebody => None,
    });
    Some(elsewhere.unwrap_or_else(|| "there is none".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elsewhere() -> ClaimStatus {
        ClaimStatus::Elsewhere("Site west rests in Starting".to_owned())
    }

    #[test]
    fn whoever_says_that_it_was_kept_has_kept_it_at_every_rest() {
        let claims = ClaimStatus::Claims("Site west rests in Ready".to_owned());
        for is_end in [false, true] {
            let found = fault(&[ClaimStatus::WaitsForSomebody, claims.clone()], is_end);
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
        assert_eq!(fault(&[ClaimStatus::WaitsForSomebody], true), None);
        assert_eq!(
            fault(&[elsewhere(), ClaimStatus::WaitsForSomebody], true),
            None
        );
    }
}
