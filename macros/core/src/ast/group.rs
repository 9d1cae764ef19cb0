//! Several objects that are judged as one, as they are written.

use proc_macro2::{Ident, Span};

use super::{Effect, Input, Lifecycle, Mode, bare};

/// Clause that makes an object a member of a group.
#[derive(Clone, Debug)]
pub struct Member {
    /// The input that is the group.
    pub of: Ident,
    /// The word `optional`: its builder may want none.
    pub optional: Option<Span>,
    /// A word before its type, such as `owned`, which no member has.
    pub mode: Option<(Span, Mode)>,
}

impl Input {
    /// Returns an input that stands for several objects, and is looked up by none.
    pub(crate) fn of_several(name: Ident, doc: String, mode: Mode) -> Self {
        Self {
            name,
            doc,
            mode,
            many: true,
            ty: syn::Type::Verbatim(quote::quote!(())),
            of: None,
            provider: None,
            without_controller: None,
            lookup: None,
            only_if: None,
            every: None,
            exclusive: None,
            retain: None,
            given: None,
            retired: None,
            member: None,
            goals: None,
        }
    }
}

impl Lifecycle {
    /// Returns the members of a group, in the order of declaration.
    pub fn members(&self, group: &Ident) -> impl Iterator<Item = &Input> {
        let of = move |input: &&Input| input.member.as_ref().is_some_and(|m| m.of == *group);
        self.inputs.iter().filter(of)
    }

    /// Returns the methods that build the objects an effect writes: one, or one for each member of
    /// a group.
    pub(crate) fn builders(&self, effect: &Effect) -> Vec<Ident> {
        let name = effect.name();
        let mut members = self.members(&effect.target).peekable();
        if members.peek().is_none() {
            return vec![name];
        }
        let builder = |member: &Input| builder_of(&name, &member.name);
        members.map(builder).collect()
    }
}

/// The method that builds a member of a group: `apply_parts_config`.
pub(crate) fn builder_of(effect: &Ident, member: &Ident) -> Ident {
    Ident::new(&format!("{}_{}", bare(effect), bare(member)), member.span())
}
