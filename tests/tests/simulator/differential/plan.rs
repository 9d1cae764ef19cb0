//! Definition of a sequence: steps with requests to any server, independent of its earlier answers.

use std::fmt;

use serde_json::Value;

use super::kinds::Kind;

/// An object that steps are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    pub(crate) status: bool,
}

/// Version that a PUT or a deletion names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Nothing,
    Current,
    Stale,
}

/// How a patch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patch {
    Json,
    Merge,
    Strategic,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    Create(Target, Value),
    /// The live object with a merge patch done to it, sent back.
    Put(Target, Value, Named),
    Patch(Target, Patch, Value),
    Apply {
        target: Target,
        manager: &'static str,
        force: bool,
        object: Value,
    },
    Delete {
        target: Target,
        version: Named,
        uid: Named,
        propagation: Option<&'static str>,
    },
    Get(Target),
    List(Kind, &'static str),
}

/// Steps, and the kind whose events are read at the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sequence {
    pub(crate) steps: Vec<Step>,
    pub(crate) watched: Kind,
}

impl Sequence {
    /// How many requests it is about.
    pub(crate) fn len(&self) -> usize {
        self.steps.len() + Kind::ALL.len() + 2
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = if self.status { "/status" } else { "" };
        write!(formatter, "{:?} {}{status}", self.kind, self.name)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(target, object) => write!(formatter, "create {target} {object}"),
            Self::Put(target, change, version) => {
                write!(formatter, "put {target} with {change} version {version:?}")
            }
            Self::Patch(target, patch, body) => {
                write!(formatter, "patch {target} {patch:?} {body}")
            }
            Self::Apply {
                target,
                manager,
                force,
                object,
            } => {
                write!(
                    formatter,
                    "apply {target} by {manager} force {force} {object}"
                )
            }
            Self::Delete {
                target,
                version,
                uid,
                propagation,
            } => {
                write!(
                    formatter,
                    "delete {target} version {version:?} uid {uid:?} {propagation:?}"
                )
            }
            Self::Get(target) => write!(formatter, "get {target}"),
            Self::List(kind, query) => write!(formatter, "list {kind:?} {query}"),
        }
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(formatter, "  {index}. {step}")?;
        }
        Ok(())
    }
}
