//! Whose an object is: its owner references say so, and where it is retained the annotation that names who keeps it.
//! A foreign controller is never overruled, and what the garbage collector may delete with others is not taken over.

use std::sync::Arc;

use serde_json::{Value, json};

use super::plan::{Job, Owner, Plan, WriteId};
use super::{Failure, Name, Observing};
use crate::lifecycle::kept_by::KEPT_BY;
use crate::lifecycle::{KeptBy, Stored};
use crate::machine::compare::Verdict;
use crate::machine::ir::{Mode, Verb};

/// Whose an object of an owned input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Ours,
    /// Nobody owns or keeps it, and an effect may take it over.
    Nobodys,
    Others,
}

impl Observing<'_> {
    pub(super) fn whose(&self, number: usize, object: &Stored) -> Whose {
        let Some(owner) = self.owner(number) else {
            return Whose::Others;
        };
        if owner.owns(object) {
            return Whose::Ours;
        }
        let others = || {
            let owners = object.meta.owner_references.iter().flatten();
            owners.filter(|other| other.uid != owner.uid())
        };
        let controlled = others().any(|other| other.controller == Some(true));
        if !self.knows_keepers(number) || controlled {
            return Whose::Others;
        }
        let kept = KeptBy::of(&object.meta);
        if kept.as_ref().is_some_and(|kept| kept.uid == owner.uid()) {
            return Whose::Ours;
        }
        let is_free = kept.is_none_or(|kept| self.is_namesake(number, &kept));
        // What has other owners goes with them, whatever we say of it.
        let stays = others().next().is_none() && object.meta.deletion_timestamp.is_none();
        match self.adopts(number) && is_free && stays {
            true => Whose::Nobodys,
            false => Whose::Others,
        }
    }

    pub(super) fn is_ours(&self, number: usize, object: &Stored) -> bool {
        self.whose(number, object) == Whose::Ours
    }

    /// Whether the declaration takes something over.
    fn adopts(&self, number: usize) -> bool {
        let mut effects = self.ir.effects.iter();
        effects.any(|effect| effect.verb == Verb::Adopt && effect.target == number)
    }

    /// Whether the annotation counts: elsewhere nobody writes it, and what it says is nobody's business.
    fn knows_keepers(&self, number: usize) -> bool {
        let input = &self.ir.inputs[number];
        input.mode == Mode::Owned && (input.retain.is_some() || self.adopts(number))
    }

    /// Somebody else who keeps an object, where nobody controls it.
    pub(super) fn keeper(&self, number: usize, object: &Stored) -> Option<KeptBy> {
        let mut owners = object.meta.owner_references.iter().flatten();
        let is_plain = self.knows_keepers(number) && owners.next().is_none();
        KeptBy::of(&object.meta).filter(|_| is_plain)
    }

    /// Whether one of the same kind and name as our owner is meant. There is but one at a time, so unless it is ours it is gone.
    pub(super) fn is_namesake(&self, number: usize, kept: &KeptBy) -> bool {
        let called = |owner: Owner<'_>| {
            kept.is_called(&owner.kind.group, &owner.kind.kind, &owner.object.meta)
        };
        self.owner(number).is_some_and(called)
    }

    /// What an object is to say that is retained: by the policy, or because it was taken over.
    pub(super) fn kept(
        &self,
        number: usize,
        owner: &Owner<'_>,
        live: Option<&Arc<Stored>>,
    ) -> Option<KeptBy> {
        if !self.knows_keepers(number) {
            return None;
        }
        let said = live.and_then(|live| KeptBy::of(&live.meta));
        let adopted = said.is_some_and(|kept| kept.adopted && kept.uid == owner.uid());
        (adopted || self.retains(number)).then(|| owner.keeps(adopted))
    }

    fn retains(&self, number: usize) -> bool {
        let policy = self.ir.inputs[number].retain.as_ref();
        policy.is_some_and(|policy| self.observation.world.holds(policy))
    }

    /// Plans what takes an object over: it says whose it is from then on, and nothing else of it changes.
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

    /// A plan that changes of an object what its body says, and nothing else.
    pub(super) fn patching(
        &self,
        input: Option<usize>,
        live: &Arc<Stored>,
        (job, body): (Job, Value),
    ) -> Plan {
        Plan {
            input,
            name: Name::of(&live.meta),
            job,
            id: WriteId::of(&body, Some(live)),
            body,
            live: Some(Arc::clone(live)),
            manager: self.observer.naming.manager.clone(),
            replaced: Vec::new(),
            exclusive: &[],
            reads: 0,
        }
    }
}

/// A patch that makes an object ours. Others than us own it not, so that what is left of owner references is ours alone.
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

/// What is kept must not go with its owner, also where another field manager says the same reference as we did: an apply would leave it.
pub(super) fn disowned(
    owner: &Owner<'_>,
    live: &Stored,
    (mut plan, verdict): (Plan, Verdict),
) -> (Plan, Verdict) {
    let owners = live.meta.owner_references.iter().flatten();
    let (ours, others): (Vec<_>, Vec<_>) = owners.partition(|one| one.uid == owner.uid());
    if verdict != Verdict::Current || ours.is_empty() {
        return (plan, verdict);
    }
    plan.job = Job::Disown;
    plan.body = json!({ "metadata": { "ownerReferences": others } });
    let verdict = Verdict::Surplus {
        at: "metadata.ownerReferences".to_owned(),
        migrate: false,
    };
    (plan, verdict)
}
