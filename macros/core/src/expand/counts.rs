//! Facts that count: a method that is called for each member, and the answer that follows.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::{shared, subject};
use crate::hygiene::private;
use crate::model::{InputId, Lifecycle, Source, Use, Var};

/// ```text
/// fn ready(&self, this: This<'_, Fleet>, member: &Pod) -> Because<bool>;
/// ```
pub(super) fn method(model: &Lifecycle, var: &Var, from: &[Use]) -> TokenStream {
    let (private, name) = (private(), &var.name);
    let member = set(from).map(|id| {
        let ty = &model.inputs[id.0].ty;
        quote!(member: &#ty)
    });
    let args = subject::parameter(model, from).into_iter().chain(member);
    let doc = match var.doc.is_empty() {
        true => format!("Whether `{name}` counts this member."),
        false => var.doc.clone(),
    };
    quote_spanned!(name.span()=> #[doc = #doc] fn #name(&self, #(#args),*) -> #private::Because<bool>;)
}

/// ```text
/// { let this = observation.this::<Fleet>()?; count(&observation.many::<Pod>(1), |member| self.0.ready(this, member)) }
/// ```
pub(super) fn answer(model: &Lifecycle, var: &Var, from: &[Use]) -> TokenStream {
    let (private, name) = (private(), &var.name);
    let members = set(from).map(|id| {
        let (n, ty) = (id.0, &model.inputs[id.0].ty);
        quote!(&observation.many::<#ty>(#n))
    });
    // The set does not exist, which was reported.
    let members = members.unwrap_or_else(|| quote!(&[]));
    let home = model.home_of(name);
    let ask = |args: &[TokenStream]| shared::call(model, home, name, args);
    match subject::argument(model, from) {
        Some(about) => {
            let call = ask(&[quote!(about), quote!(member)]);
            quote!({
                let about = #about;
                #private::count(#members, |member| #call)
            })
        }
        None => {
            let call = ask(&[quote!(member)]);
            quote!(#private::count(#members, |member| #call))
        }
    }
}

fn set(from: &[Use]) -> Option<InputId> {
    from.iter().find_map(|used| match used.source {
        Source::Input(id) => Some(id),
        Source::This | Source::Request | Source::Field(_) | Source::Value(_) | Source::Fact(_) => {
            None
        }
    })
}
