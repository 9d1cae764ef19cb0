//! What is noted of objects that are created once: their names, in an annotation of the object that they are made for.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Which objects of an input were made, whether they are still there or not. It is bounded by what is wanted: what the builder wants no more is forgotten when something is noted next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Noted {
    names: BTreeSet<String>,
}

impl Noted {
    /// These names; for tests of a builder that reads it.
    pub fn of<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
        }
    }

    /// Whether an object of this name was made; of an object in a namespace that the one that it is made for is not in, `namespace/name`.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
