//! Regions: parts of a lifecycle with states of their own.

/// A part of a lifecycle whose states are beside those of the other regions. All regions rest in
/// each state of the root.
#[derive(Debug)]
pub struct Region {
    /// As declared.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// True if one of its conditions counts for `Ready`.
    pub counts: bool,
}
