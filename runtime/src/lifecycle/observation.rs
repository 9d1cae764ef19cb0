//! Observation of one reconciliation: the object, its inputs, values and answers. A driver fills it
//! in evaluation order, and generated code reads it.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::object::HasSpec;

use super::object::{ObjectRef, Stored};
use super::request::{Request, Requested};
use crate::machine::ir::Lifecycle;
use crate::machine::project::MessageParts;
use crate::machine::world::World;

/// Object whose lifecycle it is, without its status, because no decision may depend on that.
#[derive(Debug)]
pub struct This<'a, K: HasSpec> {
    /// Its metadata.
    pub meta: &'a ObjectMeta,
    /// Desired state that its author wrote.
    pub spec: &'a K::Spec,
}

impl<K: HasSpec> Clone for This<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: HasSpec> Copy for This<'_, K> {}

impl<'a, K: HasSpec + kube::Resource> This<'a, K> {
    /// The two readable halves of an object.
    pub fn new(object: &'a K) -> Self {
        Self {
            meta: object.meta(),
            spec: object.spec(),
        }
    }
}

/// Subject of a fragment: an object of any type that has a lifecycle.
pub trait Subject:
    HasSpec<Spec: Send + Sync> + kube::Resource<DynamicType = ()> + Send + Sync + 'static
{
}

impl<K> Subject for K where
    K: HasSpec<Spec: Send + Sync> + kube::Resource<DynamicType = ()> + Send + Sync + 'static
{
}

/// Key by which an input is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupKey {
    /// The object names none, or a method returned none.
    Nothing,
    /// By name, in the object's namespace where the kind has one.
    Name(String),
    /// By a set of names.
    Names(BTreeSet<String>),
    /// By a set of references.
    Refs(BTreeSet<ObjectRef>),
    /// By the values of the declared labels, in order.
    Labels(Vec<String>),
    /// By reference.
    Ref(ObjectRef),
    /// By the value of a path.
    Equal(String),
    /// All objects in the namespace, or all that the object owns, depending on the declaration.
    All,
    /// A poll or probe: objects with equal keys share it.
    Key(String),
}

/// Lookup result of one input.
#[derive(Clone, Default)]
pub enum Slot {
    /// The input is not read, because its `given` does not hold.
    #[default]
    Closed,
    /// From caches, in order of namespace and name.
    Objects(Vec<Arc<Stored>>),
    /// Of a poll or probe; `None` while unknown.
    Plain(Option<Arc<dyn Any + Send + Sync>>),
    /// Of a record that was written.
    Recorded {
        /// As its Rust type.
        value: Arc<dyn Any + Send + Sync>,
        /// As it was written.
        text: String,
    },
}

/// Subject of a reconciliation.
enum About {
    /// The object of a resource.
    Object(Arc<Stored>),
    /// The request of a call to a volume.
    Request(Arc<Requested>),
}

/// Observation of one reconciliation.
pub struct Observation {
    lifecycle: &'static Lifecycle,
    about: About,
    slots: Vec<Slot>,
    values: Vec<Option<Arc<dyn Any + Send + Sync>>>,
    /// Values made in this reconciliation that are not stored yet.
    made: BTreeSet<usize>,
    /// Inputs without a verdict of their own whose object is not ours to read.
    hidden: BTreeSet<usize>,
    /// The answers so far.
    pub world: World,
    /// Messages of the facts, by variable.
    pub sentences: Vec<Option<String>>,
    /// Until when the answers hold that the time may change, by variable.
    pub until: Vec<Option<Timestamp>>,
    /// Texts of the object at the paths that messages use.
    pub texts: Vec<Option<String>>,
}

impl Observation {
    /// Returns an empty observation, without any input or answer.
    pub fn new(lifecycle: &'static Lifecycle, this: Arc<Stored>) -> Self {
        Self::for_subject(lifecycle, About::Object(this))
    }

    /// An empty observation for a call of a volume.
    pub fn of_call(lifecycle: &'static Lifecycle, request: Arc<Requested>) -> Self {
        Self::for_subject(lifecycle, About::Request(request))
    }

    fn for_subject(lifecycle: &'static Lifecycle, about: About) -> Self {
        Self {
            lifecycle,
            about,
            slots: lifecycle.inputs.iter().map(|_| Slot::Closed).collect(),
            values: lifecycle.values.iter().map(|_| None).collect(),
            made: BTreeSet::new(),
            hidden: BTreeSet::new(),
            world: World::first(lifecycle),
            sentences: lifecycle.vars.iter().map(|_| None).collect(),
            until: lifecycle.vars.iter().map(|_| None).collect(),
            texts: lifecycle.texts.iter().map(|_| None).collect(),
        }
    }

    /// Records the result of an input.
    pub fn found(&mut self, input: usize, slot: Slot) {
        self.slots[input] = slot;
    }

    /// Hides the object of an input from all readers, because another owner has it or it is being
    /// deleted.
    pub fn hide(&mut self, input: usize) {
        self.hidden.insert(input);
    }

    /// Returns true if the object of an input is hidden from its readers.
    pub fn is_hidden(&self, input: usize) -> bool {
        self.hidden.contains(&input)
    }

    /// Notes a shared value.
    pub fn computed(&mut self, value: usize, computed: Option<Arc<dyn Any + Send + Sync>>) {
        self.values[value] = computed;
    }

    /// Records a new value that its keeper does not have.
    pub fn record_made(&mut self, value: usize, made: Option<Arc<dyn Any + Send + Sync>>) {
        if made.is_some() {
            self.made.insert(value);
        }
        self.computed(value, made);
    }

    /// Returns true if a value was made in this reconciliation: it differs from every existing
    /// value.
    pub fn is_made(&self, value: usize) -> bool {
        self.made.contains(&value)
    }

    /// Returns the observation at another time, to evaluate its facts then.
    #[must_use]
    pub fn at_time(&self, clock: Option<usize>, now: Timestamp) -> Self {
        let mut other = Self {
            lifecycle: self.lifecycle,
            about: match &self.about {
                About::Object(this) => About::Object(Arc::clone(this)),
                About::Request(request) => About::Request(Arc::clone(request)),
            },
            slots: self.slots.clone(),
            values: self.values.clone(),
            made: self.made.clone(),
            hidden: self.hidden.clone(),
            world: self.world.clone(),
            sentences: self.sentences.clone(),
            until: self.until.clone(),
            texts: self.texts.clone(),
        };
        if let Some(clock) = clock {
            other.found(clock, Slot::Plain(Some(Arc::new(now))));
        }
        other
    }

    /// The object itself, as the cache keeps it.
    ///
    /// # Panics
    /// If the observation is of a call.
    pub fn subject(&self) -> &Arc<Stored> {
        match &self.about {
            About::Object(this) => this,
            About::Request(_) => {
                unreachable!("only a reconciliation of a resource reads its object")
            }
        }
    }

    /// Returns the request of the caller of a volume.
    pub fn request(&self) -> Option<Request<'_>> {
        match &self.about {
            About::Object(_) => None,
            About::Request(request) => Some(Request::new(request)),
        }
    }

    /// Returns the lookup result of an input, usable or not.
    pub fn slot(&self, input: usize) -> &Slot {
        &self.slots[input]
    }

    /// The objects found of an input, usable or not.
    pub fn objects(&self, input: usize) -> &[Arc<Stored>] {
        match &self.slots[input] {
            Slot::Objects(objects) => objects,
            Slot::Closed | Slot::Plain(_) | Slot::Recorded { .. } => &[],
        }
    }

    /// The object without its status.
    pub fn this<K: HasSpec + kube::Resource + 'static>(&self) -> Option<This<'_, K>> {
        match &self.about {
            About::Object(this) => this.get::<K>().map(This::new),
            About::Request(_) => None,
        }
    }

    /// Returns the one object or answer of an input, if it exists and no other controller or user
    /// owns it.
    pub fn one<K: 'static>(&self, input: usize) -> Option<&K> {
        if self.is_hidden(input) || !self.lifecycle.usable(&self.world, input) {
            return None;
        }
        match &self.slots[input] {
            Slot::Objects(objects) => objects.first()?.get(),
            Slot::Plain(answer) => answer.as_ref()?.downcast_ref(),
            Slot::Recorded { value, .. } => value.downcast_ref(),
            Slot::Closed => None,
        }
    }

    /// All objects of an input.
    pub fn many<K: 'static>(&self, input: usize) -> Vec<&K> {
        self.objects(input).iter().filter_map(|o| o.get()).collect()
    }

    /// A shared value.
    pub fn value<T: 'static>(&self, value: usize) -> Option<&T> {
        self.values[value].as_ref()?.downcast_ref()
    }

    /// When the time alone may change an answer, for the first time.
    pub fn holds_until(&self) -> Option<Timestamp> {
        self.until.iter().flatten().min().copied()
    }

    /// Returns the parts from which the messages about this world are built.
    pub fn message_parts(&self) -> MessageParts<'_> {
        MessageParts {
            sentences: &self.sentences,
            texts: &self.texts,
        }
    }

    /// Returns the key of a poll about an input: the identities of its objects without their
    /// versions, or the recorded data.
    pub fn identity(&self, input: usize) -> Option<String> {
        if self.is_hidden(input) {
            return None;
        }
        match &self.slots[input] {
            Slot::Objects(objects) => {
                let uids = objects
                    .iter()
                    .map(|o| o.meta.uid.clone().unwrap_or_default());
                Some(uids.collect::<Vec<_>>().join(",")).filter(|key| !key.is_empty())
            }
            Slot::Plain(Some(answer)) => answer.downcast_ref::<String>().cloned(),
            Slot::Recorded { value, text } => {
                let plain = value.downcast_ref::<String>();
                Some(plain.unwrap_or(text).clone())
            }
            Slot::Plain(None) | Slot::Closed => None,
        }
    }
}
