//! Verdicts: the values of the built-in facts of inputs. `macros/core/src/model/verdict.rs`
//! has the same enum, because an operator does not ship the checker. `tests/random` compares them.

macro_rules! verdicts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Value of the built-in fact of an input. The members of a set are judged from `New`, the worst,
        /// to `Current`, and the worst member decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Verdict {
            $($(#[$doc])* $name,)*
        }

        impl Verdict {
            /// All verdicts.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name that predicates of a lifecycle use.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Returns the verdict with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}
verdicts! {
    /// It does not exist, or is not recorded.
    Absent,
    /// Nothing names it.
    Unnamed,
    /// It exists, and is only read.
    Present,
    /// A poll has no answer.
    Unknown,
    /// A poll has an answer.
    Known,
    /// It was created once, and this is recorded.
    Made,
    /// It was created once, and exists no more.
    Gone,
    /// It exists and is not ours, but may be adopted.
    Adoptable,
    /// It is being deleted.
    Terminating,
    /// It exists and differs from the desired one.
    Stale,
    /// It was created, but this is not recorded yet.
    New,
    /// A member is missing or differs.
    Behind,
    /// A member is not wanted any more.
    Surplus,
    /// A member is being deleted.
    Draining,
    /// Another controller or user owns it.
    Foreign,
    /// It is as desired.
    Current,
}

impl Verdict {
    /// Returns true if builders, facts and fields may read the input.
    pub const fn is_usable(self) -> bool {
        match self {
            Self::Absent
            | Self::Unnamed
            | Self::Unknown
            | Self::Terminating
            | Self::Foreign
            | Self::Adoptable
            | Self::Gone => false,
            Self::Present
            | Self::Known
            | Self::Made
            | Self::Stale
            | Self::New
            | Self::Behind
            | Self::Surplus
            | Self::Draining
            | Self::Current => true,
        }
    }
}
