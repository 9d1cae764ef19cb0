//! Verdicts: the values of the built-in facts of inputs. `runtime/src/machine/verdict.rs` has the
//! same enum, because an operator does not ship the checker. `tests/random` compares the two.

use super::{ValueSet, Var};

macro_rules! verdicts {
    ($($name:ident,)*) => {
        /// Value of the built-in fact of an input. The enum of the runtime describes each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Verdict {
            $($name,)*
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
    Absent, Unnamed, Present, Unknown, Known, Made, Gone, Adoptable,
    Terminating, Stale, New, Behind, Surplus, Draining, Foreign, Current,
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

impl Var {
    /// Returns the verdict that a value is. `None` of an author's own value.
    pub fn verdict(&self, value: usize) -> Option<Verdict> {
        Verdict::from_name(&self.values[value])
    }

    /// Returns the value that is this verdict.
    pub fn position(&self, verdict: Verdict) -> Option<usize> {
        let mut values = self.values.iter();
        values.position(|value| value == verdict.as_str())
    }

    /// Returns the verdicts that the comparison of an object with the wanted one can have.
    pub fn compared(&self) -> ValueSet {
        self.value_set(|verdict| matches!(verdict, Verdict::Stale | Verdict::Current))
    }

    /// Returns the values that are such verdicts.
    pub fn value_set(&self, is_in: impl Fn(Verdict) -> bool) -> ValueSet {
        let values =
            (0..self.values.len()).filter(|value| self.verdict(*value).is_some_and(&is_in));
        ValueSet(values.fold(0, |set, value| set | ValueSet::from_value(value).0))
    }
}
