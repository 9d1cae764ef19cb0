//! Evaluation of one reconcile, or of one observation of a call, up to its decision. It looks the
//! inputs up, evaluates every fact, and plans the writes that effects would make. Pure given its
//! view: reads caches and memories, knows no client and no clock. A key that the view does not know
//! yet ends the walk, and the failure names it.

mod answers;
mod created;
mod groups;
mod leftovers;
mod plan;
mod records;
mod sentences;
mod sets;
mod versions;
mod wanted;
mod whose;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
pub use leftovers::Leftover;
pub use plan::{Job, Plan, WriteId};

use super::index::{Finder, IndexKey};
use super::store::Name;
use crate::lifecycle::observation::Slot;
use crate::lifecycle::random::{Random, Seed};
use crate::lifecycle::{Kind, LookupKey, Machine, ObjectRef, Observation, Requested, Stored};
use crate::machine::ir::{Call, Lifecycle, Mint, Mode, Node, Origin, StateId};
use crate::machine::policy::{Class, Decision};
use crate::machine::verdict::Verdict;
use crate::naming::Naming;

/// Data that a reconcile may read besides the object itself.
pub trait View {
    /// The cached objects under these keys of an input, in order of namespace and name.
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>>;

    /// Returns true if the objects under these keys of an input are known. Otherwise they must be
    /// fetched first.
    fn knows(&self, _input: usize, _keys: &BTreeSet<IndexKey>) -> bool {
        true
    }

    /// Returns the answer of a probe in this observation, or `None` if the probe must be queried
    /// first.
    fn probed(&self, _input: usize, _key: &str) -> Option<ErasedAnswer> {
        None
    }

    /// The cached object of an input's kind with this name.
    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>>;

    /// Returns the last answer of a poll, or a sentence that explains its absence.
    fn answer(&self, input: usize, key: &str) -> Result<ErasedAnswer, String>;

    /// Returns the version of that answer. A different number means a different answer.
    fn answer_version(&self, input: usize, key: &str) -> u64;

    /// Returns the current time, which is constant throughout a reconcile. Returns `None` if there
    /// is no clock.
    fn now(&self) -> Option<Timestamp> {
        None
    }

    /// Returns the seed of minted values, or `None` if no value is minted.
    fn seed(&self) -> Option<Seed> {
        None
    }

    /// Returns the earlier answer of a fact that must not be evaluated again: the position of the
    /// value, and the sentence.
    fn pinned(&self, _var: usize) -> Option<(u8, Option<String>)> {
        None
    }

    /// Returns the message with which exactly this write was refused.
    fn refusal(&self, effect: usize, write: &WriteId) -> Option<String>;

    /// Returns true if the API server kept these very values when we last wrote these very fields.
    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool;
}

/// Reason why a reconciliation ended before its world was known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{object} cannot be read: {why}; correct it, or delete it")]
    Undecodable { object: ObjectRef, why: String },
    /// The object itself is unreadable, so nothing is known about it.
    #[error("it cannot be read: {0}; correct it, or delete it")]
    Unreadable(String),
    #[error("fact `{name}` was evaluated but has no value")]
    Unanswered { name: &'static str },
    #[error("`{effect}` must build {expected} and built {built}")]
    OtherObject {
        effect: &'static str,
        expected: Box<ObjectRef>,
        built: String,
    },
    #[error(
        "{object} would be owned by {owner} of another namespace, and the garbage collector would delete it: put it into namespace `{namespace}`, or declare `{input}` as `part`"
    )]
    OwnerElsewhere {
        object: Box<ObjectRef>,
        input: &'static str,
        owner: Box<ObjectRef>,
        namespace: String,
    },
    #[error("`{effect}` must set the namespace of {object}, because {subject} has none: {remedy}")]
    NoNamespace {
        effect: &'static str,
        object: Box<ObjectRef>,
        subject: String,
        remedy: String,
    },
    #[error("{input} is not fetched yet")]
    Unfetched {
        input: usize,
        keys: BTreeSet<IndexKey>,
    },
    #[error("{input} is not probed yet")]
    Unprobed { input: usize, key: String },
}

impl Failure {
    /// Returns the reason of the condition that reports the failure, unless a declared one does.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::Undecodable { .. } | Self::Unfetched { .. } | Self::Unprobed { .. } => {
                "InputUnreadable"
            }
            Self::OtherObject { .. } | Self::OwnerElsewhere { .. } | Self::NoNamespace { .. } => {
                "BuildFailed"
            }
            Self::Unanswered { .. } => "OutOfOrder",
            Self::Unreadable(_) => "Undecodable",
        }
    }

    /// Returns true if the declaration itself is at fault, and the checker should have reported it.
    pub(crate) fn is_ruled_out(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }
}

/// Result of an observation.
pub struct Observed {
    pub observation: Arc<Observation>,
    /// Keys that were looked up, by input.
    pub dependencies: Vec<BTreeSet<IndexKey>>,
    /// Every object that was read or would be written. Fences are checked for these objects.
    pub(crate) touched: BTreeSet<(usize, Name)>,
    /// The writes that each effect could make, in order.
    pub plans: Vec<Vec<Plan>>,
    /// Polls that were queried.
    pub polls: Vec<(usize, String)>,
    pub failure: Option<Failure>,
    /// State in which the object is left unchanged, so that failures do not matter.
    pub set_aside: Option<StateId>,
    /// Leftovers of an older version.
    pub(crate) leftovers: Vec<Leftover>,
}

impl Observed {
    /// Nothing but that nothing could be seen.
    fn failed(ir: &Lifecycle, observation: Observation, failure: Failure) -> Self {
        Self {
            dependencies: vec![BTreeSet::new(); ir.inputs.len()],
            touched: BTreeSet::new(),
            plans: ir.effects.iter().map(|_| Vec::new()).collect(),
            polls: Vec::new(),
            failure: Some(failure),
            set_aside: None,
            leftovers: Vec::new(),
            observation: Arc::new(observation),
        }
    }

    pub fn is_deleting(&self) -> bool {
        self.observation.subject().meta.deletion_timestamp.is_some()
    }

    /// Returns the class of the object, and the decision for it.
    pub fn classify(&self, ir: &Lifecycle) -> (Class, Decision) {
        let (world, deleting) = (&self.observation.world, self.is_deleting());
        match (&self.failure, self.set_aside) {
            (Some(_), Some(state)) => (Class::State(state), Decision::Rest),
            (Some(_), None) => (Class::Contradiction, Decision::Rest),
            (None, _) => (ir.classify(world, deleting), ir.next(world, deleting)),
        }
    }
}

/// Parts of the observation that stay constant from one reconcile to the next.
pub struct Observer<'a> {
    pub machine: &'a dyn Machine,
    /// `None` of a volume.
    pub subject_kind: Option<&'a Kind>,
    /// Call that is observed, which does not see everything; `None` of a resource, which sees
    /// everything.
    pub call: Option<&'static Call>,
    pub kinds: &'a [Option<Kind>],
    pub finders: &'a [Option<Finder>],
    pub naming: &'a Naming,
    pub view: &'a dyn View,
}

impl Observer<'_> {
    /// Walks the lifecycle in evaluation order. For an unreadable object, no fact is evaluated.
    pub fn observe(&self, subject: Arc<Stored>) -> Observed {
        let mut observation = Observation::new(self.machine.ir(), Arc::clone(&subject));
        if let Err(why) = &subject.decoded {
            let failure = Failure::Unreadable(why.clone());
            return Observed::failed(self.machine.ir(), observation, failure);
        }
        let texts = 0..observation.texts.len();
        observation.texts = texts
            .map(|path| self.machine.text(&observation, path))
            .collect();
        self.walk(observation, subject)
    }

    /// Observes for a call. Its contributions to shared objects use the name and uid of the
    /// stand-in.
    pub fn observe_call(&self, request: Arc<Requested>, stand_in: Arc<Stored>) -> Observed {
        self.walk(Observation::of_call(self.machine.ir(), request), stand_in)
    }

    fn walk(&self, observation: Observation, subject: Arc<Stored>) -> Observed {
        let ir = self.machine.ir();
        let mut pass = Observing {
            observer: self,
            ir,
            observation,
            subject,
            dependencies: vec![BTreeSet::new(); ir.inputs.len()],
            touched: BTreeSet::new(),
            plans: ir.effects.iter().map(|_| Vec::new()).collect(),
            polls: Vec::new(),
        };
        let mut nodes = 0;
        let walked = ir.order.iter().try_for_each(|node| {
            match *node {
                Node::Input(input) => pass.observe_input(input)?,
                Node::Value(value) => pass.compute(value)?,
                Node::Var(var) => pass.answer(var)?,
            }
            nodes += 1;
            Ok(())
        });
        pass.note_reads();
        let leftovers = pass.leftovers(walked.is_err());
        let lives = pass.subject.meta.deletion_timestamp.is_none();
        let knows = lives && ir.knows_set_aside(nodes);
        Observed {
            set_aside: knows
                .then(|| ir.set_aside(&pass.observation.world))
                .flatten(),
            observation: Arc::new(pass.observation),
            dependencies: pass.dependencies,
            touched: pass.touched,
            plans: pass.plans,
            polls: pass.polls,
            failure: walked.err(),
            leftovers,
        }
    }
}

/// Returns the key of a poll: empty if the poll was declared without a key, `None` if the key is
/// missing.
fn poll_key(look: &LookupKey) -> Option<String> {
    match look {
        LookupKey::Key(key) => Some(key.clone()),
        LookupKey::All => Some(String::new()),
        LookupKey::Nothing
        | LookupKey::Name(_)
        | LookupKey::Names(_)
        | LookupKey::Refs(_)
        | LookupKey::Labels(_)
        | LookupKey::Ref(_)
        | LookupKey::Equal(_) => None,
    }
}

/// An answer, erased.
type ErasedAnswer = Arc<dyn std::any::Any + Send + Sync>;

/// A walk that is going on.
struct Observing<'a> {
    observer: &'a Observer<'a>,
    ir: &'static Lifecycle,
    observation: Observation,
    /// The object, or its stand-in in a call.
    subject: Arc<Stored>,
    dependencies: Vec<BTreeSet<IndexKey>>,
    touched: BTreeSet<(usize, Name)>,
    plans: Vec<Vec<Plan>>,
    polls: Vec<(usize, String)>,
}

impl Observing<'_> {
    /// Looks an input up, where its `given` holds.
    fn observe_input(&mut self, number: usize) -> Result<(), Failure> {
        let input = &self.ir.inputs[number];
        let world = &self.observation.world;
        let unseen = |call: &Call| call.unseen_inputs.contains(&number);
        if self.observer.call.is_some_and(unseen)
            || input.given.as_ref().is_some_and(|g| !world.holds(g))
        {
            return Ok(());
        }
        let machine = self.observer.machine;
        let look = machine
            .lookup(&self.observation, number)
            .unwrap_or(LookupKey::Nothing);
        let slot = match (input.mode, &look) {
            (Mode::Poll | Mode::Probe, _) => Slot::Plain(self.ask_outside(number, &look)?),
            (Mode::Clock, _) => {
                let now = self.observer.view.now();
                Slot::Plain(now.map(|now| Arc::new(now) as ErasedAnswer))
            }
            (Mode::Record, _) => self.recall(number)?,
            (Mode::Noted, _) => self.recall_noted(number)?,
            // Its members are looked up by themselves.
            (Mode::Group, _) => Slot::Objects(Vec::new()),
            (Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part, _) => {
                Slot::Objects(self.find(number, &look)?)
            }
        };
        self.observation.found(number, slot);
        if input.group.is_some() || input.only_if.is_some() {
            self.hide_unreadable(number);
        }
        self.presence(number);
        Ok(())
    }

    /// Returns the answer of a poll or probe, if available. The answer is promised wherever its
    /// `given` holds. The poll is therefore queried there even with an empty key.
    fn ask_outside(
        &mut self,
        number: usize,
        look: &LookupKey,
    ) -> Result<Option<ErasedAnswer>, Failure> {
        let view = self.observer.view;
        let (key, in_call) = (poll_key(look), self.observer.call.is_some());
        if !in_call {
            let key = key.unwrap_or_default();
            let answer = view.answer(number, &key);
            self.polls.push((number, key));
            return Ok(answer.ok());
        }
        // A call queries within itself, except about a field that its request lacks.
        let Some(key) = key else {
            return Ok(None);
        };
        let known = view.probed(number, &key);
        known
            .map(Some)
            .ok_or(Failure::Unprobed { input: number, key })
    }

    /// Sets the presence of an input before its verdict is known. Presence means that the object
    /// exists and is ours to read. Anything that receives the input may read it.
    fn presence(&mut self, number: usize) {
        let Some(var) = self.ir.inputs[number].var else {
            return;
        };
        let value = self.position(var, self.standing(number));
        self.observation.world.set(var, value);
    }

    fn find(&mut self, number: usize, look: &LookupKey) -> Result<Vec<Arc<Stored>>, Failure> {
        let Some(finder) = &self.observer.finders[number] else {
            return Ok(Vec::new());
        };
        let keys = finder.keys_for(&self.subject, look);
        let keys: BTreeSet<IndexKey> = keys.into_iter().collect();
        if !self.observer.view.knows(number, &keys) {
            return Err(Failure::Unfetched {
                input: number,
                keys,
            });
        }
        let named = keys.iter().filter_map(|key| match key {
            IndexKey::Named(name) => Some((number, name.clone())),
            IndexKey::Of(..) => None,
        });
        self.touched.extend(named);
        let objects = self.observer.view.find(number, &keys);
        self.dependencies[number] = keys;
        objects
            .into_iter()
            .map(|object| self.readable(number, object))
            .collect()
    }

    /// Returns a readable version of an object. One of many that are only read keeps its last
    /// version while it cannot be read. The others go on, and none takes its place. If the
    /// declaration reads it as `Readable`, its author receives the error.
    fn readable(&mut self, number: usize, object: Arc<Stored>) -> Result<Arc<Stored>, Failure> {
        let name = Name::from_meta(&object.meta);
        let input = &self.ir.inputs[number];
        let stays = input.many && input.mode == Mode::Watched;
        let tolerates = input.mode == Mode::Watched && self.kind(number).is_tolerant();
        let readable = match (&object.decoded, &object.before) {
            (Ok(_), _) => object,
            (Err(_), _) if tolerates => object,
            (Err(_), Some(before)) if stays => Arc::clone(before),
            (Err(why), _) => {
                return Err(Failure::Undecodable {
                    object: self.reference(number, &name),
                    why: why.clone(),
                });
            }
        };
        self.touched.insert((number, name));
        Ok(readable)
    }

    fn compute(&mut self, number: usize) -> Result<(), Failure> {
        let value = &self.ir.values[number];
        let world = &self.observation.world;
        if value.given.as_ref().is_none_or(|g| world.holds(g)) {
            match &value.mint {
                Some(mint) => self.mint(number, mint),
                None => {
                    let computed = self.observer.machine.value(&self.observation, number);
                    self.observation.computed(number, computed);
                }
            }
        }
        Ok(())
    }

    /// Reads the kept value. Makes a new value if none is kept, or if a new one is required. An
    /// object that is not ours to write keeps no value of ours.
    fn mint(&mut self, number: usize, mint: &Mint) {
        if matches!(
            self.standing(mint.keeper),
            Verdict::Foreign | Verdict::Terminating
        ) {
            return;
        }
        let (machine, world) = (self.observer.machine, &self.observation.world);
        let is_over = mint.until.as_ref().is_some_and(|until| world.holds(until));
        let kept = || machine.value(&self.observation, number);
        if let Some(kept) = (!is_over).then(kept).flatten() {
            self.observation.computed(number, Some(kept));
            return;
        }
        let Some(seed) = self.observer.view.seed() else {
            return;
        };
        let mut random = Random::for_value(&seed, number);
        let made = machine.make(&self.observation, number, &mut random);
        self.observation.record_made(number, made);
    }

    /// Evaluates a fact. A fact that is not evaluated gets the value of the guard that does not
    /// hold.
    fn answer(&mut self, number: usize) -> Result<(), Failure> {
        let var = &self.ir.vars[number];
        if let Some((value, sentence)) = self.observer.view.pinned(number) {
            self.observation.world.set(number, value);
            self.observation.sentences[number] = sentence;
            return Ok(());
        }
        let world = &self.observation.world;
        if let Some(guard) = var.given.iter().find(|g| !world.holds(&g.pred)) {
            self.observation.world.set(number, guard.otherwise);
            return Ok(());
        }
        if self
            .observer
            .call
            .is_some_and(|call| call.unseen_vars.contains(&number))
        {
            return Ok(());
        }
        let (value, sentence) = match var.origin {
            Origin::Deleting => (
                u8::from(self.subject.meta.deletion_timestamp.is_some()),
                String::new(),
            ),
            Origin::Claimed => (u8::from(self.is_claimed()), String::new()),
            Origin::Refused(effect) => {
                let deleting = self.subject.meta.deletion_timestamp.is_some();
                let asked = self.ask_refused(effect);
                // An effect that would not run now cannot have been refused, because the checker
                // knows no such world.
                let would_run = self.ir.permitted(&self.observation.world, effect, deleting);
                if would_run { asked } else { (0, String::new()) }
            }
            Origin::Input(input) => {
                let (verdict, sentence) = self.ask_input(input)?;
                (self.position(number, verdict), sentence)
            }
            Origin::Fact if var.timed => {
                let answer = self.observer.machine.timed(&self.observation, number);
                let answer = answer.ok_or(Failure::Unanswered { name: var.name })?;
                self.observation.until[number] = answer.until;
                (answer.because.value, answer.because.sentence)
            }
            Origin::Fact => {
                let answer = self.observer.machine.fact(&self.observation, number);
                let answer = answer.ok_or(Failure::Unanswered { name: var.name })?;
                (answer.value, answer.sentence)
            }
        };
        self.observation.world.set(number, value);
        self.observation.sentences[number] = Some(sentence).filter(|s| !s.is_empty());
        Ok(())
    }

    fn is_claimed(&self) -> bool {
        let finalizers = &self.subject.meta.finalizers;
        let ours = &self.observer.naming.finalizer;
        // Resources held by an older version stay held under its finalizer until that is replaced.
        let retired = self.ir.retired_finalizers(ours);
        let mut finalizers = finalizers.iter().flatten();
        finalizers.any(|f| f == ours || retired.contains(f))
    }

    /// Position of a verdict; those that this fact does not have mean that nothing was found.
    fn position(&self, var: usize, verdict: Verdict) -> u8 {
        let values = self.ir.vars[var].values.iter();
        let find = |verdict: Verdict| values.clone().position(|v| *v == verdict.as_str());
        let at = find(verdict).or_else(|| find(Verdict::Absent));
        u8::try_from(at.unwrap_or_default()).unwrap_or_default()
    }

    fn reference(&self, input: usize, name: &Name) -> ObjectRef {
        name.of_kind(self.kind(input))
    }
}

#[cfg(test)]
mod counted;
#[cfg(test)]
mod ignored;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod owners;
#[cfg(test)]
mod polled;
#[cfg(test)]
mod referred;
#[cfg(test)]
mod revised;
#[cfg(test)]
mod scope;
#[cfg(test)]
mod tests;
