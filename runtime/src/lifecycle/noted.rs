//! Record of objects that are created once: their names, in an annotation of the object for which
//! they are created.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Objects of an input that were created, even if they no longer exist. The desired objects bound
/// it: names that the builder no longer wants are dropped at the next update of the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Noted {
    names: BTreeSet<String>,
}

impl Noted {
    /// These names; for tests of a builder that reads it.
    pub fn from_names<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            names: names.into_iter().map(Into::into).collect(),
        }
    }

    /// Returns true if an object of this name was created. If its namespace differs from that of
    /// the object it is created for, the name is `namespace/name`.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The names, in order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
