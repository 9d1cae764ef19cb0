//! Return values of builders: the fields that we want to own, as JSON, so that fields unknown to a
//! Rust type survive.

use std::marker::PhantomData;

use serde::Serialize;
use serde_json::Value;

/// The desired fields of an object of kind `K`.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired<K> {
    fields: Value,
    kind: PhantomData<fn() -> K>,
}

/// Return value of the builder of an effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Built {
    /// Of an effect on one object.
    One(Value),
    /// Of an effect on a set: all members, in order.
    Each(Vec<Value>),
    /// Desired members of an effect on a group, in order. `None` for a member that must not exist.
    Group(Vec<Option<Value>>),
}

impl<K: Serialize> From<K> for Desired<K> {
    fn from(object: K) -> Self {
        Self::from_object(&object)
    }
}

impl<K: Serialize> Desired<K> {
    /// Every field that is set in the object.
    pub fn from_object(object: &K) -> Self {
        let fields = serde_json::to_value(object)
            .expect("a Kubernetes object has string keys and serialises");
        Self {
            fields,
            kind: PhantomData,
        }
    }
}

impl<K> Desired<K> {
    /// Fields as they are.
    pub fn from_json(fields: Value) -> Self {
        Self {
            fields,
            kind: PhantomData,
        }
    }

    /// The fields.
    pub fn as_json(&self) -> &Value {
        &self.fields
    }

    /// The fields, to change them.
    pub fn as_json_mut(&mut self) -> &mut Value {
        &mut self.fields
    }

    /// As the driver takes it.
    pub fn into_built(self) -> Built {
        Built::One(self.fields)
    }

    /// As the driver takes it of a member of a group.
    pub fn into_member(self) -> Value {
        self.fields
    }

    /// A set as the driver takes it.
    pub fn into_built_each(all: Vec<Self>) -> Built {
        Built::Each(all.into_iter().map(|d| d.fields).collect())
    }
}
