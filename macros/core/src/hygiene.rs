//! Names that generated code uses: the one path into the runtime, and identifiers made from users' words with their spans.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// Returns the only path of ours in generated code.
pub(crate) fn private() -> TokenStream {
    quote!(::lifecycle_runtime::__private)
}

/// Returns the type of the time that a clock reports.
pub(crate) fn timestamp() -> TokenStream {
    let private = private();
    quote!(#private::Timestamp)
}

/// Returns the type of the record of objects that are created once.
pub(crate) fn noted() -> TokenStream {
    let private = private();
    quote!(#private::Noted)
}

/// `apply_service` as a type: `ApplyService`, where the user wrote it.
pub(crate) fn camel(name: &Ident) -> Ident {
    Ident::new(&camel_case(&name.to_string()), name.span())
}

/// `ingress_addresses` as a field of Kubernetes: `ingressAddresses`.
pub(crate) fn json_name(name: &str) -> String {
    let camel = camel_case(name);
    let mut letters = camel.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(letters).collect()
    })
}

pub(crate) fn camel_case(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(letters).collect()
        })
    };
    name.trim_start_matches("r#")
        .split('_')
        .map(capital)
        .collect()
}

/// An identifier at a place of the user's.
pub(crate) fn ident(name: &str, span: Span) -> Ident {
    Ident::new(name, span)
}

/// `first` and `second` as one: `first_second`, at the place of the second.
pub(crate) fn join(first: &str, second: &Ident) -> Ident {
    Ident::new(&format!("{first}_{second}"), second.span())
}
