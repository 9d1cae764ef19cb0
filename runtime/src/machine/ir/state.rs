//! States of a lifecycle, and their phases.

use super::{Length, Pred, RegionId, Source};

/// A named set of worlds.
#[derive(Debug)]
pub struct State {
    /// As declared.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The lifecycle wants to be here.
    pub goal: bool,
    /// Its worlds; those of the states above are left out by order.
    pub when: Pred,
    /// Phase that users see.
    pub phase: Phase,
    /// For a suspended state, true if held resources are not cleaned up meanwhile.
    pub even_deleting: bool,
    /// Only a change of these helps; `None`: it moves by itself.
    pub wakes: Option<&'static [Source]>,
    /// After how long it has taken too long.
    pub overdue: Length,
    /// `None` for a state of the root.
    pub region: Option<RegionId>,
}

/// Phase of a state that users see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// On its way.
    Pending,
    /// As wanted.
    Ready,
    /// Someone must act.
    Error,
    /// A user has suspended the object. Only this is reported, and nothing else is done.
    Suspended,
    /// Another controller manages the object. Nothing is written or reported.
    Ignored,
}

impl Phase {
    /// As declarations and statuses spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Ready => "Ready",
            Self::Error => "Error",
            Self::Suspended => "Suspended",
            Self::Ignored => "Ignored",
        }
    }
}
