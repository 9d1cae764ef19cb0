//! Items that a lifecycle takes from its fragments: their types, the logic that answers them, and
//! constants. All of them are reached through the module of each fragment. Names in another file
//! keep the meaning that they have there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;

use super::presence;
use crate::hygiene::camel;
use crate::model::{Fragment, Lifecycle, Lookup, Origin, Pred, Source};

/// The trait of a fragment.
pub(super) fn trait_name(fragment: &Ident) -> Ident {
    camel(fragment)
}

/// The name under which a fragment hands on the type of an input or value.
pub(super) fn type_alias(fragment: &Ident, item: &Ident) -> Ident {
    format_ident!("__{fragment}_{item}", span = Span::call_site())
}

/// The name under which it hands on the key of a label.
pub(super) fn key_alias(fragment: &Ident, input: &Ident, position: usize) -> Ident {
    format_ident!("__{fragment}_{input}_{position}", span = Span::call_site())
}

/// Returns the alias under which a fragment passes on the lifecycle that keeps a promise.
pub(super) fn keeper_alias(fragment: &Ident, promise: &Ident) -> Ident {
    format_ident!("__{fragment}_{promise}_keeper", span = Span::call_site())
}

/// `fn site_room(&self) -> &impl site_room::SiteRoom<Listener>;`
pub(super) fn methods(model: &Lifecycle) -> TokenStream {
    let subject = &model.name;
    let asking = model
        .fragments
        .iter()
        .filter(|fragment| fragment.has_methods());
    let methods = asking.map(|fragment| {
        let (used, logic) = (&fragment.used, trait_name(&fragment.name));
        let doc = format!("What answers for the fragment `{used}`.");
        quote!(#[doc = #doc] fn #used(&self) -> &impl #used::#logic<#subject>;)
    });
    methods.collect()
}

/// `self.0.health(..)`, and of a fragment `site_room::SiteRoom::<Listener>::running(self.0.site_room(), ..)`: its trait need not be in scope.
pub(super) fn call(
    model: &Lifecycle,
    home: Option<&Fragment>,
    method: &Ident,
    arguments: &[TokenStream],
) -> TokenStream {
    let Some(fragment) = home else {
        return quote!(self.0.#method(#(#arguments),*));
    };
    let (used, logic) = (&fragment.used, trait_name(&fragment.name));
    let subject = &model.name;
    quote!(#used::#logic::<#subject>::#method(self.0.#used(), #(#arguments),*))
}

/// Returns true if the method of a fragment receives a source for certain. Only the declarations of
/// the fragment decide this, regardless of the lifecycle that uses it.
pub(super) fn is_guaranteed(fragment: &Fragment, item: &Ident, source: &Ident) -> bool {
    let part = &fragment.alone;
    let input = part.inputs.iter().find(|input| input.name == *item);
    let value = part.values.iter().find(|value| value.name == *item);
    let var = part
        .vars
        .iter()
        .find(|var| matches!(var.origin, Origin::Fact { .. }) && var.name == *item);
    let mut given: Vec<&Pred> = Vec::new();
    given.extend(input.and_then(|input| input.given.as_ref()));
    given.extend(value.and_then(|value| value.given.as_ref()));
    given.extend(var.iter().flat_map(|var| var.given.iter().map(|g| &g.pred)));
    found(part, source).is_some_and(|source| presence::is_guaranteed(part, &given, source))
}

fn found(part: &Lifecycle, name: &Ident) -> Option<Source> {
    use crate::model::{InputId, ValueId};
    if name == "self" {
        return Some(Source::This);
    }
    let input = part.inputs.iter().position(|input| input.name == *name);
    let value = part.values.iter().position(|value| value.name == *name);
    let input = input.map(|at| Source::Input(InputId(at)));
    input.or_else(|| value.map(|at| Source::Value(ValueId(at))))
}

/// The same lifecycle with the types of fragments under the names that those hand on.
pub(super) fn with_types(model: &Lifecycle) -> Lifecycle {
    let mut local = model.clone();
    let alias = |item: &Ident| {
        let fragment = model.home_of(item)?;
        let (used, alias) = (&fragment.used, type_alias(&fragment.name, item));
        Some(syn::parse_quote!(#used::#alias))
    };
    for input in &mut local.inputs {
        if let Some(ty) = alias(&input.name) {
            input.ty = ty;
        }
    }
    for value in &mut local.values {
        if let Some(ty) = alias(&value.name) {
            value.ty = ty;
        }
    }
    local
}

/// The same lifecycle with the keys of labels under the names that fragments hand on.
pub(super) fn with_keys(model: &Lifecycle) -> Lifecycle {
    let mut local = model.clone();
    for input in &mut local.inputs {
        let (Lookup::Labels { pairs }, Some(fragment)) =
            (&mut input.lookup, model.home_of(&input.name))
        else {
            continue;
        };
        for (position, (key, _)) in pairs.iter_mut().enumerate() {
            let alias = key_alias(&fragment.name, &input.name, position);
            key.parts = vec![fragment.used.clone(), alias];
        }
    }
    local
}

/// The same lifecycle with the keepers of promises under the names that fragments hand on.
pub(super) fn with_keepers(model: &Lifecycle) -> Lifecycle {
    let mut local = model.clone();
    for promise in &mut local.promises {
        let mut fragments = model.fragments.iter();
        let home = fragments.find(|fragment| fragment.promises(&promise.name));
        if let (Some(claim), Some(fragment)) = (&mut promise.claim, home) {
            let alias = keeper_alias(&fragment.name, &promise.name);
            let (used, span) = (&fragment.used, claim.keeper.span());
            claim.keeper = syn::parse_quote_spanned!(span=> #used::#alias);
        }
    }
    local
}
