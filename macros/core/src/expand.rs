//! Model to tokens: types, tables, traits and named assertions. Cannot fail and reports nothing; if it could, a rule would be missing.

mod facts;
mod ir;
mod logic;
mod machine;
mod order;
mod presence;
mod seen;
mod skeleton;
mod state;
mod witness;

use proc_macro2::TokenStream;

use crate::ast;
use crate::model::Lifecycle;

/// Everything that a lifecycle gives, in reading order.
pub fn expand(model: &Lifecycle) -> TokenStream {
    [
        facts::expand(model),
        state::expand(model),
        seen::expand(model),
        witness::expand(model),
        logic::expand(model),
        machine::expand(model),
        ir::expand(model),
    ]
    .into_iter()
    .collect()
}

/// What a lifecycle gives whose names did not resolve.
pub fn skeleton(ast: &ast::Lifecycle) -> TokenStream {
    skeleton::expand(ast)
}
