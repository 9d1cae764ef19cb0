//! What one pass sees: the object, its inputs, values and answers, filled in evaluation order by a driver and read by generated code.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::object::HasSpec;

use super::object::{ObjectRef, Stored};
use crate::machine::ir::Lifecycle;
use crate::machine::world::World;

/// The object whose lifecycle it is, without its status: nothing may be decided from that.
#[derive(Debug)]
pub struct This<'a, K: HasSpec> {
    /// Its metadata.
    pub meta: &'a ObjectMeta,
    /// What its author wants.
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
    pub fn of(object: &'a K) -> Self {
        Self {
            meta: object.meta(),
            spec: object.spec(),
        }
    }
}

/// What an input is looked up by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The object names none, or a method returned none.
    Nothing,
    /// By name, in the object's namespace where the kind has one.
    Name(String),
    /// By a set of names.
    Names(BTreeSet<String>),
    /// By the values of the declared labels, in order.
    Labels(Vec<String>),
    /// By reference.
    Ref(ObjectRef),
    /// By the value of a path.
    Equal(String),
    /// Everything in the namespace, or everything that the object owns: the declaration says which.
    All,
    /// A poll or probe: objects with equal keys share it.
    Key(String),
}

/// What was found of one input.
#[derive(Clone, Default)]
pub enum Slot {
    /// Not looked at: its `given` does not hold.
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

/// The observation of one pass.
pub struct Board {
    lifecycle: &'static Lifecycle,
    this: Arc<Stored>,
    slots: Vec<Slot>,
    values: Vec<Option<Arc<dyn Any + Send + Sync>>>,
    /// The answers so far.
    pub world: World,
    /// What the facts said, by variable.
    pub sentences: Vec<Option<String>>,
}

impl Board {
    /// An empty board: nothing looked at, nothing answered.
    pub fn new(lifecycle: &'static Lifecycle, this: Arc<Stored>) -> Self {
        Self {
            lifecycle,
            this,
            slots: lifecycle.inputs.iter().map(|_| Slot::Closed).collect(),
            values: lifecycle.values.iter().map(|_| None).collect(),
            world: World::first(lifecycle),
            sentences: lifecycle.vars.iter().map(|_| None).collect(),
        }
    }

    /// Notes what was found of an input.
    pub fn found(&mut self, input: usize, slot: Slot) {
        self.slots[input] = slot;
    }

    /// Notes a shared value.
    pub fn computed(&mut self, value: usize, computed: Option<Arc<dyn Any + Send + Sync>>) {
        self.values[value] = computed;
    }

    /// The object itself, as the cache keeps it.
    pub fn subject(&self) -> &Arc<Stored> {
        &self.this
    }

    /// What was found of an input, usable or not.
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
        self.this.get::<K>().map(This::of)
    }

    /// The one object or answer of an input, where it is there and is not somebody else's.
    pub fn one<K: 'static>(&self, input: usize) -> Option<&K> {
        if !self.lifecycle.usable(&self.world, input) {
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

    /// The key of a poll that asks about an input: which objects, not which versions of them; or what was recorded.
    pub fn identity(&self, input: usize) -> Option<String> {
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
