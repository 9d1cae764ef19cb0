//! Subject of a method: always the object for a resource, and the request for a volume if the
//! declaration requires it. A fact of a volume that does not read the request receives no subject,
//! so that data that a call cannot see cannot affect it.

use proc_macro2::TokenStream;
use quote::quote;

use crate::csi::RequestField;
use crate::hygiene::private;
use crate::model::{Effect, Kind, Lifecycle, Source, Use, Verb};

/// `this: This<'_, Listener>`, `request: Request<'_>` or nothing.
pub(crate) fn parameter(model: &Lifecycle, from: &[Use]) -> Option<TokenStream> {
    let (private, subject) = (private(), &model.name);
    match model.kind {
        Kind::Resource => Some(quote!(this: #private::This<'_, #subject>)),
        Kind::Volume => reads_request(from).then(|| quote!(request: #private::Request<'_>)),
    }
}

/// Returns the expression by which an observation supplies the subject.
pub(crate) fn argument(model: &Lifecycle, from: &[Use]) -> Option<TokenStream> {
    match model.kind {
        Kind::Volume if !reads_request(from) => None,
        Kind::Resource | Kind::Volume => Some(of_board(model)),
    }
}

/// The field of `Seen`.
pub(crate) fn field(model: &Lifecycle) -> TokenStream {
    let (private, subject) = (private(), &model.name);
    match model.kind {
        Kind::Resource => quote! {
            /// The object itself, without its status.
            pub this: #private::This<'a, #subject>,
        },
        Kind::Volume => quote! {
            /// Request of the caller, without its secrets.
            pub request: #private::Request<'a>,
        },
    }
}

/// Returns the subject field of a witness. An effect that runs a call receives its request. An
/// effect that is compared receives the request only if the declaration requires it.
pub(crate) fn field_of(model: &Lifecycle, effect: &Effect) -> Option<TokenStream> {
    let shown = effect.verb == Verb::Call || reads_request(&effect.from);
    (model.kind == Kind::Resource || shown).then(|| field(model))
}

/// How `Seen` and witnesses fill their field.
pub(crate) fn name(model: &Lifecycle) -> TokenStream {
    match model.kind {
        Kind::Resource => quote!(this),
        Kind::Volume => quote!(request),
    }
}

/// `observation.this::<Listener>()?` or `observation.request()?`.
pub(crate) fn of_board(model: &Lifecycle) -> TokenStream {
    let subject = &model.name;
    match model.kind {
        Kind::Resource => quote!(observation.this::<#subject>()?),
        Kind::Volume => quote!(observation.request()?),
    }
}

/// Returns the type of the argument for a field of the request, and the expression by which an
/// observation supplies it. A text is one that every caller must send unchanged.
pub(crate) fn field_of_request(field: RequestField) -> (TokenStream, TokenStream) {
    let private = private();
    let request = quote!(observation.request()?);
    let map = quote!(&::std::collections::BTreeMap<::std::string::String, ::std::string::String>);
    let (ty, get) = match field {
        RequestField::Name => (quote!(&str), quote!(name()?)),
        RequestField::VolumeId => (quote!(&str), quote!(volume_id()?)),
        RequestField::TargetPath => (quote!(&str), quote!(target_path()?)),
        RequestField::StagingTargetPath => (
            quote!(::std::option::Option<&str>),
            quote!(staging_target_path()),
        ),
        RequestField::Parameters => (map, quote!(parameters())),
        RequestField::VolumeContext => (map, quote!(volume_context())),
        RequestField::Capabilities => (quote!(&[#private::Capability]), quote!(capabilities())),
        RequestField::Readonly => (quote!(bool), quote!(is_readonly())),
        RequestField::CapacityRange => (quote!((u64, u64)), quote!(bytes())),
        RequestField::Requisite => (quote!(&[#private::Segments]), quote!(requisite())),
        RequestField::Preferred => (quote!(&[#private::Segments]), quote!(preferred())),
    };
    (ty, quote!(#request.#get))
}

fn reads_request(from: &[Use]) -> bool {
    from.iter().any(|one| one.source == Source::Request)
}
