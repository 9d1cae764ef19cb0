//! The lock of a lifecycle, and the treatment of everything that an older version left.

use proc_macro2::{Ident, Span};

use super::Input;

/// `lock "listener.lock";`
#[derive(Clone, Debug)]
pub struct Lock {
    pub path: String,
    pub span: Span,
    pub text: LockText,
}

/// Content of a lock file.
#[derive(Clone, Debug, Default)]
pub enum LockText {
    /// The lock has not been read.
    #[default]
    Unread,
    Read(String),
    /// Why it cannot be read.
    Unreadable(String),
}

/// The whole section `retired`, except for inputs that are still observed: those are among the
/// inputs.
#[derive(Clone, Debug)]
pub struct Retired {
    pub span: Span,
    pub lines: Vec<Gone>,
}

/// Item that an older version has and this version lacks.
#[derive(Clone, Debug)]
pub struct Gone {
    /// Of the word it begins with.
    pub span: Span,
    pub what: GoneOf,
    /// `now name`: the item that replaces it.
    pub now: Option<Ident>,
}

#[derive(Clone, Debug)]
pub enum GoneOf {
    /// `finalizer;`: our own. `finalizer "example.com/old";`: one with another name.
    Finalizer(Option<String>),
    /// `record name;`
    Record(Ident),
    /// `record "example.com/old.name";`: by its annotation.
    Annotation(String),
    /// `condition Name;`
    Condition(Ident),
    /// `field name;`
    Field(Ident),
    /// `state Name;`
    State(Ident),
    /// `value fact.Value;`
    Value(Ident, Ident),
    /// `name: owned Type by .. kept;`
    Kept(Box<Input>),
}

/// Treatment of the objects of a retired input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// The objects are deleted. Objects that others own as well lose only our part.
    Deleted,
    /// They stay for ever: our owner reference goes.
    Released,
}

impl Leaves {
    /// As it is written.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Released => "released",
        }
    }
}
