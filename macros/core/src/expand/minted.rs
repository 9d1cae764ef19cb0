//! Minted values: one method that reads a value back from its keeper, and one that makes a missing
//! value.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::subject;
use crate::hygiene::private;
use crate::model::{Lifecycle, Source, Use, Value};

/// ```text
/// fn read_password(&self, this: This<'_, Login>, secret: &Secret) -> Option<Password>;
/// fn make_password(&self, this: This<'_, Login>, authority: &Secret, random: &mut Random) -> Password;
/// ```
pub(super) fn methods(model: &Lifecycle, value: &Value) -> TokenStream {
    let (private, name, ty) = (private(), &value.name, &value.ty);
    let (read, make) = (
        format_ident!("read_{name}", span = name.span()),
        format_ident!("make_{name}", span = name.span()),
    );
    let parameters = |from: &[Use]| {
        let rest = from.iter().filter_map(|used| {
            let (name, ty) = (&used.name, given(model, used)?);
            Some(quote!(#name: #ty))
        });
        let all = subject::parameter(model, from).into_iter().chain(rest);
        quote!(#(#all,)*)
    };
    let (keeper, from) = (parameters(&value.from[..1]), parameters(value.made_from()));
    let reads = format!("Reads `{name}` back; `None` if it is not there, so that it is made.");
    let makes = format!("Makes `{name}`: from its declared inputs and these random bytes alone.");
    let reads = match value.doc.is_empty() {
        true => reads,
        false => value.doc.clone(),
    };
    quote_spanned! {name.span()=>
        #[doc = #reads]
        fn #read(&self, #keeper) -> ::std::option::Option<#ty>;
        #[doc = #makes]
        fn #make(&self, #from random: &mut #private::Random) -> #ty;
    }
}

/// ```text
/// shared(self.0.read_password(observation.this::<Login>()?, observation.one::<Secret>(1)?)?)
/// ```
pub(super) fn read(model: &Lifecycle, value: &Value) -> TokenStream {
    let (private, method) = (private(), format_ident!("read_{}", value.name));
    let keeper = arguments(model, &value.from[..1]);
    quote!(#private::shared(self.0.#method(#keeper)?))
}

/// ```text
/// fn make(&self, observation: &Observation, value: usize, random: &mut Random) -> Option<Any> { match value { .. } }
/// ```
pub(super) fn makes(model: &Lifecycle) -> TokenStream {
    let private = private();
    let values = model.values.iter().enumerate();
    let minted = values.filter(|(_, value)| value.mint.is_some());
    let arms: Vec<TokenStream> = minted
        .map(|(number, value)| {
            let method = format_ident!("make_{}", value.name);
            let from = arguments(model, value.made_from());
            let made = quote!(#private::shared(self.0.#method(#from random)));
            quote!(#number => ::std::option::Option::Some(#made),)
        })
        .collect();
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        fn make(&self, observation: &#private::Observation, value: usize, random: &mut #private::Random) -> ::std::option::Option<#private::Any> {
            match value { #(#arms)* _ => ::std::option::Option::None }
        }
    }
}

/// Returns the arguments, with a comma after each. The method is called only if all of them are
/// present, so none is optional.
fn arguments(model: &Lifecycle, from: &[Use]) -> TokenStream {
    let rest = from.iter().filter_map(|used| match used.source {
        Source::Input(input) => {
            let (n, input) = (input.0, &model.inputs[input.0]);
            let ty = &input.ty;
            Some(match input.many {
                true => quote!(&observation.many::<#ty>(#n)),
                false => quote!(observation.one::<#ty>(#n)?),
            })
        }
        Source::Value(value) => {
            let (n, ty) = (value.0, &model.values[value.0].ty);
            Some(quote!(observation.value::<#ty>(#n)?))
        }
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => None,
    });
    let all = subject::argument(model, from).into_iter().chain(rest);
    quote!(#(#all,)*)
}

/// Returns the type of an argument that is certainly present.
fn given(model: &Lifecycle, used: &Use) -> Option<TokenStream> {
    match used.source {
        Source::Input(input) => {
            let (ty, many) = (&model.inputs[input.0].ty, model.inputs[input.0].many);
            Some(if many { quote!(&[&#ty]) } else { quote!(&#ty) })
        }
        Source::Value(value) => {
            let ty = &model.values[value.0].ty;
            Some(quote!(&#ty))
        }
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => None,
    }
}
