//! What is emitted where names did not resolve: the types that other code mentions, hollow, so that rustc reports the finding and not its echo.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::ast::{Domain, Lifecycle};
use crate::hygiene::camel;

/// ```text
/// pub enum Shape { .. }  pub enum State { .. }  pub trait ListenerLogic {}  pub struct ListenerMachine<L>(L);  pub fn machine(..)
/// ```
pub(crate) fn expand(ast: &Lifecycle) -> TokenStream {
    let logic = format_ident!("{}Logic", ast.name, span = ast.name.span());
    let machine = format_ident!("{}Machine", ast.name, span = ast.name.span());
    let states = ast.states.iter().map(|s| &s.name);
    let facts = ast.facts.iter().filter_map(|fact| match &fact.domain {
        Domain::Values { left, right } if camel(&fact.name) != ast.name => {
            let name = camel(&fact.name);
            let values = left.iter().chain(right.iter().flatten());
            Some(quote! {
                #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
                pub enum #name { #(#values),* }
            })
        }
        Domain::Values { .. } | Domain::Bool => None,
    });
    quote! {
        #(#facts)*

        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum State { #(#states),* }

        pub trait #logic: ::std::marker::Send + ::std::marker::Sync + 'static {}

        #[derive(Clone, Debug)]
        pub struct #machine<L>(L);

        pub fn machine<L: #logic>(logic: L) -> #machine<L> {
            #machine(logic)
        }
    }
}
