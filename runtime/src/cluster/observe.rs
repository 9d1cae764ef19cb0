//! One pass, or one look of a call, up to its decision: looks the inputs up, answers every question, and plans the writes that effects would make.
//! Pure given its view: reads caches and memories, knows no client and no clock. What a view does not know yet ends the walk, and is named.

mod answers;
mod created;
mod groups;
mod leftovers;
mod plan;
mod records;
mod sentences;
mod sets;
mod versions;
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
use crate::machine::ir::{Call, Lifecycle, Mint, Mode, Node, Origin};
use crate::machine::policy::{Class, Decision};
use crate::naming::Naming;

/// What a pass may read beside the object itself.
pub trait View {
    /// The cached objects under these keys of an input, in order of namespace and name.
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>>;

    /// Whether it is known what is there under these keys; otherwise it must be fetched first.
    fn knows(&self, _input: usize, _keys: &BTreeSet<IndexKey>) -> bool {
        true
    }

    /// What a probe found in this look; `None` if it must be asked first.
    fn probed(&self, _input: usize, _key: &str) -> Option<Any> {
        None
    }

    /// The cached object of an input's kind with this name.
    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>>;

    /// The last answer of a poll, or a sentence that says why there is none.
    fn answer(&self, input: usize, key: &str) -> Result<Any, String>;

    /// Which answer that is; another number means that it says something else.
    fn answer_version(&self, input: usize, key: &str) -> u64;

    /// What time it is, the same throughout a pass; `None` where nothing tells.
    fn now(&self) -> Option<Timestamp> {
        None
    }

    /// What values are made from; `None` where none is.
    fn seed(&self) -> Option<Seed> {
        None
    }

    /// What a question was answered before, where it is not to be asked again: the position of the value, and the sentence.
    fn pinned(&self, _var: usize) -> Option<(u8, Option<String>)> {
        None
    }

    /// What was said when exactly this write was refused.
    fn refusal(&self, effect: usize, write: &WriteId) -> Option<String>;

    /// Whether the API server kept these very values when we last wrote these very fields.
    fn is_settled(&self, name: &Name, uid: &str, desired: u64, live: u64) -> bool;
}

/// Why a pass ended before a world was known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("{object} cannot be read: {why}; correct it, or delete it")]
    Undecodable { object: ObjectRef, why: String },
    /// The object itself, of which nothing is known then.
    #[error("it cannot be read: {0}; correct it, or delete it")]
    Unreadable(String),
    #[error("the fact `{name}` has no answer although it was asked")]
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
    #[error("`{effect}` must say the namespace of {object}, for {subject} is in none: {remedy}")]
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
    /// The reason of the condition that tells it, where no declared one does.
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

    /// Whether the declaration itself is at fault, and the checker should have said so.
    pub(crate) fn is_ruled_out(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }
}

/// What a pass saw.
pub struct Observed {
    pub observation: Arc<Observation>,
    /// What was looked for, by input.
    pub dependencies: Vec<BTreeSet<IndexKey>>,
    /// Every object that was seen or would be written: what fences are asked for.
    pub(crate) touched: BTreeSet<(usize, Name)>,
    /// The writes that each effect could make, in order.
    pub plans: Vec<Vec<Plan>>,
    /// The polls that were asked.
    pub polls: Vec<(usize, String)>,
    pub failure: Option<Failure>,
    /// The state in which we leave the object alone, so that failures do not matter.
    pub set_aside: Option<usize>,
    /// What an older version left.
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

    /// Where the object is, and what is to be done there.
    pub fn place(&self, ir: &Lifecycle) -> (Class, Decision) {
        let (world, deleting) = (&self.observation.world, self.is_deleting());
        match (&self.failure, self.set_aside) {
            (Some(_), Some(state)) => (Class::State(state), Decision::Rest),
            (Some(_), None) => (Class::Contradiction, Decision::Rest),
            (None, _) => (ir.classify(world, deleting), ir.next(world, deleting)),
        }
    }
}

/// What stays the same from pass to pass.
pub struct Observer<'a> {
    pub machine: &'a dyn Machine,
    /// `None` of a volume.
    pub subject_kind: Option<&'a Kind>,
    /// What a call does not see; `None` of a resource, which sees everything.
    pub call: Option<&'static Call>,
    pub kinds: &'a [Option<Kind>],
    pub finders: &'a [Option<Finder>],
    pub naming: &'a Naming,
    pub view: &'a dyn View,
}

impl Observer<'_> {
    /// Walks the lifecycle in evaluation order. Of an object that cannot be read nothing is asked.
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

    /// The same for a call; what it contributes to shared objects goes by the name and uid of its stand-in.
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
                Node::Input(input) => pass.look(input)?,
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

/// What a poll asks about, as a key: nothing if it was declared without one; `None` if that is missing.
fn asked(look: &LookupKey) -> Option<String> {
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
type Any = Arc<dyn std::any::Any + Send + Sync>;

/// A walk that is going on.
struct Observing<'a> {
    observer: &'a Observer<'a>,
    ir: &'static Lifecycle,
    observation: Observation,
    /// The object, or what stands for it in a call.
    subject: Arc<Stored>,
    dependencies: Vec<BTreeSet<IndexKey>>,
    touched: BTreeSet<(usize, Name)>,
    plans: Vec<Vec<Plan>>,
    polls: Vec<(usize, String)>,
}

impl Observing<'_> {
    /// Looks an input up, where its `given` holds.
    fn look(&mut self, number: usize) -> Result<(), Failure> {
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
                Slot::Plain(now.map(|now| Arc::new(now) as Any))
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
        if input.group.is_some() {
            self.hide_unreadable(number);
        }
        self.presence(number);
        Ok(())
    }

    /// The answer of a poll or probe, if there is one. Its answer is promised wherever its `given` holds, so it is asked there, of nothing if need be.
    fn ask_outside(&mut self, number: usize, look: &LookupKey) -> Result<Option<Any>, Failure> {
        let view = self.observer.view;
        let (key, in_call) = (asked(look), self.observer.call.is_some());
        if !in_call {
            let key = key.unwrap_or_default();
            let answer = view.answer(number, &key);
            self.polls.push((number, key));
            return Ok(answer.ok());
        }
        // A call asks within itself, whatever it asks; but not about a field that its request does not have.
        let Some(key) = key else {
            return Ok(None);
        };
        let known = view.probed(number, &key);
        known
            .map(Some)
            .ok_or(Failure::Unprobed { input: number, key })
    }

    /// Whether what was found is there and ours to read is known before there is a verdict on it: whoever is given it may read it.
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

    /// One of many that are only read stays what it was while it cannot be read: the others go on, and nobody takes its place. Where the declaration reads
    /// it as `Readable`, its author is told.
    fn readable(&mut self, number: usize, object: Arc<Stored>) -> Result<Arc<Stored>, Failure> {
        let name = Name::of(&object.meta);
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

    /// What is kept, or a new value where nothing is, or where it is to be made anew. What is not ours to write keeps nothing of ours.
    fn mint(&mut self, number: usize, mint: &Mint) {
        if ["Foreign", "Terminating"].contains(&self.standing(mint.keeper)) {
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
        let mut random = Random::of(&seed, number);
        let made = machine.make(&self.observation, number, &mut random);
        self.observation.made(number, made);
    }

    /// Answers a question; what is not asked has the value of the guard that does not hold.
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
                // What would not run now cannot have been refused: the checker knows no such world.
                let would_run = self.ir.permitted(&self.observation.world, effect, deleting);
                if would_run { asked } else { (0, String::new()) }
            }
            Origin::Input(input) => {
                let (value, sentence) = self.ask_input(input)?;
                (self.position(number, value), sentence)
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
        // What an older version held is held under its name until that is exchanged.
        let retired = self.ir.retired_finalizers(ours);
        let mut finalizers = finalizers.iter().flatten();
        finalizers.any(|f| f == ours || retired.contains(f))
    }

    /// A built-in value by name; those that this fact does not have mean that nothing was found.
    fn position(&self, var: usize, value: &str) -> u8 {
        let values = self.ir.vars[var].values;
        let at = values
            .iter()
            .position(|v| *v == value)
            .or_else(|| values.iter().position(|v| *v == "Absent"));
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
