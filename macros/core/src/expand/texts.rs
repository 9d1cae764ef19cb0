//! Texts of the object that messages take in: read by a method, put together by the runtime.

use proc_macro2::TokenStream;
use quote::quote;

use super::paths::{Paths, text};
use crate::hygiene::private;
use crate::model::{Lifecycle, Message, Part};

/// Every path that some message takes in, as it was written, in order of its first use.
pub(super) fn paths(model: &Lifecycle) -> Paths<'_> {
    let clauses = model.conditions.iter().flat_map(|c| &c.clauses);
    let messages = clauses.filter_map(|c| c.message.as_ref());
    let ready = model.ready.iter().filter_map(|r| r.message.as_ref());
    let parts = messages.chain(ready).flat_map(|m| &m.parts);
    Paths::new(parts.filter_map(|part| match part {
        Part::Path(path) => Some(path),
        Part::Text(_) => None,
    }))
}

/// `&[ir::Part::Text("Service "), ir::Part::Path(0)]`
pub(super) fn parts(message: &Message, paths: &Paths<'_>) -> TokenStream {
    let parts = message.parts.iter().map(|part| match part {
        Part::Text(text) => quote!(ir::Part::Text(#text)),
        Part::Path(path) => {
            let at = paths.index_of(path);
            quote!(ir::Part::Path(#at))
        }
    });
    quote!(&[#(#parts),*])
}

/// ```text
/// fn text(&self, observation: &Observation, text: usize) -> Option<String> { match text { 0 => Text::text(&observation.this::<Door>()?.spec.host), .. } }
/// ```
pub(super) fn method(model: &Lifecycle) -> TokenStream {
    let (private, paths) = (private(), paths(model));
    if paths.is_empty() {
        return TokenStream::new();
    }
    let arms = paths.each().enumerate().map(|(n, path)| {
        let text = text(model, path);
        quote!(#n => #text,)
    });
    quote! {
        fn text(&self, observation: &#private::Observation, text: usize) -> ::std::option::Option<::std::string::String> {
            match text { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}
