//! Ids as tokens: `ir::StateId(3)`. They stand where the module `ir` of the runtime is in scope.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::model::StateId;

macro_rules! tokens {
    ($($name:ident),* $(,)?) => { $(
        impl ToTokens for $name {
            fn to_tokens(&self, tokens: &mut TokenStream) {
                let position = self.0;
                tokens.extend(quote!(ir::$name(#position)));
            }
        }
    )* };
}
tokens!(StateId);
