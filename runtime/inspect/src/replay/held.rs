//! Compares a recording with a version of its lifecycles. Each recorded reconciliation runs through
//! the code of that version, over the recorded observation.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use lifecycle_runtime::cluster::observe::Observed;
use lifecycle_runtime::machine::ir::Lifecycle;
use lifecycle_runtime::machine::policy::Class;

use crate::replay::cache::{Caches, FixedFacts, Pinned};
use crate::replay::error::Error;
use crate::replay::format::{Declared, Header, LineContent, Object, Pass, Runs, fact, fingerprint};
use crate::replay::outcomes::Outcomes;
use crate::replay::reading::{Recorded, Run};
use crate::replay::recorder::next;
use crate::replay::replayed::Replayed;
use crate::replay::told::{Difference, Fact, ReplayReport, Then, Undeclared};
use crate::text::{counted, timestamp};

/// Holds a recording against the lifecycles that `made` makes for each process that was recorded.
///
/// # Errors
/// Returns an error if the lifecycles cannot be made, or if no reconciliation belongs to them.
pub fn hold(
    recorded: &Recorded,
    mut made: impl FnMut(&Header) -> Result<Vec<Replayed>, Error>,
) -> Result<ReplayReport, Error> {
    let mut all = Holding::default();
    all.held.flaws.clone_from(&recorded.flaws);
    for (number, run) in recorded.runs.iter().enumerate() {
        let lifecycles = made(&run.header)?;
        let mut holder = Holder::new(&mut all, run, &lifecycles);
        holder.at.0 = number;
        holder.run(run);
    }
    all.finish()
}

/// Comparison so far.
#[derive(Default)]
struct Holding {
    held: ReplayReport,
    objects: BTreeSet<(String, Object)>,
    as_recorded: BTreeMap<String, usize>,
    not_held: BTreeMap<String, usize>,
    notes: BTreeSet<String>,
}

impl Holding {
    fn finish(mut self) -> Result<ReplayReport, Error> {
        let lines = |all: BTreeMap<String, usize>| {
            let lines = all.into_iter().map(|(what, passes)| {
                let passes = counted(passes, "reconciliation", "reconciliations");
                format!("{what}, in {passes}")
            });
            lines.collect::<Vec<_>>()
        };
        self.held.as_recorded = lines(self.as_recorded);
        self.held.not_held = lines(self.not_held);
        self.held.notes = self.notes.into_iter().collect();
        self.held.objects = self.objects.len();
        if self.held.passes == 0 {
            let why = self.held.notes.into_iter().chain(self.held.not_held);
            return Err(Error::Nothing(why.collect()));
        }
        Ok(self.held)
    }

    fn add_note(&mut self, note: String) {
        self.notes.insert(note);
    }

    fn not_held(&mut self, why: String) {
        *self.not_held.entry(why).or_default() += 1;
    }
}

/// Replays the recording of one process.
struct Holder<'a> {
    all: &'a mut Holding,
    caches: Caches,
    unheard: Vec<FixedFacts>,
    outcomes: Outcomes,
    began: Option<Timestamp>,
    /// Index of the process, and of the current line in it.
    at: (usize, usize),
}

impl<'a> Holder<'a> {
    fn new(all: &'a mut Holding, run: &Run, lifecycles: &[Replayed]) -> Self {
        Self {
            all,
            caches: Caches::for_lifecycles(lifecycles),
            unheard: Vec::new(),
            outcomes: Outcomes::default(),
            began: run.header.began.parse().ok(),
            at: (0, 0),
        }
    }

    fn run(mut self, run: &Run) {
        for (number, line) in run.lines.iter().enumerate() {
            self.at.1 = number;
            match &line.what {
                LineContent::Trace(_) => {}
                LineContent::Runs(runs) => self.begins(runs),
                LineContent::Object(object) => self.caches.show(object),
                LineContent::Gone(place) => self.caches.hide(place),
                LineContent::Pass(pass) => self.pass(line.ms, pass),
                LineContent::Sent(sent) => {
                    if let Some(object) = &sent.object {
                        self.outcomes.left(object, &sent.what);
                    }
                }
                LineContent::Ended(ended) => {
                    if let Some(object) = &ended.object {
                        self.outcomes.record_end(object, ended);
                    }
                }
                LineContent::Lost(count) => {
                    let note = format!("{count} lines were lost when it was recorded");
                    self.all.add_note(note);
                    self.outcomes.forget();
                }
            }
        }
    }

    fn begins(&mut self, runs: &Runs) {
        let wired = self.caches.wired.iter();
        self.unheard = wired
            .map(|one| FixedFacts::for_lifecycle(one, &runs.kinds))
            .collect();
        for Declared {
            path,
            fingerprint: then,
        } in &runs.lifecycles
        {
            let mut wired = self.caches.wired.iter();
            match wired.find(|one| one.ir.path == path) {
                None => self
                    .all
                    .add_note(format!("this version has no lifecycle `{path}`")),
                Some(one) if fingerprint(one.ir) != *then => {
                    let name = one.ir.name;
                    self.all
                        .add_note(format!("`{name}` is declared otherwise than it was"));
                }
                Some(_) => {}
            }
        }
    }

    fn pass(&mut self, ms: u64, pass: &Pass) {
        let mut wired = self.caches.wired.iter();
        let Some(number) = wired.position(|one| one.ir.path == pass.lifecycle) else {
            let path = &pass.lifecycle;
            self.all
                .not_held(format!("this version has no lifecycle `{path}`"));
            return;
        };
        let wired = &self.caches.wired[number];
        let subject = self.caches.subject(wired, &pass.object);
        let subject = subject.filter(|one| one.meta.resource_version == pass.version);
        let (Some(subject), Some(unheard)) = (subject, self.unheard.get(number)) else {
            let why = "the file does not have the object as it was seen";
            self.all.not_held(why.to_owned());
            return;
        };
        let mut pinned: Pinned = Pinned::new();
        for (var, input) in &unheard.vars {
            if let Some(value) = recorded(wired.ir, *var, pass) {
                pinned.insert(*var, value);
                let (fact, input) = (fact(wired.ir, *var), wired.ir.inputs[*input].name);
                let what = format!("`{fact}` of {}, which `{input}` decides", wired.ir.name);
                *self.all.as_recorded.entry(what).or_default() += 1;
            }
        }
        let observed = loop {
            let observed = self
                .caches
                .observe_pass(wired, (pass, &pinned), subject.clone());
            let other = others(wired.ir, &observed, pass).find_map(|var| {
                let is_open = unheard.secret.contains(&var) && !pinned.contains_key(&var);
                Some((var, recorded(wired.ir, var, pass).filter(|_| is_open)?))
            });
            let Some((var, value)) = other else {
                break observed;
            };
            pinned.insert(var, value);
            let what = format!(
                "`{}` of {}, which Secrets decide",
                fact(wired.ir, var),
                wired.ir.name
            );
            *self.all.as_recorded.entry(what).or_default() += 1;
        };
        self.compare(ms, (number, pass), &observed);
    }

    fn compare(&mut self, ms: u64, (number, pass): (usize, &Pass), observed: &Observed) {
        let wired = &self.caches.wired[number];
        let ir = wired.ir;
        let object = pass.object.described();
        let at = self.time(ms);
        let (class, decision) = observed.classify(ir);
        let state = class.name(ir);
        let next = next(ir, decision);
        let read = |besides: Option<&_>| {
            let version = |input: usize, name: &_| self.caches.version(wired, input, name);
            observed.read(ir, besides, |_, _| 0, version)
        };
        let effect = ir
            .effects
            .iter()
            .position(|effect| effect.name == pass.next);
        let of = (number, &pass.object);
        if let Some(why) = self
            .outcomes
            .check_outcome(of, (ir, observed, effect), read)
        {
            let (object, at) = (object.clone(), at.clone());
            add_undeclared(
                &mut self.all.held.undeclared,
                Undeclared { object, at, why },
            );
        }
        let facts = match (&observed.failure, &pass.failure) {
            (None, None) => facts(ir, observed, pass),
            (Some(_), _) | (_, Some(_)) => Vec::new(),
        };
        let then = |then: &str, now: &str, why: String| {
            let (then, now) = (then.to_owned(), now.to_owned());
            (then != now).then_some(Then { then, now, why })
        };
        // A recorded violation does not follow from the observation alone, so such a difference
        // does not count.
        let is_decided = pass.ruled_out.is_none();
        let difference = Difference {
            state: then(&pass.state, state, failure_reason(ir, observed, class))
                .filter(|_| is_decided),
            next: then(&pass.next, next, String::new()).filter(|_| is_decided),
            object: object.clone(),
            at: at.clone(),
            again: 0,
            facts,
            found: self.at,
        };
        if let Some(why) = pass.ruled_out.clone() {
            add_undeclared(&mut self.all.held.ruled_out, Undeclared { object, at, why });
        }
        self.all.held.passes += 1;
        let object = (pass.lifecycle.clone(), pass.object.clone());
        self.all.objects.insert(object);
        differs(&mut self.all.held.differences, difference);
    }

    fn time(&self, ms: u64) -> String {
        let Some(began) = self.began else {
            return format!("{ms} ms");
        };
        let at = began
            .checked_add(Duration::from_millis(ms))
            .unwrap_or(began);
        timestamp(at)
    }
}

fn differs(all: &mut Vec<Difference>, one: Difference) {
    if one.facts.is_empty() && one.state.is_none() && one.next.is_none() {
        return;
    }
    match all.iter_mut().find(|other| other.says_the_same(&one)) {
        Some(known) => known.again += 1,
        None => all.push(one),
    }
}

fn add_undeclared(all: &mut Vec<Undeclared>, one: Undeclared) {
    let is_known = |known: &Undeclared| (&known.object, &known.why) == (&one.object, &one.why);
    if !all.iter().any(is_known) {
        all.push(one);
    }
}

/// Returns the recorded answer of a fact, if this version knows the answer.
fn recorded(ir: &Lifecycle, var: usize, pass: &Pass) -> Option<(u8, Option<String>)> {
    let name = fact(ir, var);
    let value = pass.world.get(&name)?;
    let mut values = ir.vars[var].values.iter();
    let at = values.position(|known| known == value)?;
    Some((u8::try_from(at).ok()?, pass.says.get(&name).cloned()))
}

/// The questions that are answered otherwise.
fn others<'a>(
    ir: &'static Lifecycle,
    observed: &'a Observed,
    pass: &'a Pass,
) -> impl Iterator<Item = usize> + 'a {
    let world = &observed.observation.world;
    (0..ir.vars.len()).filter(move |var| {
        let then = pass.world.get(&fact(ir, *var));
        then.is_some_and(|then| *then != ir.value(world, *var))
    })
}

fn facts(ir: &'static Lifecycle, observed: &Observed, pass: &Pass) -> Vec<Fact> {
    let seen = &observed.observation;
    let told = |var: usize| {
        let fact = fact(ir, var);
        Fact {
            then: pass.world.get(&fact).cloned().unwrap_or_default(),
            now: ir.value(&seen.world, var).to_owned(),
            says: seen.sentences[var].clone().unwrap_or_default(),
            fact,
        }
    };
    others(ir, observed, pass).map(told).collect()
}

/// Returns the reason why there is no state.
fn failure_reason(ir: &Lifecycle, observed: &Observed, class: Class) -> String {
    match (&observed.failure, class) {
        (Some(failure), _) => failure.to_string(),
        (None, Class::Contradiction) => ir.contradiction(&observed.observation.world),
        (None, Class::State(_) | Class::Deleting | Class::Refused { .. }) => String::new(),
    }
}
