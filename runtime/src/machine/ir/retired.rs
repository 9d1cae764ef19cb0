//! What an older version of a lifecycle had, and this one has not.

/// What it left that is not an object of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// A finalizer: the one of today's name, or one of another name.
    Finalizer(Option<&'static str>),
    /// A record, by the name of its input.
    Record {
        /// As it was declared.
        name: &'static str,
        /// The record that goes on with what it held.
        now: Option<&'static str>,
    },
    /// A record, by its annotation.
    Annotation {
        /// Of the object.
        key: &'static str,
        /// The record that goes on with what it held.
        now: Option<&'static str>,
    },
    /// A condition, by its type.
    Condition(&'static str),
    /// A field of the status, as it is written there.
    Field(&'static str),
}

/// What becomes of the objects of an input that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// They are deleted; of what others own as well, our part goes.
    Deleted,
    /// They stay for good: our owner reference goes.
    Released,
}
