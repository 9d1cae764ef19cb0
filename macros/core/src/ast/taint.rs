//! Parts of a lifecycle that could not be parsed, kept so that nothing reports them as missing.

use std::collections::BTreeSet;

use proc_macro2::Ident;

/// Names of items that could not be parsed: mentions of them are silent.
#[derive(Clone, Debug, Default)]
pub struct Taint {
    pub names: BTreeSet<String>,
    /// True if the names of the lost items are not known.
    pub everything: bool,
}

impl Taint {
    /// Returns true if a part that could not be parsed may declare the unknown `name`.
    pub fn covers(&self, name: &Ident) -> bool {
        self.everything || self.names.contains(&name.to_string())
    }
}
