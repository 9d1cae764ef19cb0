//! Ownership of an object. Its owner references decide; for a retained object, the annotation that
//! names its keeper decides. A foreign controller is never overruled. An object that the garbage
//! collector may delete with its other owners is not adopted.

use std::sync::Arc;

use serde_json::{Value, json};

use super::plan::{Job, Owner, Plan, WriteId};
use super::{Failure, Name, Observing};
use crate::lifecycle::kept_by::KEPT_BY;
use crate::lifecycle::{KeptBy, Stored};
use crate::machine::compare::Comparison;
use crate::machine::ir::{Mode, Verb};

/// Ownership of an object of an owned input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    Ours,
    /// The object has no owner or keeper, and an effect may adopt it.
    Nobodys,
    Others,
}

impl Observing<'_> {
    pub(super) fn ownership(&self, number: usize, object: &Stored) -> Ownership {
        let Some(owner) = self.owner(number) else {
            return Ownership::Others;
        };
        if owner.owns(object) {
            return Ownership::Ours;
        }
        let others = || {
            let owners = object.meta.owner_references.iter().flatten();
            owners.filter(|other| other.uid != owner.uid())
        };
        let controlled = others().any(|other| other.controller == Some(true));
        if !self.knows_keepers(number) || controlled {
            return Ownership::Others;
        }
        let kept = KeptBy::from_meta(&object.meta);
        if kept.as_ref().is_some_and(|kept| kept.uid == owner.uid()) {
            return Ownership::Ours;
        }
        let is_free = kept.is_none_or(|kept| self.is_namesake(number, &kept));
        // An object with other owners is deleted with them, regardless of our annotations.
        let stays = others().next().is_none() && object.meta.deletion_timestamp.is_none();
        match self.adopts(number) && is_free && stays {
            true => Ownership::Nobodys,
            false => Ownership::Others,
        }
    }

    pub(super) fn is_ours(&self, number: usize, object: &Stored) -> bool {
        self.ownership(number, object) == Ownership::Ours
    }

    /// Returns true if the declaration adopts objects of the input.
    fn adopts(&self, number: usize) -> bool {
        let mut effects = self.ir.effects.iter();
        effects.any(|effect| effect.verb == Verb::Adopt && effect.target == number)
    }

    /// Returns true if the annotation counts for an input. For other inputs it is never written,
    /// and its content is ignored.
    fn knows_keepers(&self, number: usize) -> bool {
        let input = &self.ir.inputs[number];
        input.mode == Mode::Owned && (input.retain.is_some() || self.adopts(number))
    }

    /// Returns another owner that keeps an object without a controller.
    pub(super) fn keeper(&self, number: usize, object: &Stored) -> Option<KeptBy> {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_plain = self.knows_keepers(number) && owners.next().is_none();
        KeptBy::from_meta(&object.meta).filter(|_| is_plain)
    }

    /// Returns true if the keeper has the kind and name of our owner. Only one such object exists
    /// at a time, so a keeper that is not our owner is gone.
    pub(super) fn is_namesake(&self, number: usize, kept: &KeptBy) -> bool {
        let called = |owner: Owner<'_>| {
            kept.is_called(&owner.kind.group, &owner.kind.kind, &owner.object.meta)
        };
        self.owner(number).is_some_and(called)
    }

    /// Returns the keeper annotation of an object that is retained: by the policy, or because it
    /// was adopted.
    pub(super) fn desired_keeper(
        &self,
        number: usize,
        owner: &Owner<'_>,
        live: Option<&Arc<Stored>>,
    ) -> Option<KeptBy> {
        if !self.knows_keepers(number) {
            return None;
        }
        let said = live.and_then(|live| KeptBy::from_meta(&live.meta));
        let adopted = said.is_some_and(|kept| kept.adopted && kept.uid == owner.uid());
        (adopted || self.retains(number)).then(|| owner.keeps(adopted))
    }

    fn retains(&self, number: usize) -> bool {
        let policy = self.ir.inputs[number].retain.as_ref();
        policy.is_some_and(|policy| self.observation.world.holds(policy))
    }

    /// Plans the adoption of an object. It sets the new owner and changes nothing else.
    pub(super) fn plan_adopt(
        &mut self,
        number: usize,
        name: &Name,
        live: &Arc<Stored>,
    ) -> Result<(), Failure> {
        self.owner_is_near(number, name)?;
        let effects = self.ir.effects.iter().enumerate();
        let adopts = effects.filter(|(_, e)| e.verb == Verb::Adopt && e.target == number);
        let adopts: Vec<(usize, bool)> = adopts.map(|(at, e)| (at, e.keeps)).collect();
        for (effect, keeps) in adopts {
            let Some(owner) = self.owner(number) else {
                continue;
            };
            let stays = keeps || self.retains(number);
            let body = taken_over(&owner, live, stays.then(|| owner.keeps(keeps)));
            let plan = self.patching(Some(number), live, (Job::Adopt, body));
            self.plans[effect].push(plan);
        }
        self.touched.insert((number, name.clone()));
        Ok(())
    }

    /// Returns a plan that patches an object with its body, and changes nothing else.
    pub(super) fn patching(
        &self,
        input: Option<usize>,
        live: &Arc<Stored>,
        (job, body): (Job, Value),
    ) -> Plan {
        Plan {
            input,
            name: Name::from_meta(&live.meta),
            job,
            id: WriteId::new(&body, Some(live)),
            body,
            live: Some(Arc::clone(live)),
            manager: self.observer.naming.manager.clone(),
            replaced: Vec::new(),
            exclusive: &[],
            reads: 0,
        }
    }
}

/// Returns a patch that adopts an object. It has no other owners, so the remaining owner references
/// are ours alone.
fn taken_over(owner: &Owner<'_>, live: &Stored, kept: Option<KeptBy>) -> Value {
    let mut meta = json!({ "annotations": { KEPT_BY: kept.as_ref().map(KeptBy::text) } });
    let has_owners = live.meta.owner_references.iter().flatten().next().is_some();
    match kept {
        None => meta["ownerReferences"] = json!([owner.reference()]),
        Some(_) if has_owners => meta["ownerReferences"] = json!([]),
        Some(_) => {}
    }
    json!({ "metadata": meta })
}

/// Plans the removal of our owner reference from a retained object, because the object must not go
/// with its owner. This holds also if another field manager set the same reference as we did: an
/// apply would leave it.
pub(super) fn disowned(
    owner: &Owner<'_>,
    live: &Stored,
    (mut plan, comparison): (Plan, Comparison),
) -> (Plan, Comparison) {
    let owners = live.meta.owner_references.iter().flatten();
    let (ours, others): (Vec<_>, Vec<_>) = owners.partition(|one| one.uid == owner.uid());
    if comparison != Comparison::Current || ours.is_empty() {
        return (plan, comparison);
    }
    plan.job = Job::Disown;
    plan.body = json!({ "metadata": { "ownerReferences": others } });
    let comparison = Comparison::Surplus {
        at: "metadata.ownerReferences".to_owned(),
        migrate: false,
    };
    (plan, comparison)
}
