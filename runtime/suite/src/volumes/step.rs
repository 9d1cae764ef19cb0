//! The steps of a volume's life.

/// A step of a volume's life; Pods are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Create,
    Stage,
    Publish(usize),
    Unpublish(usize),
    Unstage,
    Delete,
    /// No part of a volume's life.
    Validate,
}
