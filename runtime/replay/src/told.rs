//! What is told: as text for people, or as one JSON object for programs.

use serde::Serialize;

use crate::reading::Flaw;

/// What a recording says against a version of its lifecycles.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// How many passes were held against this version.
    pub passes: usize,
    /// Of how many objects.
    pub objects: usize,
    /// Where this version decides otherwise, in the order of the file; those of one object that say the same are one.
    pub differences: Vec<Difference>,
    /// What the declaration of this version does not allow to follow a write, and did.
    pub undeclared: Vec<Undeclared>,
    /// What the recorded operator met and its own declaration ruled out.
    pub ruled_out: Vec<Undeclared>,
    /// What was taken as it was recorded, for the file does not have what it is computed from.
    pub as_recorded: Vec<String>,
    /// Passes that could not be held against this version, and why.
    pub not_held: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// Lines of the file that could not be read.
    pub flaws: Vec<Flaw>,
}

/// Where this version decides otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `Listener default/web`.
    pub object: String,
    /// When it was first.
    pub at: String,
    /// In how many further passes of the object.
    pub again: usize,
    /// Facts with another answer.
    pub facts: Vec<Fact>,
    /// Where the object is, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Then>,
    /// What is to be done, if that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Then>,
    /// In which process and line of the file it was first.
    #[serde(skip)]
    pub(crate) found: (usize, usize),
}

/// A fact with another answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// As it is declared.
    pub fact: String,
    /// What it was.
    pub then: String,
    /// What this version answers.
    pub now: String,
    /// What this version says to that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// What was, and what would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Then {
    /// As it was recorded.
    pub then: String,
    /// By this version.
    pub now: String,
    /// Why, where there is something to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// What the declaration does not allow, and happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undeclared {
    /// `Listener default/web`.
    pub object: String,
    /// When it was first.
    pub at: String,
    /// What it was.
    pub why: String,
}

impl Held {
    /// Whether this version decides the same everywhere, and allows what happened.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.undeclared.is_empty()
    }
}

impl Difference {
    /// Whether another pass of the object says the same.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        (&self.object, &self.facts, &self.state, &self.next)
            == (&other.object, &other.facts, &other.state, &other.next)
    }
}
