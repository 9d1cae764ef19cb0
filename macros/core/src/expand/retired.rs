//! Items of an older version, as data: the runtime removes them.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::literals::option;
use crate::hygiene::json_name;
use crate::model::{Gone, GoneOf, Leaves};

/// Generates one line. Returns `None` for an item that leaves nothing in a cluster.
pub(crate) fn gone(gone: &Gone) -> Option<TokenStream> {
    let now = option(gone.now.as_ref().map(Ident::to_string));
    Some(match &gone.what {
        GoneOf::Finalizer(name) => {
            let name = option(name.as_ref());
            quote!(ir::Retired::Finalizer(#name))
        }
        GoneOf::Record(name) => {
            let name = name.to_string();
            quote!(ir::Retired::Record { name: #name, now: #now })
        }
        GoneOf::Annotation(key) => quote!(ir::Retired::Annotation { key: #key, now: #now }),
        GoneOf::Condition(name) => {
            let name = name.to_string();
            quote!(ir::Retired::Condition(#name))
        }
        GoneOf::Field(name) => {
            let name = json_name(&name.to_string());
            quote!(ir::Retired::Field(#name))
        }
        GoneOf::State(_) | GoneOf::Value(..) | GoneOf::Kept(_) => return None,
    })
}

/// Returns the treatment of the objects of a retired input.
pub(crate) fn leaves(leaves: Leaves) -> TokenStream {
    match leaves {
        Leaves::Deleted => quote!(ir::Leaves::Deleted),
        Leaves::Released => quote!(ir::Leaves::Released),
    }
}
