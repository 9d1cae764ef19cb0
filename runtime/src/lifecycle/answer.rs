//! Answers of facts: a value, one sentence, and the objects that decided it.

use jiff::Timestamp;

use super::object::ObjectRef;

/// A fact's value with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because<T> {
    /// The answer.
    pub value: T,
    /// One sentence with the reason, and with the remedy if someone must act. Empty if there is
    /// nothing to report.
    pub sentence: String,
    /// The objects that decided it.
    pub objects: Vec<ObjectRef>,
}

/// A [`Because`] whose value is a position among the values of its variable.
pub type Answer = Because<u8>;

impl<T> Because<T> {
    /// A value and why.
    pub fn new(value: T, sentence: impl Into<String>) -> Self {
        Self {
            value,
            sentence: sentence.into(),
            objects: Vec::new(),
        }
    }

    /// A value that needs no reason.
    pub fn plain(value: T) -> Self {
        Self::new(value, "")
    }

    /// Names an object that decided it.
    #[must_use]
    pub fn with_object(mut self, object: ObjectRef) -> Self {
        self.objects.push(object);
        self
    }

    /// Limits the validity of the answer. The object is reconciled again at that time, or earlier
    /// if something changes.
    pub fn until(self, time: Timestamp) -> Timed<T> {
        Timed {
            because: self,
            until: Some(time),
        }
    }

    /// The answer as one that no time changes, be it for ever or until something else does.
    pub fn for_good(self) -> Timed<T> {
        Timed {
            because: self,
            until: None,
        }
    }

    /// The same reason for another form of the value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Because<U> {
        Because {
            value: form(self.value),
            sentence: self.sentence,
            objects: self.objects,
        }
    }
}

/// Answer of a fact that depends on the clock, with its validity.
///
/// It is created from a [`Because`], by [`Because::until`] or [`Because::for_good`]. Equal inputs
/// must give an equal answer at every time before `until`, because the fact is not evaluated again
/// earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Timed<T> {
    /// The answer, and why.
    pub because: Because<T>,
    /// When the time alone may change it; `None`: never.
    pub until: Option<Timestamp>,
}

impl<T> Timed<T> {
    /// The same for another form of the value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Timed<U> {
        Timed {
            because: self.because.map(form),
            until: self.until,
        }
    }
}
