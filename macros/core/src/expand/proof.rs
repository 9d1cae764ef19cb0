//! Named assertions: rustc itself evaluates the emitted classification at the worlds of the
//! checker. It also knows if a list exists and in which scope objects live.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::facts::{field_name, field_type, is_bool, values};
use super::paths::object_part;
use super::state::classifier;
use crate::hygiene::private;
use crate::model::{Input, Kind, Lifecycle, Lookup, Mode, State, Var};

/// ```text
/// const _: () = assert!(matches!(State::classify(&Facts { class: Named::Unnamed, .. }), State::NoName), "..");
/// const _: () = owned_by::<Service, Listener>();
/// const _: fn(&Service) = |object| { .. Along::from(object).field(|o| &o.spec).inside().field(|o| &o.ports).inside().list(); };
/// ```
pub(crate) fn expand(model: &Lifecycle, samples: &[Option<Vec<usize>>]) -> TokenStream {
    let sampled = model.states.iter().zip(samples);
    sampled
        .filter_map(|(state, sample)| Some(assertion(model, state, sample.as_ref()?)))
        .chain(model.inputs.iter().filter_map(|i| owner(model, i)))
        .chain(model.inputs.iter().filter_map(|i| namer(model, i)))
        .chain(model.inputs.iter().flat_map(lists))
        .collect()
}

/// Returns the assertion that an object with an owner may live in the namespace scope of that
/// owner.
fn owner(model: &Lifecycle, input: &Input) -> Option<TokenStream> {
    if !matches!(input.mode, Mode::Owned | Mode::Shared) {
        return None;
    }
    let (private, ty) = (private(), &input.ty);
    let owner = match (input.of, model.kind) {
        (Some(of), _) => {
            let owner = &model.inputs[of.0].ty;
            quote!(#owner)
        }
        (None, Kind::Resource) => {
            let owner = &model.name;
            quote!(#owner)
        }
        (None, Kind::Volume) => return None,
    };
    Some(quote_spanned!(ty.span()=> const _: () = #private::owned_by::<#ty, #owner>();))
}

/// Returns the assertion that an object found by name alone lives in the namespace of the
/// lifecycle's object, or is cluster-scoped.
fn namer(model: &Lifecycle, input: &Input) -> Option<TokenStream> {
    let is_named = matches!(input.lookup, Lookup::Name { .. } | Lookup::Names { .. });
    if !is_named || model.kind != Kind::Resource {
        return None;
    }
    let (private, ty, subject) = (private(), &input.ty, &model.name);
    Some(quote_spanned!(ty.span()=> const _: () = #private::named_by::<#ty, #subject>();))
}

/// Asserts that the lists in which we own every element are lists of the type.
fn lists(input: &Input) -> impl Iterator<Item = TokenStream> {
    input.exclusive.iter().map(|path| {
        let (private, ty) = (private(), &input.ty);
        let fields = path.parts.iter().enumerate().map(|(n, part)| {
            let part = object_part(n, part);
            quote_spanned!(part.span()=> .field(|object| &object.#part).inside())
        });
        let last = path.parts.last().map_or_else(Span::call_site, Ident::span);
        let list = quote_spanned!(last=> .list());
        quote! {
            const _: fn(&#ty) = |object| {
                #[allow(unused_imports, reason = "every part of a path may be optional")]
                use #private::Inside as _;
                let _ = #private::Along::from(object)#(#fields)*#list;
            };
        }
    })
}

fn assertion(model: &Lifecycle, state: &State, sample: &[usize]) -> TokenStream {
    let name = &state.name;
    let fields = model.vars.iter().zip(sample).map(|(var, &value)| {
        let (field, value) = (field_name(var), literal(model, var, value));
        quote!(#field: #value)
    });
    let classify = match state.region {
        Some(region) => classifier(model, region),
        None => Ident::new("classify", Span::call_site()),
    };
    let text = format!("the emitted classification takes a world of `{name}` for another state");
    quote! {
        const _: () = assert!(matches!(State::#classify(&Facts { #(#fields),* }), State::#name), #text);
    }
}

fn literal(model: &Lifecycle, var: &Var, value: usize) -> TokenStream {
    if is_bool(var) {
        let value = value == 1;
        return quote!(#value);
    }
    let (ty, value) = (field_type(model, var), &values(var)[value]);
    quote!(#ty::#value)
}
