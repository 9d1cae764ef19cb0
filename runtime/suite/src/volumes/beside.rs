//! Lifecycles of resources that run beside a driver. Each is a process of its own on the same
//! cluster, and is disturbed like the driver. If they claim promises of a volume, they keep these
//! promises themselves, and no function does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use lifecycle_csi::in_process::SeenVolume;
use lifecycle_runtime::lifecycle::{Kind, ObjectRef};
use lifecycle_runtime::machine::ir::{Lifecycle, Mode};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::deed::ManualOperation;
use crate::faults::Plan;
use crate::resources::claims::Keepers;
use crate::resources::companion::{Companion, Member};
use crate::resources::external::ExternalSystem;
use crate::resources::fixture::written_kinds;
use crate::resources::{Coverage, MakeOutside, site};

/// All of them begin with this.
const SEED: u64 = 1;
/// Interval at which the functions that keep promises outside Kubernetes check again.
const LOOKS_AGAIN: Duration = Duration::from_secs(2);
/// Quiet time after which all lifecycles count as settled.
const QUIET: Duration = Duration::from_secs(3);
/// Number of quiet times after which a lifecycle that still works counts as never settling.
const MOST_ROUNDS: u32 = 40;

/// Lifecycles as a suite has them, before a run.
#[derive(Clone)]
pub(super) struct Members {
    pub(super) all: Vec<Member>,
    /// External system of the cluster.
    pub(super) outside: MakeOutside,
}

/// The same in one run.
pub(super) struct Companions {
    companions: Vec<Companion>,
    machines: Vec<Arc<dyn lifecycle_runtime::lifecycle::Machine>>,
    keeping: JoinHandle<()>,
}

impl Members {
    /// The kinds that they write.
    pub(super) fn written(&self) -> impl Iterator<Item = Kind> {
        let kinds = self.all.iter().flat_map(|one| written_kinds(&*one.machine));
        kinds.map(|written| written.kind)
    }
}

impl Companions {
    /// Starts the lifecycles, each with its faults by its index from 1, and the functions that keep
    /// their promises outside Kubernetes.
    pub(super) fn start(
        members: &Members,
        admin: &Client,
        plan_of: impl Fn(usize) -> Plan,
    ) -> Result<Self, String> {
        let outside = (members.outside)();
        let origin = (Duration::ZERO, jiff::Timestamp::UNIX_EPOCH);
        let mut companions = Vec::new();
        for (number, member) in members.all.iter().enumerate() {
            let mut companion = Companion::new(member, admin, &outside, origin)?;
            companion.lines().0.add(plan_of(number + 1));
            // The driver writes as well, so no step is theirs alone.
            companion.observer.faulty(true);
            companion.start(SEED, admin, &outside);
            companions.push(companion);
        }
        let machines = members.all.iter().map(|one| Arc::clone(&one.machine));
        let keeping = members.all.iter().zip(&companions);
        let keeping =
            keeping.map(|(member, companion)| (member.clone(), Arc::clone(&companion.observer)));
        let keeping: Vec<_> = keeping.collect();
        let claims = members.all.iter().map(|one| one.ir.path);
        let claims: BTreeSet<&str> = claims.collect();
        let admin = admin.clone();
        let keep = async move {
            loop {
                for (member, observer) in &keeping {
                    keep(member, &observer.last(), &claims, (&admin, &outside)).await;
                }
                sleep(LOOKS_AGAIN).await;
            }
        };
        Ok(Self {
            companions,
            machines: machines.collect(),
            keeping: tokio::spawn(keep),
        })
    }

    /// Waits until all of them are idle. Returns true if that happened.
    pub(super) async fn settle(&self) -> bool {
        for _ in 0..MOST_ROUNDS {
            let before = self.activity();
            sleep(QUIET).await;
            if self.activity() == before {
                self.companions
                    .iter()
                    .for_each(|one| one.wire.mark_rested());
                return true;
            }
        }
        false
    }

    fn activity(&self) -> (u64, usize) {
        let passes = self.companions.iter().map(|one| one.observer.passes());
        (passes.sum(), self.writes().iter().sum())
    }

    /// How much each of them has written.
    pub(super) fn writes(&self) -> Vec<usize> {
        let writes = self.companions.iter().map(|one| one.lines().0.writes());
        writes.collect()
    }

    /// Returns true if all planned faults have occurred.
    pub(super) fn is_over(&self) -> bool {
        let mut left = self.companions.iter().map(|one| one.lines().0.left());
        left.all(|plan| plan.0.is_empty())
    }

    /// Returns the operations that a user could perform by hand on the current objects. The fixture
    /// gave some of these objects.
    pub(super) fn deeds(&self, given: &[Value]) -> Vec<ManualOperation> {
        let wrote = self.companions.iter().flat_map(|one| one.wire.wrote());
        let deleted = wrote.map(|(path, _)| ManualOperation::Delete(path));
        let objects = self.companions.iter().zip(&self.machines);
        let objects = objects.flat_map(|(one, machine)| {
            let kind = machine.subject();
            let kind = kind.into_iter();
            kind.flat_map(|kind| {
                let all = one.observer.last().into_keys();
                all.map(move |object| path(&kind, &object))
            })
        });
        let away = given.iter().filter(|object| self.sees(object));
        let away = away.cloned().map(ManualOperation::Away);
        deleted
            .chain(objects.map(ManualOperation::Smudge))
            .chain(away)
            .collect()
    }

    /// Returns true if one of them has found an object that it does not write.
    fn sees(&self, object: &Value) -> bool {
        let says = |at: &str, what: &str| object.pointer(at).and_then(Value::as_str) == Some(what);
        let mut all = self.companions.iter().zip(&self.machines);
        all.any(|(companion, machine)| {
            let inputs = 0..machine.ir().inputs.len();
            let mut of_kind = inputs.filter(|input| {
                let kind = machine.kind(*input);
                let is_watched = machine.ir().inputs[*input].mode == Mode::Watched;
                kind.is_some_and(|kind| {
                    is_watched
                        && says("/kind", &kind.kind)
                        && says("/apiVersion", &kind.api_version())
                })
            });
            of_kind.any(|input| {
                let last = companion.observer.last();
                let mut found = last
                    .values()
                    .flat_map(|last| last.observation.objects(input));
                found.any(|one| {
                    says(
                        "/metadata/name",
                        one.meta.name.as_deref().unwrap_or_default(),
                    )
                })
            })
        })
    }

    /// Returns the findings about the promises of a volume that they keep. At an end, no further
    /// change is expected.
    pub(super) fn open_claims(&self, seen: &SeenVolume, is_end: bool) -> Vec<String> {
        let (ir, observation) = (seen.machine.ir(), &*seen.observation);
        let open = ir
            .promises
            .iter()
            .filter(|one| observation.world.holds(&one.when));
        let claimed = open.filter_map(|promise| Some((promise, promise.claim.as_ref()?)));
        let mut found = Vec::new();
        for (promise, claim) in claimed {
            let keepers = self.companions.iter().zip(&self.machines);
            for (companion, machine) in
                keepers.filter(|(_, machine)| machine.ir().path == claim.keeper)
            {
                let last = companion.observer.last();
                let keepers = Keepers {
                    machine,
                    last: &last,
                };
                let from = (&*seen.machine, observation, None);
                if let Some(why) = keepers.why_open(claim, from, is_end) {
                    found.push(keepers.not_kept(&ir.name, promise.name, (claim, &why)));
                }
            }
        }
        found
    }

    /// Returns the worlds of their objects.
    pub(super) fn worlds(&self) -> Vec<World> {
        let all = self.companions.iter().flat_map(|one| one.observer.last());
        all.map(|(_, last)| last.world().clone()).collect()
    }

    /// Ends the lifecycles. Returns the broken rules of each lifecycle, and the coverage.
    pub(super) async fn end(mut self) -> (Vec<String>, Vec<(&'static Lifecycle, Coverage)>) {
        self.keeping.abort();
        let (mut wrong, mut seen) = (Vec::new(), Vec::new());
        for (companion, machine) in self.companions.iter_mut().zip(&self.machines) {
            companion.end().await;
            let (found, coverage) = companion.observer.take();
            let found = found.into_iter().chain(companion.wire.take_findings());
            wrong.extend(found.map(|one| format!("{}: {one}", machine.ir().name)));
            seen.push((machine.ir(), coverage));
        }
        (wrong, seen)
    }
}

fn path(kind: &Kind, object: &ObjectRef) -> String {
    format!("{}/{}", kind.path(object.namespace.as_deref()), object.name)
}

/// Keeps the promises of one of them that none of them claims.
async fn keep(
    member: &Member,
    last: &BTreeMap<ObjectRef, crate::resources::observer::Last>,
    claims: &BTreeSet<&str>,
    (admin, outside): (&Client, &Arc<dyn ExternalSystem>),
) {
    let is_outside = |claimed: Option<&str>| claimed.is_none_or(|keeper| !claims.contains(keeper));
    for promise in member.ir.promises {
        let claimed = promise.claim.as_ref().map(|claim| claim.keeper);
        let keepers = member
            .promises
            .iter()
            .filter(|(name, _)| name == promise.name);
        for (_, keeper) in keepers.filter(|_| is_outside(claimed)) {
            for last in last
                .values()
                .filter(|last| last.world().holds(&promise.when))
            {
                if let Class::State(_) = last.class
                    && let Some(object) = last.observation.subject().raw.clone()
                {
                    let site = site::Site {
                        client: admin.clone(),
                        object,
                        outside: Arc::clone(outside),
                    };
                    // A promise that cannot be kept now is tried again, and a promise that is
                    // never kept is reported.
                    let _kept = keeper(site).await.is_ok();
                }
            }
        }
    }
}
