//! Named assertions: rustc itself evaluates the emitted classification where the checker did.

use proc_macro2::TokenStream;
use quote::quote;

use super::facts::{field_name, field_type, is_bool, values};
use crate::model::{Lifecycle, State, Var};

/// ```text
/// const _: () = assert!(matches!(State::classify(&Facts { class: Named::Unnamed, .. }), State::NoName), "..");
/// ```
pub(crate) fn expand(model: &Lifecycle, samples: &[Option<Vec<usize>>]) -> TokenStream {
    let sampled = model.states.iter().zip(samples);
    sampled
        .filter_map(|(state, sample)| Some(assertion(model, state, sample.as_ref()?)))
        .collect()
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
