//! Model to tokens: types, tables, traits and named assertions. Cannot fail and reports nothing; if it could, a rule would be missing.

mod calls;
mod facts;
mod ir;
mod literals;
mod logic;
mod machine;
mod paths;
mod presence;
mod proof;
mod seen;
mod skeleton;
mod state;
mod subject;
mod texts;
mod witness;

use proc_macro2::TokenStream;

use crate::ast;
use crate::model::Lifecycle;

/// Everything that a lifecycle gives, in reading order; `samples` are worlds of its states, by the index of the value of each variable.
pub fn expand(model: &Lifecycle, samples: &[Option<Vec<usize>>]) -> TokenStream {
    [
        facts::expand(model),
        state::expand(model),
        proof::expand(model, samples),
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
