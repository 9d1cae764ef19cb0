//! The lock of a lifecycle, and what becomes of what an older version of it left.

use proc_macro2::{Ident, Span};

use super::Input;

/// `lock "listener.lock";`
#[derive(Clone, Debug)]
pub struct Lock {
    pub path: String,
    pub span: Span,
    pub text: LockText,
}

/// What stands in the file of a lock.
#[derive(Clone, Debug, Default)]
pub enum LockText {
    /// Nobody looked.
    #[default]
    Unread,
    Read(String),
    /// Why it cannot be read.
    Unreadable(String),
}

/// The whole section `retired`, but for inputs that are looked at: those stand among the inputs.
#[derive(Clone, Debug)]
pub struct Retired {
    pub span: Span,
    pub lines: Vec<Gone>,
}

/// What an older version had, and this one has not.
#[derive(Clone, Debug)]
pub struct Gone {
    /// Of the word it begins with.
    pub span: Span,
    pub what: GoneOf,
    /// `now name`: what it became.
    pub now: Option<Ident>,
}

#[derive(Clone, Debug)]
pub enum GoneOf {
    /// `finalizer;`: ours. `finalizer "example.com/old";`: one of another name.
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

/// What becomes of the objects of an input that is no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// They are deleted; of what others own as well, our part goes.
    Deleted,
    /// They stay for ever: our owner reference goes.
    Released,
}

impl Leaves {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Released => "released",
        }
    }
}
