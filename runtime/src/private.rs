//! The only path that generated code may use. Nothing here is for people; it may change in any release.

pub use crate::lifecycle::builtin::{
    Adopted, Created, CreatedSet, Named, Owned, OwnedSet, Part, Polled, Shared, Watched,
};
pub use crate::lifecycle::call::{
    CallError, Called, Calling, Once, Outcome, Polling, calling, polling,
};
pub use crate::lifecycle::count::count;
pub use crate::lifecycle::declared::Declared;
pub use crate::lifecycle::lasts::Lasts;
pub use crate::lifecycle::list::{Along, Inside};
pub use crate::lifecycle::object::{Kind, Stored};
pub use crate::lifecycle::observation::{LookupKey, Observation};
pub use crate::lifecycle::request::{Capability, Segments};
pub use crate::lifecycle::scope::{named_by, owned_by};
pub use crate::lifecycle::text::Text;
pub use crate::lifecycle::wanted::Wanted;
pub use crate::lifecycle::{
    Answer, Because, Built, CreatedVolume, Desired, Machine, Noted, ObjectRef, Random, Request,
    Subject, This, Timed,
};
pub use crate::machine::circles::together;
pub use crate::machine::claims::claimed;
pub use crate::machine::ir;
pub use crate::machine::length::Said;
pub use crate::machine::world::World;
pub use jiff::Timestamp;
pub use lifecycle_macros::lifecycle;
pub use serde_json::Value as Json;

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A shared value, erased.
pub type Any = Arc<dyn std::any::Any + Send + Sync>;

/// Erases a shared value.
pub fn shared<T: Send + Sync + 'static>(value: T) -> Any {
    Arc::new(value)
}

/// A status field as JSON.
pub fn json<T: Serialize>(value: &T) -> Option<Json> {
    serde_json::to_value(value).ok()
}

/// The content of a record.
pub fn recorded<T: Serialize>(value: &T) -> Option<Built> {
    json(value).map(Built::One)
}

/// A record that was read back.
pub fn recalled<T: DeserializeOwned + Send + Sync + 'static>(recorded: &Json) -> Option<Any> {
    let value: T = serde_json::from_value(recorded.clone()).ok()?;
    Some(Arc::new(value))
}

/// Looks up by name, if there is one.
pub fn lookup_name(name: Option<String>) -> LookupKey {
    name.map_or(LookupKey::Nothing, LookupKey::Name)
}

/// Looks up by labels, if every value is present.
pub fn lookup_labels<const N: usize>(values: [Option<String>; N]) -> LookupKey {
    values
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .map_or(LookupKey::Nothing, LookupKey::Labels)
}

/// Looks up by reference, if there is one.
pub fn lookup_ref(object: Option<ObjectRef>) -> LookupKey {
    object.map_or(LookupKey::Nothing, LookupKey::Ref)
}

/// Looks up by a path in the other objects, if our object has a value.
pub fn lookup_equal(ours: Option<String>) -> LookupKey {
    ours.map_or(LookupKey::Nothing, LookupKey::Equal)
}

/// Looks up by the result of another input. Looks up nothing if that input finds nothing.
pub fn lookup_about(found: Option<String>) -> LookupKey {
    LookupKey::Key(found.unwrap_or_default())
}

/// Looks up a poll by several keys: two lookups are equal if each key is. A missing key counts as a
/// key as well.
pub fn lookup_keys<const N: usize>(keys: [Option<String>; N]) -> LookupKey {
    LookupKey::Key(serde_json::Value::from_iter(keys).to_string())
}

/// Looks up by the key of a poll, if there is one.
pub fn lookup_key(key: Option<String>) -> LookupKey {
    key.map_or(LookupKey::Nothing, LookupKey::Key)
}
