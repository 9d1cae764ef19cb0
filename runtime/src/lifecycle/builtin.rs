//! The types of the facts that inputs bring by themselves. The order of variants is the order of values in worlds.

macro_rules! builtin {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $value:ident),* $(,)? })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $value),* }

        impl $name {
            /// All values in the order of worlds.
            pub const VALUES: &'static [Self] = &[$(Self::$value),*];
        }
    )* };
}

builtin! {
    /// Of `by name path?` and the like.
    Named {
        /// The object names none.
        Unnamed,
        /// No object has this name.
        Absent,
        /// The object exists.
        Present,
    }
    /// Of an input that is only read.
    Watched {
        /// It is not there.
        Absent,
        /// The object exists.
        Present,
    }
    /// Of `owned K`.
    Owned {
        /// It is not there.
        Absent,
        /// The object exists and is not ours.
        Foreign,
        /// It is being deleted.
        Terminating,
        /// The object differs from the builder's result, or the builder cannot run.
        Stale,
        /// It is as the builder wants it.
        Current,
    }
    /// Of `owned K` that an `adopt` may take over.
    Adopted {
        /// It is not there.
        Absent,
        /// The object exists and belongs to another owner.
        Foreign,
        /// The object exists without an owner, and may be adopted.
        Adoptable,
        /// It is being deleted.
        Terminating,
        /// The object differs from the builder's result, or the builder cannot run.
        Stale,
        /// It is as the builder wants it.
        Current,
    }
    /// Of `owned K` that is created once.
    Created {
        /// It is not there, and was not made.
        Absent,
        /// The object exists and is not ours.
        Foreign,
        /// It was made, and is being deleted.
        Terminating,
        /// The object was created, but this is not recorded yet.
        New,
        /// It was made.
        Made,
        /// The object was created and no longer exists.
        Gone,
    }
    /// Of `owned [K]` that are created once: the first that holds of any member counts.
    CreatedSet {
        /// A member was created, but this is not recorded yet.
        New,
        /// A member is neither there nor was it made.
        Behind,
        /// A member is no longer desired.
        Surplus,
        /// A member that nothing wants any more is being deleted.
        Draining,
        /// An object of another controller or user has a wanted name.
        Foreign,
        /// All that are wanted were made.
        Current,
    }
    /// Of `owned [K]` and `shared [K]`: the worst member counts, `Foreign` last.
    OwnedSet {
        /// A member is missing or differs.
        Behind,
        /// A member is no longer desired.
        Surplus,
        /// A member is being deleted.
        Draining,
        /// An object of another controller or user has a wanted name.
        Foreign,
        /// All is as wanted.
        Current,
    }
    /// Of `shared K`.
    Shared {
        /// It is not there.
        Absent,
        /// It is being deleted.
        Terminating,
        /// Our share is as desired.
        Stale,
        /// Our share is as wanted.
        Current,
    }
    /// Of `part K` and `record T`.
    Part {
        /// It is not there.
        Absent,
        /// Our fields differ from the builder's result.
        Stale,
        /// Our fields are as wanted.
        Current,
    }
    /// Of `poll T`.
    Polled {
        /// No answer yet, or none any more.
        Unknown,
        /// An answer is available.
        Known,
    }
}
