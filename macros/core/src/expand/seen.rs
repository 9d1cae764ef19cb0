//! `Seen`: the typed observations of a reconcile, for builders and for tests without a cluster.

use proc_macro2::TokenStream;
use quote::quote;

use super::subject;
use crate::hygiene::private;
use crate::model::{Input, Lifecycle, Mode};

/// ```text
/// pub struct Seen<'a> { pub this: This<'a, Listener>, pub class: Option<&'a ListenerClass>, pub nodes: Vec<&'a Node>, .. }
/// impl<'a> Seen<'a> { pub fn from_observation(observation: &'a Observation) -> Option<Self> { .. } }
/// ```
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let private = private();
    let (about, about_name, of_board) = (
        subject::field(model),
        subject::name(model),
        subject::of_board(model),
    );
    // Only facts receive the current time: a builder that uses it would write without end.
    let is_seen =
        |input: &Input| !matches!(input.mode, Mode::Clock | Mode::Group) && input.retired.is_none();
    let seen = || model.inputs.iter().filter(|i| is_seen(i));
    let inputs: Vec<_> = seen().map(|i| &i.name).collect();
    let values: Vec<_> = model.values.iter().map(|v| &v.name).collect();
    let input_docs = seen().map(|i| doc(&i.doc, &format!("The input `{}`.", i.name)));
    let value_docs = model
        .values
        .iter()
        .map(|v| doc(&v.doc, &format!("The shared value `{}`.", v.name)));
    let input_types = seen().map(|i| {
        let ty = &i.ty;
        if i.many {
            quote!(::std::vec::Vec<&'a #ty>)
        } else {
            quote!(::std::option::Option<&'a #ty>)
        }
    });
    let value_types = model.values.iter().map(|v| &v.ty);
    let numbered = model.inputs.iter().enumerate();
    let numbered = numbered.filter(|(_, i)| is_seen(i));
    let input_reads = numbered.map(|(n, i)| {
        let ty = &i.ty;
        if i.many {
            quote!(observation.many::<#ty>(#n))
        } else {
            quote!(observation.one::<#ty>(#n))
        }
    });
    let value_reads = model.values.iter().enumerate().map(|(n, v)| {
        let ty = &v.ty;
        quote!(observation.value::<#ty>(#n))
    });
    quote! {
        /// Observations of one reconcile.
        #[derive(Clone)]
        pub struct Seen<'a> {
            #about
            #(#[doc = #input_docs] pub #inputs: #input_types,)*
            #(#[doc = #value_docs] pub #values: ::std::option::Option<&'a #value_types>,)*
        }

        impl<'a> Seen<'a> {
            /// An observation of the runtime, typed.
            pub fn from_observation(observation: &'a #private::Observation) -> ::std::option::Option<Self> {
                ::std::option::Option::Some(Self {
                    #about_name: #of_board,
                    #(#inputs: #input_reads,)*
                    #(#values: #value_reads,)*
                })
            }
        }
    }
}

fn doc(written: &str, otherwise: &str) -> String {
    if written.is_empty() {
        otherwise.to_owned()
    } else {
        written.to_owned()
    }
}
