//! Items that an older version of a lifecycle declared, and this version does not.

/// Leftover that is not an object of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retired {
    /// A finalizer: the one of today's name, or one of another name.
    Finalizer(Option<&'static str>),
    /// A record, by the name of its input.
    Record {
        /// As it was declared.
        name: &'static str,
        /// Record that takes over its content.
        now: Option<&'static str>,
    },
    /// A record, by its annotation.
    Annotation {
        /// Of the object.
        key: &'static str,
        /// Record that takes over its content.
        now: Option<&'static str>,
    },
    /// A condition, by its type.
    Condition(&'static str),
    /// A field of the status, as it is written there.
    Field(&'static str),
}

/// Treatment of the objects of a removed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The objects are deleted. If others own them as well, only our part is removed.
    Deleted,
    /// They stay for good: our owner reference goes.
    Released,
}
