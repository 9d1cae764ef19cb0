//! One kind in several versions of its API: two functions of the author for each older version, and what a webhook answers with them. What one version cannot say of
//! another is kept in an annotation and comes back. Pure: knows no socket and no client.

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

/// What the key of an annotation begins with that keeps what another version said; the name of that version follows.
pub const SAID_IN: &str = "lifecycle-runtime/said-in.";

/// What a version of a kind is: an object as its Rust type.
pub trait Version: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static {}

impl<K: Resource<DynamicType = ()> + Serialize + DeserializeOwned + 'static> Version for K {}

/// Why an object was not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is no object of the version that it says.
    #[error("it is no {version} of {kind}: {why}")]
    Malformed {
        /// That it says.
        version: String,
        /// Of the conversion.
        kind: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody knows a version.
    #[error("{kind} has no version {version}: it has {known}")]
    Unknown {
        /// That was asked for, or that the object says.
        version: String,
        /// Of the conversion.
        kind: String,
        /// All that there are.
        known: String,
    },
    /// What a function of the author said.
    #[error("it cannot be {version}: {why}")]
    Refused {
        /// That was asked for.
        version: String,
        /// What it said.
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

/// A conversion to which versions are added.
#[derive(Debug)]
pub struct Through<Hub> {
    conversion: Conversion,
    hub: PhantomData<fn() -> Hub>,
}

impl<Hub: Version> Through<Hub> {
    /// Adds a version with the way from it to the stored one, and back. They say nothing of metadata: that stays as it is. What they return an error for is refused
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
    pub fn done(self) -> Conversion {
        self.conversion
    }
}

impl Conversion {
    /// Through the version that is stored.
    pub fn through<Hub: Version>() -> Through<Hub> {
        let conversion = Self {
            group: Hub::group(&()).into_owned(),
            kind: Hub::kind(&()).into_owned(),
            hub: Hub::version(&()).into_owned(),
            read: Arc::new(read::<Hub>),
            spokes: BTreeMap::new(),
            keeps: true,
        };
        let hub = PhantomData;
        Through { conversion, hub }
    }

    /// Keeps nothing of what a version cannot say: it is lost. For kinds whose versions say the same; the suite reports what is lost.
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

    /// An object in another version. Its metadata stays as it is, but for what is kept there of what a version cannot say.
    ///
    /// # Errors
    /// It is none of the kind, nobody knows one of the versions, or a function of the author refuses.
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

    /// An object as the type of its version writes it again, without metadata: two of them that are equal say the same.
    ///
    /// # Errors
    /// It is none of the kind.
    pub fn said(&self, object: &Value) -> Result<Value, Error> {
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
            let why = format!("it says `{}` and `{}`", text("apiVersion"), text("kind"));
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
        let before = self.said(object)?;
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
                kept::put(&mut metadata, &key(from), text);
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

/// What is null is not there.
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
