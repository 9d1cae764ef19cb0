//! Answers of facts: a value, one sentence, and the objects that decided it.

use super::object::ObjectRef;

/// A fact's value with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because<T> {
    /// The answer.
    pub value: T,
    /// One sentence that says why, and what to do where somebody must act; empty where there is nothing to say.
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
    pub fn about(mut self, object: ObjectRef) -> Self {
        self.objects.push(object);
        self
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
