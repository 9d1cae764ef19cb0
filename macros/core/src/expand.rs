//! Model to tokens: types, tables, traits and named assertions. Cannot fail and reports nothing; if it could, a rule would be missing.

mod calls;
mod claims;
mod counts;
mod facts;
mod fragment;
mod ids;
mod ir;
mod literals;
mod logic;
mod machine;
mod minted;
mod paths;
mod polled;
mod presence;
mod proof;
mod retired;
mod seen;
mod shared;
mod skeleton;
mod state;
mod subject;
mod texts;
mod times;
mod witness;

use proc_macro2::TokenStream;

use crate::ast;
use crate::model::Lifecycle;
use crate::space::summary::WorldReport;

/// Everything that a lifecycle gives, in reading order.
pub fn expand(model: &Lifecycle, shown: &WorldReport) -> TokenStream {
    let written = &shared::with_keys(model);
    let model = &shared::with_types(written);
    [
        facts::expand(model),
        state::expand(model),
        proof::expand(model, &shown.samples),
        seen::expand(model),
        witness::expand(model),
        logic::expand(model),
        machine::expand(model),
        ir::expand(&shared::with_keepers(written), shown),
        claims::expand(&shared::with_keepers(model)),
    ]
    .into_iter()
    .collect()
}

/// Everything that a fragment gives; without its model no more than its name.
pub fn fragment(ast: &ast::Fragment, alone: Option<&Lifecycle>) -> TokenStream {
    fragment::expand(ast, alone)
}

/// Returns the expansion of a lifecycle with unresolved names.
pub fn skeleton(ast: &ast::Lifecycle) -> TokenStream {
    skeleton::expand(ast)
}
