//! Named assertions: rustc itself evaluates the emitted classification where the checker did, and knows whether a list is there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::facts::{field_name, field_type, is_bool, values};
use super::paths::object_part;
use crate::hygiene::private;
use crate::model::{Input, Lifecycle, State, Var};

/// ```text
/// const _: () = assert!(matches!(State::classify(&Facts { class: Named::Unnamed, .. }), State::NoName), "..");
/// const _: fn(&Service) = |object| { .. Along::from(object).field(|o| &o.spec).inside().field(|o| &o.ports).inside().list(); };
/// ```
pub(crate) fn expand(model: &Lifecycle, samples: &[Option<Vec<usize>>]) -> TokenStream {
    let sampled = model.states.iter().zip(samples);
    sampled
        .filter_map(|(state, sample)| Some(assertion(model, state, sample.as_ref()?)))
        .chain(model.inputs.iter().flat_map(lists))
        .collect()
}

/// The lists of which we own every element are lists of the type.
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
    let text = format!("the emitted classification takes a world of `{name}` for another state");
    quote! {
        const _: () = assert!(matches!(State::classify(&Facts { #(#fields),* }), State::#name), #text);
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
