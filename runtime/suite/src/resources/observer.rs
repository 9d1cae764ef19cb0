//! Observer of a running operator. Keeps the last reconciliation of each object, and checks each
//! step of a quiet run against the declaration.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::coverage::Coverage;
use super::early::{early, time_was_over};
use super::external::ExternalSystem;
use super::fixture::text;
use super::invariant::{Finding, Invariant};
use super::keeper;
use super::{Witness, tools};
use lifecycle_runtime::controller::{Passed, Trace, TraceEvent, Written};
use lifecycle_runtime::lifecycle::{Machine, ObjectRef, Observation};
use lifecycle_runtime::machine::ir::{Abandoned, Effect, Lifecycle, Mode, Origin};
use lifecycle_runtime::machine::policy::{Class, Decision};
use lifecycle_runtime::machine::verdict::Verdict;
use lifecycle_runtime::machine::world::World;
use lifecycle_simulator::server::Server;

/// So soon others see a write.
const MOMENT: Duration = Duration::from_millis(10);

/// Result of the last reconciliation of an object.
#[derive(Clone)]
pub(crate) struct Last {
    pub(crate) uid: String,
    pub(crate) observation: Arc<Observation>,
    pub(crate) class: Class,
    pub(crate) deleting: bool,
    pub(crate) failure: Option<String>,
    /// Id of the process that ran it.
    start: u64,
    /// The effect that it decided for, and how that ended.
    effect: Option<(usize, Option<&'static str>)>,
    /// True if something else happened since, so the next step is attributed to no lifecycle.
    disturbed: bool,
}

impl Last {
    pub(crate) fn world(&self) -> &World {
        &self.observation.world
    }
}

#[derive(Default)]
struct History {
    last: BTreeMap<ObjectRef, Last>,
    /// Every uid that may be an owner, and true if it belongs to an object of the kind.
    uids: BTreeMap<String, bool>,
    findings: Vec<Finding>,
    coverage: Coverage,
    passes: u64,
    /// Time at which a write of an object's reconciliation last left or ended.
    wrote: BTreeMap<ObjectRef, Instant>,
    /// How many processes have started.
    starts: u64,
    /// Number of writes that reconciliations have sent and that have not arrived.
    allowed: usize,
    /// True while another user acts, so that reconciliations observe that user's changes.
    adversary: bool,
    /// True while requests fail or are delayed. Steps are then not checked.
    faulty: bool,
    /// True if the only fault is one refused write, which the lifecycle must remember.
    refusing: bool,
    changes_at_call: u64,
    /// Something was left behind that cannot be given back.
    given_up: bool,
}

/// The observer of one run.
pub(crate) struct Observer {
    ir: &'static Lifecycle,
    machine: Arc<dyn Machine>,
    outside: Arc<dyn ExternalSystem>,
    seen: Mutex<History>,
    /// Witness that also receives each reconciliation, and the server that it receives with it.
    witness: Option<(Witness, Server)>,
}

impl Observer {
    pub(crate) fn new(machine: Arc<dyn Machine>, outside: Arc<dyn ExternalSystem>) -> Self {
        Self {
            ir: machine.ir(),
            machine,
            outside,
            seen: Mutex::new(History::default()),
            witness: None,
        }
    }

    /// Adds a witness of each reconciliation.
    pub(crate) fn with_witness(self, witness: Option<(Witness, Server)>) -> Self {
        Self { witness, ..self }
    }

    /// Returns every uid seen so far that may be an owner, and true if it belongs to an object of
    /// the kind.
    pub(crate) fn uids(&self) -> BTreeMap<String, bool> {
        self.seen().uids.clone()
    }

    /// These were seen before the run began.
    pub(crate) fn go_on_from(&self, uids: BTreeMap<String, bool>) {
        self.seen().uids = uids;
    }

    /// Sets whether another user acts during the reconciliations from now on.
    pub(crate) fn adversary(&self, acts: bool) {
        self.seen().adversary = acts;
    }

    /// Sets whether requests fail or come late. While they do, steps are not checked against the
    /// declaration.
    pub(crate) fn faulty(&self, faulty: bool) {
        let mut seen = self.seen();
        if std::mem::replace(&mut seen.faulty, faulty) != faulty {
            seen.disturb();
        }
    }

    /// Sets whether the only fault is one refused write.
    pub(crate) fn refusing(&self, refusing: bool) {
        self.seen().refusing = refusing;
    }

    /// Records that something happened in several steps. A reconciliation may have observed only
    /// some of them.
    pub(crate) fn disturb(&self) {
        self.seen().disturb();
    }

    /// Records the start of a process, which has no memory. Pending writes of the previous process
    /// no longer arrive.
    pub(crate) fn starts(&self) {
        let mut seen = self.seen();
        seen.allowed = 0;
        seen.starts += 1;
        seen.disturb();
    }

    /// How many processes have started: each makes other values by chance.
    pub(crate) fn started(&self) -> u64 {
        self.seen().starts
    }

    /// Records a write that arrives. Returns true if a reconciliation had sent it.
    pub(crate) fn arrives(&self) -> bool {
        let mut seen = self.seen();
        let allowed = seen.allowed > 0;
        seen.allowed = seen.allowed.saturating_sub(1);
        allowed
    }

    /// Returns true if something was left behind as the declaration permits.
    pub(crate) fn has_given_up(&self) -> bool {
        self.seen().given_up
    }

    pub(crate) fn passes(&self) -> u64 {
        self.seen().passes
    }

    /// Returns true if the newest process has reconciled every object.
    pub(crate) fn has_looked(&self) -> bool {
        let seen = self.seen();
        seen.last.values().all(|last| last.start == seen.starts)
    }

    pub(crate) fn last(&self) -> BTreeMap<ObjectRef, Last> {
        self.seen().last.clone()
    }

    /// Forgets objects that are no more.
    pub(crate) fn keep(&self, is_there: impl Fn(&ObjectRef, &str) -> bool) {
        self.seen()
            .last
            .retain(|object, last| is_there(object, &last.uid));
    }

    /// Returns true if an object has an owner reference to a current or former lifecycle object, or
    /// to one that owns on its behalf. Also returns true if an existing object of the lifecycle
    /// keeps it.
    pub(crate) fn owns(&self, object: &Value) -> bool {
        let kept = || {
            let kept = keeper::keeper(object);
            let controlled = keeper::owners(object).any(|(_, controls)| controls);
            kept.is_some_and(|kept| !controlled && self.is_there(&kept.uid))
        };
        self.owners(object).next().is_some() || kept()
    }

    /// Returns true if this is the uid of a current or former owner.
    pub(crate) fn knows(&self, uid: &str) -> bool {
        self.seen().uids.contains_key(uid)
    }

    /// Returns true if this is the uid of a lifecycle object that the last reconciliations saw.
    pub(crate) fn is_there(&self, uid: &str) -> bool {
        self.seen().last.values().any(|last| last.uid == uid)
    }

    /// Returns true if an object must be gone when the objects of the lifecycle are gone.
    pub(crate) fn outlives(&self, object: &Value) -> bool {
        self.owners(object).any(|is_of_kind| is_of_kind)
    }

    fn owners(&self, object: &Value) -> impl Iterator<Item = bool> + use<> {
        let seen = self.seen();
        let owners = object.pointer("/metadata/ownerReferences");
        let owners = owners.and_then(Value::as_array).into_iter().flatten();
        let found = owners.filter_map(|o| seen.uids.get(&text(o, "/uid")?).copied());
        found.collect::<Vec<_>>().into_iter()
    }

    pub(crate) fn promised(&self, promise: usize) {
        self.seen().coverage.promises.insert(promise);
    }

    pub(crate) fn take(&self) -> (Vec<Finding>, Coverage) {
        let mut seen = self.seen();
        (
            std::mem::take(&mut seen.findings),
            std::mem::take(&mut seen.coverage),
        )
    }

    fn seen(&self) -> MutexGuard<'_, History> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl History {
    fn disturb(&mut self) {
        for last in self.last.values_mut() {
            last.disturbed = true;
        }
    }

    fn find(&mut self, invariant: Invariant, text: String) {
        self.findings.push(Finding::new(invariant, text));
    }

    fn passed(&mut self, ir: &Lifecycle, pass: &Passed<'_>) {
        let meta = &pass.observation.subject().meta;
        let uid = meta.uid.clone().unwrap_or_default();
        self.passes += 1;
        self.uids.insert(uid.clone(), true);
        for owner in ir.inputs.iter().filter_map(|input| input.owner) {
            for object in pass.observation.objects(owner) {
                let uid = object.meta.uid.clone().unwrap_or_default();
                self.uids.entry(uid).or_default();
            }
        }
        if pass.failure.is_none() {
            self.coverage.world(ir, &pass.observation.world, pass.class);
            if let Some(ruled_out) = &pass.ruled_out {
                self.find(Invariant::KnownWorld, ruled_out.clone());
            }
            self.reads_back(ir, pass);
        }
        let before = self.last.remove(pass.object).filter(|l| l.uid == uid);
        self.saw_step(ir, before.as_ref(), pass);
        if let Some(before) = before.as_ref().filter(|_| ir.kstatus && !self.adversary) {
            self.read_by_tools(ir, before, pass);
        }
        if let Some(before) = before.as_ref().filter(|_| self.refusing) {
            self.remembers(ir, before, pass);
        }
        let is_step = |l: &Last| !l.disturbed && l.failure.is_none() && pass.failure.is_none();
        let quiet = !self.adversary && !self.faulty && !self.is_crowded(pass.object);
        let ours = |l: &Last| is_step(l) && !time_was_over(ir, &l.observation, pass.observation);
        if let Some(before) = before.filter(|l| quiet && ours(l)) {
            self.step(ir, &before, pass);
        }
        let deleting = meta.deletion_timestamp.is_some();
        if let Decision::Effect(effect) = pass.next
            && !ir.permitted(&pass.observation.world, effect, deleting)
        {
            let (name, world) = (ir.effects[effect].name, pass.observation.world.describe(ir));
            let text = format!("`{name}` runs in {world}, where it is not permitted");
            self.find(Invariant::Permitted, text);
        }
        if deleting && pass.failure.is_none() {
            self.check_deletion(ir, pass);
        }
        let effect = match pass.next {
            Decision::Effect(effect) => Some((effect, None)),
            Decision::Claim | Decision::Release | Decision::Rest => None,
        };
        let last = Last {
            uid,
            observation: Arc::clone(pass.observation),
            class: pass.class,
            deleting,
            failure: pass.failure.clone(),
            start: self.starts,
            effect,
            disturbed: self.faulty,
        };
        self.last.insert(pass.object.clone(), last);
    }

    /// Checks the teardown of an object. Its stages end one after the other, and then the cleanup
    /// runs. The object stays until nothing is left, or the cleanup is abandoned.
    fn check_deletion(&mut self, ir: &Lifecycle, pass: &Passed<'_>) {
        let world = &pass.observation.world;
        let here = || world.describe(ir);
        let open = ir
            .steps
            .iter()
            .position(|step| world.evaluate(&step.until, ir) != Some(true));
        let gives_up = |one: &Abandoned| world.evaluate(&one.when, ir) == Some(true);
        let name = |step: usize| ir.effects[ir.steps[step].effect].name;
        match (pass.next, open) {
            (Decision::Effect(effect), Some(open)) if ir.steps[open].effect != effect => {
                let (runs, open) = (ir.effects[effect].name, name(open));
                let text = format!("`{runs}` runs while step `{open}` is not over: {}", here());
                self.find(Invariant::InOrder, text);
            }
            (Decision::Release, Some(open)) if !ir.abandoned.iter().any(gives_up) => {
                let text = format!(
                    "the object goes, and step `{}` is not over: {}",
                    name(open),
                    here()
                );
                self.find(Invariant::InOrder, text);
            }
            (Decision::Release, _) if ir.is_left(world) => self.given_up = true,
            (Decision::Effect(_) | Decision::Claim | Decision::Release | Decision::Rest, _) => {}
        }
    }

    /// Checks a status that was written since the last reconciliation, which is that
    /// reconciliation's report. A tool that reads it must not consider the object done too early.
    fn read_by_tools(&mut self, ir: &Lifecycle, before: &Last, pass: &Passed<'_>) {
        let (was, is) = (status(&before.observation), status(pass.observation));
        let lived = before.start == self.starts && !before.disturbed && before.failure.is_none();
        if was == is || !lived || before.deleting {
            return;
        }
        let meta =
            serde_json::json!({ "generation": before.observation.subject().meta.generation });
        if let Some(why) = tools::misread(ir, before.class, &meta, &is) {
            let text = format!("{}: {why}", pass.object);
            self.find(Invariant::Projection, text);
        }
    }

    /// Checks that a keeper in its desired state holds the value that it keeps. Otherwise each
    /// reconciliation would create the value again.
    fn reads_back(&mut self, ir: &Lifecycle, pass: &Passed<'_>) {
        let observation = pass.observation;
        for (number, value) in ir.values.iter().enumerate() {
            let keeper = value.mint.as_ref().map(|mint| &ir.inputs[mint.keeper]);
            let Some((name, var)) = keeper.and_then(|input| Some((input.name, input.var?))) else {
                continue;
            };
            let verdict = ir.verdict_in(&observation.world, var);
            let is_current = verdict == Some(Verdict::Current);
            if is_current && observation.is_made(number) {
                let minted = value.name;
                let text = format!("`{minted}` is not read back from `{name}`, which is as wanted");
                self.find(Invariant::ReadBack, text);
            }
        }
    }

    /// Checks that the next reconciliation remembers a refused write in the world in which it was
    /// refused.
    fn remembers(&mut self, ir: &Lifecycle, before: &Last, pass: &Passed<'_>) {
        let lived = before.start == self.starts && before.failure.is_none();
        let Some((number, Some("refused"))) = before.effect.filter(|_| lived) else {
            return;
        };
        let (was, is) = (before.world(), &pass.observation.world);
        let effect = &ir.effects[number];
        // Of several objects the others are written still.
        if ir.inputs[effect.target].many {
            return;
        }
        let mut others = (0..ir.vars.len()).filter(|var| *var != effect.refused);
        let same = pass.failure.is_none() && others.all(|var| was.get(var) == is.get(var));
        // If something has changed since, a different write is allowed.
        let same = same && sees_the_same(&before.observation, pass.observation, ir.inputs.len());
        if same && is.get(effect.refused) == 0 {
            let why = format!("`{}` was refused, and counts as another write", effect.name);
            self.find(Invariant::Accepted, why);
        }
    }

    /// Records a transition. A declared transition counts no matter which actor caused it. Other
    /// checks cover the transitions that are forbidden in a disturbed run.
    fn saw_step(&mut self, ir: &Lifecycle, before: Option<&Last>, pass: &Passed<'_>) {
        let read = before.filter(|l| l.failure.is_none() && pass.failure.is_none());
        let lived = read.filter(|l| l.start == self.starts);
        let Some(lived) = lived else {
            return;
        };
        let after = (&pass.observation.world, pass.class);
        let steps = ir.transitions_between((lived.world(), lived.class), after);
        let declared = steps.into_iter().filter(|(from, to)| ir.leads(*from, *to));
        self.coverage.edges.extend(declared);
    }

    /// Checks that no write is sent for an object that another controller manages. A suspended
    /// object gets status updates and events, and no other write.
    fn sends(&mut self, ir: &Lifecycle, object: &ObjectRef, what: Written) {
        let suspended = |last: &Last| !last.deleting && ir.is_suspended(last.class);
        let tells = matches!(what, Written::Status | Written::Event);
        if !tells && self.last.get(object).is_some_and(suspended) {
            let text = format!("{object} is suspended, and {what:?} is written for it");
            self.find(Invariant::HandsOff, text);
        }
        let silent = |last: &Last| !last.deleting && ir.is_silent(last.class);
        if self.last.get(object).is_some_and(silent) {
            let text = format!("{object} is another controller's, and {what:?} is written for it");
            self.find(Invariant::HandsOff, text);
        }
    }

    fn wrote(&mut self, object: Option<&ObjectRef>) {
        if let Some(object) = object {
            self.wrote.insert(object.clone(), Instant::now());
        }
    }

    /// Returns true if a reconciliation of another object wrote a moment ago. The current
    /// observation may then stem from that write.
    fn is_crowded(&self, object: &ObjectRef) -> bool {
        let mut others = self.wrote.iter().filter(|(other, _)| *other != object);
        others.any(|(_, at)| at.elapsed() < MOMENT)
    }

    /// Holds one step of a quiet run against the declaration.
    fn step(&mut self, ir: &Lifecycle, before: &Last, pass: &Passed<'_>) {
        let (was, is) = (before.world(), &pass.observation.world);
        if let Some((number, how)) = before.effect {
            let effect = &ir.effects[number];
            if was_answered(ir, effect, (was, is)) {
                return;
            }
            match how {
                Some("done") => {
                    if let Some(why) = ir.not_an_outcome(effect, was, is) {
                        self.find(Invariant::DeclaredOutcome, why);
                    }
                }
                Some("refused") if is.get(effect.refused) == 0 => {
                    let why = format!(
                        "`{}` was refused, but the world does not show it",
                        effect.name
                    );
                    self.find(Invariant::Accepted, why);
                }
                Some("later") => {
                    let why = format!("`{}` failed although nothing was in its way", effect.name);
                    self.find(Invariant::Accepted, why);
                }
                Some(_) | None => {}
            }
        }
        let forgot = (0..ir.vars.len()).any(|var| {
            matches!(ir.vars[var].origin, Origin::Refused(_))
                && was.get(var) == 1
                && is.get(var) == 0
        });
        if forgot {
            return;
        }
        for (from, to) in ir.transitions_between((was, before.class), (is, pass.class)) {
            self.coverage.edges.insert((from, to));
            // Who declares no transitions leaves them open.
            let part = ir.states[from].region;
            let mut edges = ir.edges.iter();
            let declares = edges.any(|edge| ir.states[edge.from].region == part);
            if declares && !ir.leads(from, to) {
                let (from, to) = (ir.states[from].name, ir.states[to].name);
                let (was, is) = (was.describe(ir), is.describe(ir));
                let text = format!("{from} -> {to}: from {was} to {is}");
                self.find(Invariant::DeclaredTransition, text);
            }
        }
    }

    fn record_outcome(&mut self, object: Option<&ObjectRef>, what: Written, how: &'static str) {
        let (Written::Effect(effect) | Written::Call(effect)) = what else {
            return;
        };
        *self.coverage.effects.entry((effect, how)).or_default() += 1;
        let last = object.and_then(|object| self.last.get_mut(object));
        if let Some(last) = last
            && last.effect == Some((effect, None))
        {
            last.effect = Some((effect, Some(how)));
        }
    }
}

/// Returns true if a poll gained or lost its answer during an effect that does not affect that
/// poll. No declared outcome of the effect describes the combined change.
fn was_answered(ir: &Lifecycle, effect: &Effect, (was, is): (&World, &World)) -> bool {
    let polls = ir.inputs.iter().filter(|input| input.mode == Mode::Poll);
    let mut asked = polls.filter_map(|input| input.var);
    asked.any(|var| was.get(var) != is.get(var) && !effect.affects.contains(&var))
}

fn status(observation: &Observation) -> Value {
    let raw = observation.subject().raw.as_deref();
    raw.map(|raw| raw["status"].clone()).unwrap_or_default()
}

/// Returns true if two reconciliations saw the same versions of all objects that they looked up.
fn sees_the_same(before: &Observation, now: &Observation, inputs: usize) -> bool {
    let versions = |seen: &Observation, input: usize| -> Vec<_> {
        let objects = seen.objects(input).iter();
        let version = objects.map(|o| (o.meta.uid.clone(), o.meta.resource_version.clone()));
        version.collect()
    };
    (0..inputs).all(|input| versions(before, input) == versions(now, input))
}

impl Trace for Observer {
    fn saw(&self, moment: &TraceEvent<'_>) {
        if let (TraceEvent::Passed(pass), Some((witness, server))) = (moment, &self.witness) {
            witness(pass, server);
        }
        let mut seen = self.seen();
        match moment {
            TraceEvent::Passed(pass) => {
                for text in early(&*self.machine, pass.observation) {
                    seen.find(Invariant::HoldsUntil, text);
                }
                seen.passed(self.ir, pass);
            }
            TraceEvent::Sent { object, what } => {
                if let Some(object) = object {
                    seen.sends(self.ir, object, *what);
                }
                match what {
                    Written::Call(_) => seen.changes_at_call = self.outside.changes(),
                    Written::Effect(_)
                    | Written::Status
                    | Written::Event
                    | Written::Claim
                    | Written::Release
                    | Written::Leftover => seen.allowed += 1,
                }
                seen.wrote(*object);
            }
            TraceEvent::Ended {
                object, what, how, ..
            } => {
                if let Written::Call(effect) = what {
                    let changes = self.outside.changes() - seen.changes_at_call;
                    if changes > 1 {
                        let name = self.ir.effects[*effect].name;
                        let text = format!("`{name}` made {changes} changes in one call");
                        seen.find(Invariant::OneWrite, text);
                    }
                }
                seen.wrote(*object);
                seen.record_outcome(*object, *what, how);
            }
        }
    }
}
