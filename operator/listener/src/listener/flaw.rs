//! Why no Service can be made for a Listener: the word that the checks of ports, names and overrides share.

pub(super) use lifecycle_specs_listener::listener::Validity;

/// Why no Service can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// Never `Fine`.
    pub(super) validity: Validity,
    /// Description of the flaw, and the remedy.
    pub(super) sentence: String,
}

impl Flaw {
    pub(super) fn new(validity: Validity, sentence: impl Into<String>) -> Self {
        Self {
            validity,
            sentence: sentence.into(),
        }
    }
}
