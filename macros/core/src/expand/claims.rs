//! Claims between lifecycles: the IR of this lifecycle by its type, for claims by others, and its
//! own claims. The own claims are assertions that the keeper of a promise has the states for it.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::hygiene::private;
use crate::model::{Claim, Kind, Lifecycle, Promise, StateId};

/// ```text
/// impl Declared<State> for Listener { const PATH: &'static str = ..; const IR: &'static ir::Lifecycle = IR; }
/// const _: () = claimed(("follows", "Site"), <Site as Declared<_>>::IR, &["Ready"]);
/// ```
/// `State` is a type of this very module, so that also the type of another package may have a lifecycle.
pub(crate) fn expand(model: &Lifecycle) -> TokenStream {
    let (private, subject) = (private(), &model.name);
    let path = path(model);
    let declared = (model.kind == Kind::Resource).then(|| {
        quote! {
            impl #private::Declared<State> for #subject {
                const PATH: &'static str = #path;
                const IR: &'static #private::ir::Lifecycle = IR;
            }
        }
    });
    let claims = model.promises.iter().filter_map(|promise| {
        let Claim { keeper, states } = promise.claim.as_ref()?;
        let (name, states) = (promise.name.to_string(), states.iter().map(|s| s.to_string()));
        // Messages of rustc point at the keeper.
        let here = keeper.span();
        let private = private.clone().into_iter().map(|mut token| {
            token.set_span(here);
            token
        });
        let private: TokenStream = private.collect();
        Some(quote_spanned! {here=>
            const _: () = #private::claimed(#name, <#keeper as #private::Declared<_>>::IR, &[#(#states),*]);
        })
    });
    quote!(#declared #(#claims)*)
}

/// Returns the path that distinguishes this lifecycle from all others: `module::Listener`.
pub(crate) fn path(model: &Lifecycle) -> TokenStream {
    let name = format!("::{}", model.name);
    quote!(::std::concat!(::std::module_path!(), #name))
}

/// `ir::Claim { keeper: <Site as Declared<_>>::PATH, states: &["Ready"] }`.
pub(crate) fn claim(promise: &Promise, claim: &Claim) -> TokenStream {
    let (private, keeper) = (private(), &claim.keeper);
    let states = claim.states.iter().map(|state| state.to_string());
    let span = promise.name.span();
    quote_spanned!(span=> ir::Claim { keeper: <#keeper as #private::Declared<_>>::PATH, states: &[#(#states),*] })
}

/// `ir::Wait { state: 3, promises: &[0] }`, in one order.
pub(crate) fn waits(
    waits: &BTreeSet<(StateId, Vec<usize>)>,
) -> impl Iterator<Item = TokenStream> + use<'_> {
    waits
        .iter()
        .map(|(state, promises)| quote!(ir::Wait { state: #state, promises: &[#(#promises),*] }))
}
