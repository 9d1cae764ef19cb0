//! Queries outside the cluster state: the method that polls or probes an input, and the keys under
//! which objects share its answer.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::paths::text;
use super::presence::is_guaranteed;
use super::{shared, subject};
use crate::hygiene::{join, private};
use crate::model::{Input, InputId, Kind, Lifecycle, Lookup, Mode, PollKey, Source};

/// Argument that a method receives for one of its keys, besides its subject.
enum Given<'a> {
    /// A field of the request.
    Field(&'a Ident),
    Input(InputId, &'a Ident),
}

/// The method that polls or probes an input.
pub(crate) fn name(input: &Input) -> Ident {
    join(input.mode.method_prefix(), &input.name)
}

/// ```text
/// fn poll_store(&self, this: This<'_, Bucket>, handle: &Handle, keys: Vec<&Secret>) -> impl Future<Output = Result<BucketInfo, CallError>> + Send;
/// ```
pub(crate) fn method(model: &Lifecycle, input: &Input) -> Option<TokenStream> {
    let doc = match input.mode {
        Mode::Probe => format!("Looks at `{}` on this node, once in a call.", input.name),
        Mode::Poll => format!(
            "Asks for `{}`; objects with equal keys share the answer.",
            input.name
        ),
        Mode::Watched
        | Mode::Owned
        | Mode::Shared
        | Mode::Part
        | Mode::Record
        | Mode::Noted
        | Mode::Clock
        | Mode::Group => return None,
    };
    let (private, name, ty) = (private(), name(input), &input.ty);
    let given = given(model, input);
    let rest = given.iter().map(|one| parameter(model, input, one));
    let args = subject::parameter(model, &[]).into_iter().chain(rest);
    Some(quote_spanned! {name.span()=>
        #[doc = #doc]
        fn #name(&self, #(#args),*) -> impl ::std::future::Future<Output = ::std::result::Result<#ty, #private::CallError>> + ::std::marker::Send;
    })
}

/// ```text
/// fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> { match input { 7 => Some(polling(self.0.poll_store(..))), .. } }
/// ```
pub(super) fn dispatch(model: &Lifecycle) -> TokenStream {
    let private = private();
    let inputs = model.inputs.iter().enumerate();
    let polled = inputs.filter(|(_, i)| matches!(i.mode, Mode::Poll | Mode::Probe));
    let arms = polled.map(|(n, input)| {
        let (name, given) = (name(input), given(model, input));
        let rest = given.iter().map(|one| argument(model, input, one));
        let args = subject::argument(model, &[]).into_iter().chain(rest);
        let home = model.home_of(&input.name);
        let call = shared::call(model, home, &name, &Vec::from_iter(args));
        quote!(#n => ::std::option::Option::Some(#private::polling(#call)),)
    });
    quote! {
        fn poll<'a>(&'a self, observation: &'a #private::Observation, input: usize) -> ::std::option::Option<#private::Polling<'a>> {
            match input { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

/// `lookup_about(observation.identity(3))`, `lookup_key(..)` of a path, `lookup_keys([..])` of several.
pub(super) fn lookup(model: &Lifecycle, keys: &[PollKey]) -> TokenStream {
    let private = private();
    match keys {
        [key] if key.input.is_some() => {
            let key = key_text(model, key);
            quote!(#private::lookup_about(#key))
        }
        [key] => {
            let key = text(model, &key.path);
            quote!(#private::lookup_key(#key))
        }
        several => {
            let several = several.iter().map(|key| match request_field(model, key) {
                // A missing field of the request triggers no query.
                Some(_) => {
                    let key = key_text(model, key);
                    quote!(::std::option::Option::Some(#key?))
                }
                None => key_text(model, key),
            });
            quote!(#private::lookup_keys([#(#several),*]))
        }
    }
}

/// Returns the text of a key, if it exists.
fn key_text(model: &Lifecycle, key: &PollKey) -> TokenStream {
    match key.as_input().map(|key| key.source) {
        Some(Source::Input(id)) => {
            let id = id.0;
            quote!(observation.identity(#id))
        }
        Some(
            Source::This | Source::Request | Source::Field(_) | Source::Value(_) | Source::Fact(_),
        )
        | None => text(model, &key.path),
    }
}

fn request_field<'a>(model: &Lifecycle, key: &'a PollKey) -> Option<&'a Ident> {
    match key.path.parts.as_slice() {
        [root, field] if model.kind == Kind::Volume && root == "request" => Some(field),
        _ => None,
    }
}

/// In the order of the keys, each once; a path of the object is seen in the object.
fn given<'a>(model: &Lifecycle, input: &'a Input) -> Vec<Given<'a>> {
    let Lookup::Keys(keys) = &input.lookup else {
        return Vec::new();
    };
    let mut given = Vec::new();
    for key in keys {
        let id = match key.input.as_ref().map(|used| used.source) {
            Some(Source::Input(id)) => Some(id),
            Some(
                Source::This
                | Source::Request
                | Source::Field(_)
                | Source::Value(_)
                | Source::Fact(_),
            )
            | None => None,
        };
        let is_new = |id: &InputId| {
            let same = |one: &Given<'_>| matches!(one, Given::Input(other, _) if other == id);
            !given.iter().any(same)
        };
        if let Some(field) = request_field(model, key) {
            given.push(Given::Field(field));
        } else if let Some(id) = id.filter(is_new) {
            given.push(Given::Input(id, key.path.root()));
        }
    }
    given
}

/// Returns a parameter. A query outlives the reconcile that starts it, so it receives sets by
/// value.
fn parameter(model: &Lifecycle, asking: &Input, given: &Given<'_>) -> TokenStream {
    match given {
        Given::Field(field) => quote!(#field: &str),
        Given::Input(id, name) => {
            let (input, ty) = (&model.inputs[id.0], &model.inputs[id.0].ty);
            match is_there(model, asking, *id) {
                _ if input.many => quote!(#name: ::std::vec::Vec<&#ty>),
                true => quote!(#name: &#ty),
                false => quote!(#name: ::std::option::Option<&#ty>),
            }
        }
    }
}

fn argument(model: &Lifecycle, asking: &Input, given: &Given<'_>) -> TokenStream {
    match given {
        Given::Field(field) => {
            let (request, field) = (subject::of_board(model), field.to_string());
            quote!(#request.text(#field)?)
        }
        Given::Input(id, name) => {
            let (n, input, ty) = (id.0, &model.inputs[id.0], &model.inputs[id.0].ty);
            let is_there = match model.home_of(&asking.name) {
                Some(home) => shared::is_guaranteed(home, &asking.name, name),
                None => is_there(model, asking, *id),
            };
            match is_there {
                _ if input.many => quote!(observation.many::<#ty>(#n)),
                true => quote!(observation.one::<#ty>(#n)?),
                false => quote!(observation.one::<#ty>(#n)),
            }
        }
    }
}

fn is_there(model: &Lifecycle, asking: &Input, id: InputId) -> bool {
    let given = Vec::from_iter(&asking.given);
    is_guaranteed(model, &given, Source::Input(id))
}
