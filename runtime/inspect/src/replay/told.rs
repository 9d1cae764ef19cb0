//! Output of a replay: as text for people, or as one JSON object for programs.

use serde::Serialize;

use crate::replay::reading::Flaw;

/// Result of comparing a recording with a version of its lifecycles.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayReport {
    /// Number of reconciliations compared with this version.
    pub passes: usize,
    /// Of how many objects.
    pub objects: usize,
    /// Decisions that differ in this version, in the order of the file. Equal differences of one
    /// object are merged into one.
    pub differences: Vec<Difference>,
    /// Observations that followed a write, and that the declaration of this version does not allow.
    pub undeclared: Vec<Undeclared>,
    /// Observations of the recorded operator that its own declaration ruled out.
    pub ruled_out: Vec<Undeclared>,
    /// Answers taken as recorded, because the file lacks the data that they are computed from.
    pub as_recorded: Vec<String>,
    /// Reconciliations that could not be compared with this version, and the reason.
    pub not_held: Vec<String>,
    /// Further notes.
    pub notes: Vec<String>,
    /// Lines of the file that could not be read.
    pub flaws: Vec<Flaw>,
}

/// Decision that differs in this version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `Listener default/web`.
    pub object: String,
    /// When it was first.
    pub at: String,
    /// Number of further reconciliations of the object with the same difference.
    pub again: usize,
    /// Facts with another answer.
    pub facts: Vec<Fact>,
    /// State of the object, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Then>,
    /// Next action, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Then>,
    /// Process and line of the file at which it was first found.
    #[serde(skip)]
    pub(crate) found: (usize, usize),
}

/// A fact with another answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// As it is declared.
    pub fact: String,
    /// Recorded answer.
    pub then: String,
    /// Answer of this version.
    pub now: String,
    /// Message of this version for that answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// Recorded value and value of this version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Then {
    /// As it was recorded.
    pub then: String,
    /// By this version.
    pub now: String,
    /// Reason, if one is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// Recorded observation that the declaration does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undeclared {
    /// `Listener default/web`.
    pub object: String,
    /// When it was first.
    pub at: String,
    /// Description of the observation.
    pub why: String,
}

impl ReplayReport {
    /// Returns true if this version makes the same decisions everywhere, and allows all recorded
    /// observations.
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.undeclared.is_empty()
    }
}

impl Difference {
    /// Returns true if another reconcile of the object shows the same difference.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        (&self.object, &self.facts, &self.state, &self.next)
            == (&other.object, &other.facts, &other.state, &other.next)
    }
}
