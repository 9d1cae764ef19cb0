//! Durations that the object holds: a method reads them, and the runtime interprets them.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::paths::Paths;
use super::subject;
use crate::hygiene::private;
use crate::model::{Length, Lifecycle};

/// Returns every path of the object that holds a duration, in order of its first use.
pub(super) fn paths(model: &Lifecycle) -> Paths<'_> {
    let polled = model.inputs.iter().filter_map(|i| i.every.as_ref());
    let states = model.states.iter().map(|s| &s.overdue);
    let said = polled.chain(states).filter_map(|l| l.path.as_ref());
    Paths::new(said)
}

/// `ir::Length { said: Some(0), otherwise: 30000u64, least: 5000u64 }`
pub(super) fn length(length: &Length, paths: &Paths<'_>) -> TokenStream {
    let (otherwise, least) = (length.otherwise, length.least);
    let said = match &length.path {
        Some(path) => {
            let at = paths.index_of(path);
            quote!(::std::option::Option::Some(#at))
        }
        None => quote!(::std::option::Option::None),
    };
    quote!(ir::Length { said: #said, otherwise: #otherwise, least: #least })
}

/// ```text
/// fn time(&self, observation: &Observation, time: usize) -> Option<Said> { match time { 0 => Lasts::lasts(&observation.this::<Repo>()?.spec.interval), .. } }
/// ```
pub(super) fn method(model: &Lifecycle) -> TokenStream {
    let (private, paths) = (private(), paths(model));
    if paths.is_empty() {
        return TokenStream::new();
    }
    let subject = subject::of_board(model);
    let arms = paths.each().enumerate().map(|(n, path)| {
        let parts = &path.parts;
        let last = parts
            .last()
            .map_or_else(proc_macro2::Span::call_site, Spanned::span);
        let said = quote_spanned!(last=> #private::Lasts::lasts(&#subject #(.#parts)*));
        quote!(#n => #said,)
    });
    quote! {
        fn time(&self, observation: &#private::Observation, time: usize) -> ::std::option::Option<#private::Said> {
            match time { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}
