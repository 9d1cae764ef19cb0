//! A fragment as the lifecycle sees that uses it.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use super::{Field, FieldOf, Input, Lifecycle, Lookup, Mode, Origin, Var};

/// Declarations that a lifecycle shares with others.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// As the lifecycle calls it.
    pub used: Ident,
    /// As it calls itself.
    pub name: Ident,
    /// Model of the declarations, about an object of any type, without the facts that it needs.
    pub alone: Lifecycle,
    /// The names of those.
    pub needs: BTreeSet<String>,
}

impl Fragment {
    fn declares(&self, name: &Ident) -> bool {
        let part = &self.alone;
        let facts = part.vars.iter();
        let mut facts = facts.filter(|var| matches!(var.origin, Origin::Fact { .. }));
        let is_fact = facts.any(|var| var.name == *name);
        let is_input = part.inputs.iter().any(|input| input.name == *name);
        let is_value = part.values.iter().any(|value| value.name == *name);
        (is_fact || is_input || is_value) && !self.needs.contains(&name.to_string())
    }

    /// Returns true if the fragment makes a promise of this name.
    pub(crate) fn promises(&self, name: &Ident) -> bool {
        let mut promises = self.alone.promises.iter();
        promises.any(|promise| promise.name == *name)
    }

    /// Returns true if a method answers any item of the fragment.
    pub(crate) fn has_methods(&self) -> bool {
        has_methods(&self.alone, &self.needs)
    }

    fn has_field(&self, name: &Ident) -> bool {
        self.alone.fields.iter().any(|field| field.name == *name)
    }
}

impl Lifecycle {
    /// The fragment that declares an input, a value or a fact.
    pub(crate) fn home_of(&self, name: &Ident) -> Option<&Fragment> {
        self.fragments.iter().find(|one| one.declares(name))
    }

    /// The fragment that declares a field of the status.
    pub(crate) fn home_of_field(&self, name: &Ident) -> Option<&Fragment> {
        self.fragments.iter().find(|one| one.has_field(name))
    }
}

/// Returns true if a method answers any item, apart from facts of these names.
pub(crate) fn has_methods(part: &Lifecycle, needs: &BTreeSet<String>) -> bool {
    let is_asked = |input: &Input| match input.lookup {
        Lookup::Names { .. } | Lookup::Refs { .. } | Lookup::Ref { .. } => true,
        Lookup::None
        | Lookup::Name { .. }
        | Lookup::Labels { .. }
        | Lookup::Owner
        | Lookup::Namespace
        | Lookup::Equal { .. }
        | Lookup::Keys(_) => matches!(input.mode, Mode::Poll | Mode::Probe),
    };
    let is_fact = |var: &Var| {
        matches!(var.origin, Origin::Fact { .. }) && !needs.contains(&var.name.to_string())
    };
    let is_method = |field: &Field| matches!(field.what, FieldOf::Method { .. });
    part.inputs.iter().any(is_asked)
        || !part.values.is_empty()
        || part.vars.iter().any(is_fact)
        || part.fields.iter().any(is_method)
}
