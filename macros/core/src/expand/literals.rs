//! Literals shared by the descriptions of lifecycles and calls: options and predicates as
//! constants.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::model::{Pred, PredKind};

/// `None` or `Some(5)`.
pub(super) fn option(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(
        || quote!(::std::option::Option::None),
        |v| quote!(::std::option::Option::Some(#v)),
    )
}

/// `ir::Pred::Is(2, 1)`
pub(super) fn pred(of: &Pred) -> TokenStream {
    match &of.kind {
        PredKind::Is { var, values } => {
            let (var, values) = (var.0, values.0);
            quote!(ir::Pred::Is(#var, #values))
        }
        PredKind::All(all) => {
            let all = all.iter().map(pred);
            quote!(ir::Pred::All(&[#(#all),*]))
        }
        PredKind::Any(any) => {
            let any = any.iter().map(pred);
            quote!(ir::Pred::Any(&[#(#any),*]))
        }
        PredKind::Not(p) => {
            let p = pred(p);
            quote!(ir::Pred::Not(&#p))
        }
    }
}
