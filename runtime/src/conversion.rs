//! Conversion of one kind between several versions of its API. The author gives two functions for
//! each older version, and a webhook answers with them. An annotation keeps everything that one
//! version cannot express of another, so that it comes back. Pure: knows no socket and no client.

mod kept;
mod review;

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use kube::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub use review::Unanswered;

use crate::lifecycle::decode::decode;

/// Prefix of the annotation key that keeps the content of another version. The name of that version
/// follows.
pub const SAID_IN: &str = "lifecycle-runtime/said-in.";

/// Version of a kind: an object as its Rust type.
pub trait Version: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static {}

impl<K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static> Version for K {}

/// Why an object was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The object does not conform to its stated version.
    #[error("it is no {version} of {kind}: {why}")]
    Malformed {
        /// Version that the object states.
        version: String,
        /// Of the conversion.
        kind: String,
        /// Reason why it is malformed.
        why: String,
    },
    /// The version is unknown.
    #[error("{kind} has no version {version}: it has {known}")]
    Unknown {
        /// Requested version, or the one that the object states.
        version: String,
        /// Of the conversion.
        kind: String,
        /// All that there are.
        known: String,
    },
    /// Refusal by a function of the author.
    #[error("it cannot be {version}: {why}")]
    Refused {
        /// Requested version.
        version: String,
        /// Message of the function.
        why: String,
    },
}

type Step = Arc<dyn Fn(&Value) -> Result<Value, String> + Send + Sync>;

/// A version beside the one that all are converted through.
#[derive(Clone)]
struct Spoke {
    /// An object of it as its type writes it again.
    read: Step,
    up: Step,
    down: Step,
}

/// All versions of one kind, each with a way to the one that is stored and back.
#[derive(Clone)]
pub struct Conversion {
    group: String,
    kind: String,
    hub: String,
    /// An object of the stored version as its type writes it again.
    read: Step,
    spokes: BTreeMap<String, Spoke>,
    keeps: bool,
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut conversion = f.debug_struct("Conversion");
        let conversion = conversion.field("kind", &self.kind);
        conversion
            .field("versions", &self.versions())
            .finish_non_exhaustive()
    }
}

/// Conversion to which versions are added.
#[derive(Debug)]
pub struct ConversionBuilder<Hub> {
    conversion: Conversion,
    hub: PhantomData<fn() -> Hub>,
}

impl<Hub: Version> ConversionBuilder<Hub> {
    /// Adds a version with the conversions from it to the stored version, and back. These functions
    /// do not handle metadata, which stays as it is. An error that they return refuses the object
    /// with that sentence.
    #[must_use]
    pub fn version<Other: Version>(
        mut self,
        up: fn(Other) -> Result<Hub, String>,
        down: fn(Hub) -> Result<Other, String>,
    ) -> Self {
        let spoke = Spoke {
            read: Arc::new(read::<Other>),
            up: Arc::new(move |value| wrote(up(typed(value)?)?)),
            down: Arc::new(move |value| wrote(down(typed(value)?)?)),
        };
        let version = Other::version(&()).into_owned();
        self.conversion.spokes.insert(version, spoke);
        self
    }

    /// With these versions.
    pub fn build(self) -> Conversion {
        self.conversion
    }
}

impl Conversion {
    /// Through the version that is stored.
    pub fn through<Hub: Version>() -> ConversionBuilder<Hub> {
        let conversion = Self {
            group: Hub::group(&()).into_owned(),
            kind: Hub::kind(&()).into_owned(),
            hub: Hub::version(&()).into_owned(),
            read: Arc::new(read::<Hub>),
            spokes: BTreeMap::new(),
            keeps: true,
        };
        let hub = PhantomData;
        ConversionBuilder { conversion, hub }
    }

    /// Drops fields that a version cannot represent, so that they are lost. Meant for kinds whose
    /// versions are equivalent. The suite reports losses.
    #[must_use]
    pub fn without_annotation(mut self) -> Self {
        self.keeps = false;
        self
    }

    /// The kind, without its group.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// All versions, the stored one first.
    pub fn versions(&self) -> Vec<&str> {
        let spokes = self.spokes.keys().map(String::as_str);
        std::iter::once(self.hub.as_str()).chain(spokes).collect()
    }

    /// Returns an object in another version. Its metadata is unchanged, except for the annotation
    /// with fields that a version cannot represent.
    ///
    /// # Errors
    /// Returns an error if the object is of another kind, a version is unknown, or a function of
    /// the author refuses.
    pub fn convert(&self, object: &Value, version: &str) -> Result<Value, Error> {
        let from = self.version_of(object)?;
        self.known(version)?;
        if from == version {
            return Ok(object.clone());
        }
        let mut object = object.clone();
        if from != self.hub {
            object = self.step(&object, (&from, &self.hub))?;
        }
        if version != self.hub {
            object = self.step(&object, (&self.hub, version))?;
        }
        Ok(object)
    }

    /// Returns an object as the type of its version serializes it, without metadata. Equal results
    /// mean equal content.
    ///
    /// # Errors
    /// It is none of the kind.
    pub fn normalise(&self, object: &Value) -> Result<Value, Error> {
        let version = self.version_of(object)?;
        let read = match self.spokes.get(&version) {
            Some(spoke) => &spoke.read,
            None => &self.read,
        };
        let mut said = read(object).map_err(|why| self.malformed(&version, why))?;
        if let Some(said) = said.as_object_mut() {
            said.remove("metadata");
        }
        Ok(said)
    }

    fn version_of(&self, object: &Value) -> Result<String, Error> {
        let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or_default();
        if (group, text("kind")) != (&self.group, &self.kind) {
            let why = format!(
                "its apiVersion and kind are `{}` and `{}`",
                text("apiVersion"),
                text("kind")
            );
            return Err(self.malformed(version, why));
        }
        self.known(version)?;
        Ok(version.to_owned())
    }

    fn known(&self, version: &str) -> Result<(), Error> {
        if self.versions().contains(&version) {
            return Ok(());
        }
        Err(Error::Unknown {
            version: version.to_owned(),
            kind: self.kind.clone(),
            known: self.versions().join(", "),
        })
    }

    fn malformed(&self, version: &str, why: String) -> Error {
        Error::Malformed {
            version: version.to_owned(),
            kind: self.kind.clone(),
            why,
        }
    }

    /// Between the stored version and another one.
    fn step(&self, object: &Value, (from, to): (&str, &str)) -> Result<Value, Error> {
        let refused = |why| Error::Refused {
            version: to.to_owned(),
            why,
        };
        let (there, back) = match (self.spokes.get(from), self.spokes.get(to)) {
            (Some(spoke), _) => (&spoke.up, &spoke.down),
            (None, Some(spoke)) => (&spoke.down, &spoke.up),
            (None, None) => return Ok(object.clone()),
        };
        let before = self.normalise(object)?;
        let mut converted = there(object).map_err(refused)?;
        converted["apiVersion"] = json!(format!("{}/{to}", self.group));
        converted["kind"] = json!(self.kind);
        let mut metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
        if self.keeps {
            if let Some(text) = kept::take(&mut metadata, &key(to)) {
                kept::restore(&mut converted, &text);
            }
            let mut again = back(&converted).map_err(refused)?;
            if let Some(again) = again.as_object_mut() {
                again.remove("metadata");
            }
            again["apiVersion"] = before["apiVersion"].clone();
            again["kind"] = before["kind"].clone();
            if let Some(text) = kept::lost(&before, &again) {
                kept::set_annotation(&mut metadata, &key(from), text);
            }
        }
        converted["metadata"] = metadata;
        Ok(converted)
    }
}

fn key(version: &str) -> String {
    format!("{SAID_IN}{version}")
}

fn typed<K: Version>(object: &Value) -> Result<K, String> {
    decode(object).map_err(|error| error.to_string())
}

fn wrote<K: Version>(object: K) -> Result<Value, String> {
    let mut value = serde_json::to_value(object).map_err(|error| error.to_string())?;
    without_nulls(&mut value);
    Ok(value)
}

fn read<K: Version>(object: &Value) -> Result<Value, String> {
    wrote(typed::<K>(object)?)
}

/// Removes null values, because a null field counts as absent.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let taken = std::mem::take(fields);
            let there = taken.into_iter().filter(|(_, value)| !value.is_null());
            *fields = there.collect::<Map<_, _>>();
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
