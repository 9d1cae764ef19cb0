//! One run of a schedule from an empty cluster to its judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use super::Core;
use super::contract::not_a_rest;
use super::coverage::Coverage;
use super::fork::Fork;
use super::harness::Harness;
use super::invariant::{Finding, Invariant};
use super::key::WorldsKey;
use super::moves::{Fault, Move, Schedule};
use super::observer::Last;
use super::once::Creations;
use super::rest::{Rest, versions};
use super::site;
use super::tools;
use lifecycle_runtime::lifecycle::{Machine, ObjectRef};
use lifecycle_runtime::machine::ir::{FieldOf, Input, Lifecycle, Mode, StateId};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::project::Projected;

/// A refused write is tried again after about a minute.
const REFUSED_IS_OVER: Duration = Duration::from_secs(100);
/// Time within which every object is evaluated again once.
const RESYNC_IS_OVER: Duration = Duration::from_secs(4200);
/// More rounds of kept promises than this lead nowhere.
const MOST_PROMISES: usize = 8;

/// Objects that may wait, because the keeper of a promise to them waits for a person.
type Excused = BTreeSet<(usize, ObjectRef)>;

/// Start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum From {
    /// As the schedule specifies: in a new cluster, or at the end of another run.
    #[default]
    Usual,
    /// As far on the way as another run has come: only its end counts.
    Longest,
    /// In a new cluster, with one process for the whole way.
    Nothing,
}

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ask {
    pub(crate) from: From,
    /// It ends at the end of its way, to be gone on from.
    pub(crate) fork_only: bool,
    /// Request for the moves that are possible in the settled world. The value selects the places
    /// that are edited.
    pub(crate) moves: Option<usize>,
    /// True if the run stays settled for longer than a resync.
    pub(crate) long: bool,
    /// Only where it ends: it is judged by others.
    pub(crate) end_only: bool,
    /// Settled worlds that were judged before.
    pub(crate) known: Arc<BTreeSet<WorldsKey>>,
    /// Worlds in which the last move begins.
    pub(crate) before: Option<WorldsKey>,
    /// True if every settled point is kept.
    pub(crate) keep_rests: bool,
    /// Settled points of the same run on another cluster. Time cannot be skipped here, so the run
    /// waits for each of them.
    pub(crate) told: Option<Arc<Vec<Rest>>>,
}

/// How much one lifecycle wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// Writes to the API server.
    pub(crate) writes: usize,
    /// Number of writes, including those outside Kubernetes.
    pub(crate) sent: usize,
}

/// Outcome of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    /// True if every move was possible.
    pub(crate) possible: bool,
    /// Worlds of all objects after the last move.
    pub(crate) rest: WorldsKey,
    /// Worlds of all objects when all promises are kept.
    pub(crate) end: WorldsKey,
    pub(crate) moves: Vec<Move>,
    /// Writes of each lifecycle after the last calm move. The lifecycle of the suite comes first.
    pub(crate) shares: Vec<Share>,
    /// Paths of our objects that were written by then.
    pub(crate) wrote: Vec<String>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) coverage: Coverage,
    /// Kept only if the suite keeps journals.
    pub(crate) journal: String,
    /// One number over the journal.
    pub(crate) digest: u64,
    /// True if an operation planned for the middle of the run was not possible there.
    pub(crate) given_up: bool,
    /// The end of its way, if that world is not known yet.
    pub(crate) fork: Option<Arc<Fork>>,
    /// Settled points of the run, if they were requested.
    pub(crate) rests: Vec<Rest>,
}

/// Runs a schedule. With a fork, runs the part that remains after its moves.
pub(crate) async fn run(
    core: &Arc<Core>,
    schedule: &Schedule,
    ask: Ask,
    (done, from): (usize, Option<Arc<Fork>>),
) -> Result<Ran, String> {
    let mut stage = Harness::open(core, schedule.lease, from.as_deref()).await?;
    let keeps = ask.keep_rests || ask.told.is_some();
    stage.rests = keeps.then(Vec::new);
    stage.told = ask
        .told
        .as_ref()
        .map(|rests| rests.iter().cloned().collect());
    let mut ran = go(&mut stage, schedule, ask, (done, from)).await;
    ran.rests = stage.rests.take().unwrap_or_default();
    if stage.is_astray {
        // Findings after the first one carry no information.
        stage.findings.truncate(1);
        ran.findings = std::mem::take(&mut stage.findings);
    }
    stage.clear().await?;
    Ok(ran)
}

async fn go(
    stage: &mut Harness,
    schedule: &Schedule,
    ask: Ask,
    (done, from): (usize, Option<Arc<Fork>>),
) -> Ran {
    stage.settle().await;
    let mut ran = Ran {
        possible: true,
        ..Ran::default()
    };
    let disturbed = !schedule.faults.is_empty();
    let armed_at = schedule.armed_at();
    let mut before = Vec::new();
    for (number, m) in schedule.moves.iter().enumerate().skip(done) {
        if number == armed_at {
            stage.arm(&schedule.faults);
            stage.faulty(disturbed);
            if schedule.is_one_refusal() {
                let of = schedule.faults.first().map_or(0, |planned| planned.of);
                stage.observer_of(of).refusing(true);
            }
            before = stage.sent();
        }
        if *m == Move::Fair {
            stage.fair().await;
        } else if !stage.perform(m, None).await {
            ran.possible = false;
            ran.findings.clear();
            return ran;
        }
        stage.settle().await;
        if *m == Move::Tick && !disturbed {
            stage.is_up_to_date();
        }
        if !disturbed {
            stage.look_for_open_claims(false);
            stage.wires(|wire| wire.update_creations(Creations::mark_rested));
        }
    }
    ran.shares = stage.shares(&before);
    ran.wrote = stage.all_wrote().into_keys().collect();
    ran.rest = stage.key().await;
    let is_known = ask.known.contains(&ran.rest);
    if ask.fork_only || (ask.moves.is_some() && !is_known) {
        ran.fork = stage.fork().map(Arc::new);
    }
    if ask.fork_only {
        return ran;
    }
    if let Some(turn) = ask.moves {
        ran.moves = stage.possible(turn).await;
    }
    ran.given_up = stage.deed_failed | stage.disarm();
    stage.fair().await;
    let refused = |p: &super::moves::Planned| matches!(&p.fault, Fault::Line(what) if matches!(what.as_str(), "400" | "403" | "422"));
    if schedule.faults.iter().any(refused) {
        sleep(REFUSED_IS_OVER).await;
        stage.fair().await;
    }
    stage.faulty(false);
    stage.observers(|one| one.refusing(false));
    ran.end = stage.key().await;
    let excused = stage.look_for_open_claims(true);
    // A run without writes may have had nothing to observe, or may not have observed it. Only a
    // new process can distinguish the two.
    let is_quiet = ran.shares.first().is_none_or(|own| own.writes == 0);
    let is_blind = is_quiet && ask.before.as_ref() == Some(&ran.rest);
    let anew = !is_known || is_blind;
    stage.judge(&ran.end, &ask, (anew, &excused)).await;
    if !is_known && !ask.end_only {
        stage.delete_all().await;
    }
    let (seen, coverage) = stage.observer.take();
    ran.findings.clone_from(&stage.findings);
    ran.findings.extend(seen);
    stage.wires(|wire| ran.findings.extend(wire.take_findings()));
    for companion in &stage.companions {
        ran.findings.extend(companion.observer.take().0);
    }
    ran.coverage = coverage;
    ran.coverage.rights = stage.wire.used_rights();
    ran.journal = from.map_or_else(String::new, |fork| fork.journal.clone());
    ran.journal.push_str(&stage.faults.journal());
    ran.digest = digest(&ran.journal);
    ran
}

/// Returns a hash that distinguishes one journal from another.
fn digest(journal: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    journal.hash(&mut hasher);
    hasher.finish()
}

impl Harness {
    /// Lets everything happen that was promised.
    async fn fair(&mut self) {
        self.settle().await;
        for _ in 0..MOST_PROMISES {
            let mut kept = Vec::new();
            for m in self.owed() {
                // The result of a kept promise is not kept in another way at once: its first way
                // is repeated first.
                let promise = m.promise();
                let is_again = |before: &Move| before.promise() == promise;
                if promise.is_some() && kept.iter().any(is_again) {
                    continue;
                }
                if self.perform(&m, None).await {
                    kept.push(m);
                }
                self.settle().await;
            }
            if kept.is_empty() {
                return;
            }
        }
        let text = "promises are kept again and again, and it never settles";
        self.find(Invariant::Settles, text);
    }

    /// Judges a run that has settled.
    async fn judge(&mut self, end: &WorldsKey, ask: &Ask, (anew, excused): (bool, &Excused)) {
        if ask.end_only {
            return;
        }
        let irs = self.core.irs();
        for (member, ir) in irs.iter().enumerate() {
            for (object, last) in self.last_of(member) {
                if last.failure.is_some() || excused.contains(&(member, object.clone())) {
                    continue;
                }
                if let Some(why) = not_a_rest(ir, last.class, last.world()) {
                    self.find(Invariant::Settles, format!("{object}: {why}"));
                }
            }
        }
        for standing in &end.0 {
            if standing.world.is_none() {
                let kinds: BTreeSet<&str> = irs
                    .iter()
                    .flat_map(|ir| ir.inputs)
                    .map(|input| input.kind)
                    .collect();
                let kinds: Vec<&str> = kinds.into_iter().filter(|k| !k.is_empty()).collect();
                let text = format!(
                    "no reconciliation has observed {}: it waits until the cluster serves every observed kind ({}); add missing kinds with `define`",
                    standing.name,
                    kinds.join(", ")
                );
                self.find(Invariant::SeesAll, text);
            }
        }
        self.projection().await;
        self.exclusive_at_rest().await;
        self.ours_at_rest().await;
        self.kept_at_rest().await;
        let refused = end.is_refused(&irs);
        let before = self.all_writes();
        let timed = |input: &Input| input.every.is_some() || input.mode == Mode::Clock;
        let timed = irs.iter().flat_map(|ir| ir.inputs).any(timed);
        let told = ask.told.is_some();
        let versioned = if told {
            versions(self.objects().await)
        } else {
            BTreeMap::new()
        };
        let rest = if ask.long && !timed {
            RESYNC_IS_OVER
        } else {
            self.core.calm
        };
        sleep(rest).await;
        let after = self.all_writes();
        if after != before && !refused {
            let text = format!(
                "{} writes after it settled: {}",
                after - before,
                end.describe(&irs)
            );
            self.find(Invariant::QuietAtRest, text);
        }
        if told && versions(self.objects().await) != versioned {
            let text = "objects change after everything settled";
            self.find(Invariant::QuietAtRest, text);
        }
        if anew {
            self.fresh(end, refused).await;
        }
        if end.0.is_empty() {
            self.leak().await;
        }
    }

    /// A process that starts now sees the same, and has nothing to do.
    async fn fresh(&mut self, end: &WorldsKey, refused: bool) {
        let irs = self.core.irs();
        let before = self.all_writes();
        self.restart().await;
        self.settle().await;
        let sees = self.key().await;
        if sees != *end {
            let (was, is) = (end.describe(&irs), sees.describe(&irs));
            let text = format!("it saw {was}; started anew it sees {is}");
            self.find(Invariant::SeesAll, text);
        }
        let writes = self.all_writes() - before;
        if writes > 0 && !refused {
            let text = format!("{writes} writes of a process that was started anew");
            self.find(Invariant::QuietAtRest, text);
        }
    }

    /// Deletes every object of the lifecycle and checks the remaining objects.
    async fn delete_all(&mut self) {
        let kept = self.list_kept().await;
        for path in self.core.subjects() {
            if self.present.contains_key(&path) {
                self.perform(&Move::Delete(path), None).await;
                self.settle().await;
            }
        }
        self.fair().await;
        let end = self.key().await;
        if end.0.is_empty() {
            self.leak().await;
            self.check_kept(kept).await;
        } else if !end.is_refused(&self.core.irs()) && !end.waits(&self.core.irs()) {
            let still = end.describe(&self.core.irs());
            let text = format!("deleted and still there: {still}");
            self.find(Invariant::NoLeak, text);
        }
    }

    async fn leak(&mut self) {
        let own = self.wire.wrote().into_keys().map(|path| (0, path));
        let beside = self.companions.iter().enumerate().flat_map(|(n, one)| {
            let wrote = one.wire.wrote().into_keys();
            wrote.map(move |path| (n + 1, path))
        });
        for (member, path) in own.chain(beside).collect::<Vec<_>>() {
            let observer = self.observer_of(member);
            let object = site::get(&self.admin, &path).await.ok().flatten();
            // A deleted object that remains is kept by another user, such as a claim by a Pod that
            // uses it.
            let is_going = |o: &Value| !o["metadata"]["deletionTimestamp"].is_null();
            // If an object beside took over a part of this one, the part stays with its new owner.
            let left = object.filter(|o| !is_going(o) && observer.outlives(o));
            let Some(left) = left else { continue };
            if member == 0 || !self.has_owner(member, &left).await {
                self.find(Invariant::NoLeak, format!("{path} is left"));
            }
        }
        if self.observer.has_given_up() {
            return;
        }
        for line in self.outside.leftovers() {
            self.find(
                Invariant::NoLeak,
                format!("outside Kubernetes is left: {line}"),
            );
        }
    }

    /// Returns true if the owner of this object, an object of a lifecycle beside, still exists.
    async fn has_owner(&self, member: usize, object: &Value) -> bool {
        let subject = self
            .machine_of(member)
            .and_then(|machine| machine.subject());
        let Some(subject) = subject else {
            return false;
        };
        let folder = subject.path(object["metadata"]["namespace"].as_str());
        let owners = object["metadata"]["ownerReferences"].as_array();
        for owner in owners.into_iter().flatten() {
            let path = format!("{folder}/{}", owner["name"].as_str().unwrap_or_default());
            let there = site::get(&self.admin, &path).await.ok().flatten();
            if there.is_some_and(|there| there["metadata"]["uid"] == owner["uid"]) {
                return true;
            }
        }
        false
    }

    /// Checks that the settled status reports the observation of the last reconciliation.
    async fn projection(&mut self) {
        for member in 0..=self.companions.len() {
            if let Some(machine) = self.machine_of(member) {
                self.projection_of(member, &*machine).await;
            }
        }
    }

    async fn projection_of(&mut self, member: usize, machine: &dyn Machine) {
        for path in self.core.subjects() {
            let Ok(Some(object)) = site::get(&self.admin, &path).await else {
                continue;
            };
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
            let last = self.last_of(member);
            let last = last.iter().find(|(reference, _)| {
                Some(reference.name.as_str()) == text("/metadata/name")
                    && Some(reference.kind.as_str()) == text("/kind")
                    && reference.namespace.as_deref() == text("/metadata/namespace")
            });
            let Some((reference, last)) = last else {
                continue;
            };
            for why in differences(machine.ir(), machine, last, &object) {
                self.find(Invariant::Projection, format!("{reference}: {why}"));
            }
        }
    }
}

/// Returns the differences between a status and the projection of a world.
fn differences(ir: &Lifecycle, machine: &dyn Machine, last: &Last, object: &Value) -> Vec<String> {
    let Class::State(state) = last.class else {
        return Vec::new();
    };
    let status = object.get("status").unwrap_or(&Value::Null);
    if ir.kstatus && last.failure.is_none() {
        let misread = tools::misread(ir, last.class, &object["metadata"], status);
        if let Some(why) = misread {
            return vec![why];
        }
    }
    let rows = status.get("conditions").and_then(Value::as_array);
    if ir.is_suspended(last.class) {
        return Vec::from_iter(suspended(ir, state, rows));
    }
    if last.failure.is_some() || ir.is_silent(last.class) {
        return Vec::new();
    }
    let generation = object.pointer("/metadata/generation");
    let mut found = Vec::new();
    let conditions = ir.conditions(&last.observation.world, last.observation.message_parts());
    let left_out = |name: &str| conditions.iter().all(|c| c.name != name);
    for condition in ir.conditions.iter().filter(|c| left_out(c.name)) {
        let mut rows = rows.into_iter().flatten();
        if rows.any(|row| row.get("type").and_then(Value::as_str) == Some(condition.name)) {
            found.push(format!(
                "{} is there and should be left out",
                condition.name
            ));
        }
    }
    let ready = conditions.iter().find(|c| c.name == "Ready").cloned();
    for wanted in conditions {
        let mut rows = rows.into_iter().flatten();
        let row = rows.find(|row| row.get("type").and_then(Value::as_str) == Some(wanted.name));
        let Some(row) = row else {
            found.push(format!("condition {} is missing", wanted.name));
            continue;
        };
        let says = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let (status, reason) = (wanted.status.as_str(), wanted.reason.as_str());
        if (says("status"), says("reason")) != (status, reason) {
            let (s, r) = (says("status"), says("reason"));
            found.push(format!(
                "{} is {s} ({r}) and should be {status} ({reason})",
                wanted.name
            ));
        }
        if wanted.name != "Ready" && says("message") != wanted.message {
            let (is, should) = (says("message"), &wanted.message);
            found.push(format!(
                "{} reports `{is}` and should report `{should}`",
                wanted.name
            ));
        }
        if row.get("observedGeneration") != generation {
            found.push(format!("{} is of another generation", wanted.name));
        }
    }
    found.extend(wrong_fields(
        ir,
        machine,
        last,
        (state, ready.as_ref()),
        status,
    ));
    found
}

/// The fields that are not the projection of a world.
fn wrong_fields(
    ir: &Lifecycle,
    machine: &dyn Machine,
    last: &Last,
    (state, ready): (StateId, Option<&Projected>),
    status: &Value,
) -> Vec<String> {
    let mut found = Vec::new();
    let phase = ir.states[state].phase.as_str();
    let names = machine.subject().map(|kind| kind.status_names(ir.fields));
    let names = names.and_then(Result::ok).unwrap_or_default();
    for (number, (field, name)) in ir.fields.iter().zip(names).enumerate() {
        let wanted = match field.what {
            FieldOf::Phase => Some(Value::from(phase)),
            FieldOf::Method { last_reported } => {
                let value = machine
                    .field(&last.observation, number)
                    .filter(|v| !v.is_null());
                if last_reported && value.is_none() {
                    continue;
                }
                value
            }
            FieldOf::Reason => Some(match ready {
                Some(ready) => Value::from(ready.reason.as_str()),
                None => Value::from(ir.states[state].name),
            }),
            FieldOf::Message => continue,
        };
        let is = status.get(name).filter(|v| !v.is_null());
        if is != wanted.as_ref() && !(is.is_none() && wanted.as_ref().is_some_and(is_empty)) {
            let is = is.cloned().unwrap_or_default();
            let wanted = wanted.unwrap_or_default();
            found.push(format!("`{name}` is {is} and should be {wanted}"));
        }
    }
    found
}

/// Checks that the roll-up reports a suspended object. All other conditions may stay as they were.
fn suspended(ir: &Lifecycle, state: StateId, rows: Option<&Vec<Value>>) -> Option<String> {
    let name = ir.states[state].name;
    let mut rows = rows.into_iter().flatten();
    let ready = rows.find(|row| row["type"].as_str() == Some("Ready"));
    let says = |key: &str| ready.and_then(|row| row[key].as_str());
    let told = (says("status"), says("reason")) == (Some("Unknown"), Some(name));
    let may_tell = !ir.ready.from.is_empty() || ir.implicit.is_none();
    (may_tell && !told).then(|| format!("Ready is {ready:?} and should be Unknown ({name})"))
}

/// Returns true for a value that an apply leaves out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
