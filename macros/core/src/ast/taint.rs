//! What was lost of a lifecycle, so that nobody asks for it.

use std::collections::BTreeSet;

use proc_macro2::Ident;

/// Names of items that could not be parsed: mentions of them are silent.
#[derive(Clone, Debug, Default)]
pub struct Taint {
    pub names: BTreeSet<String>,
    /// Something was lost whose names cannot be known.
    pub everything: bool,
}

impl Taint {
    /// Whether an unknown `name` may have been declared by what was lost.
    pub fn covers(&self, name: &Ident) -> bool {
        self.everything || self.names.contains(&name.to_string())
    }
}
