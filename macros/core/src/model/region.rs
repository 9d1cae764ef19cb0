//! Regions of a lifecycle, and what one knows of another.

use proc_macro2::Ident;

use super::VarId;

/// A part of a lifecycle with states of its own.
#[derive(Clone, Debug)]
pub struct Region {
    pub name: Ident,
    pub doc: String,
    /// True if one of its conditions counts for Ready.
    pub counts: bool,
}

/// Another region, as it is asked for its state.
#[derive(Clone, Debug)]
pub struct AskedRegion {
    /// The fact with its states as values.
    pub state: VarId,
    /// Positions of its goals among these values.
    pub goals: Vec<usize>,
}
