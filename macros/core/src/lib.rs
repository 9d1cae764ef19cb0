//! The lifecycle language as a plain library: tokens in, diagnostics and tokens out. Knows no Kubernetes client and no runtime.

pub mod ast;
pub mod check;
pub mod csi;
pub mod errors;
pub mod expand;
mod find;
mod hygiene;
mod meant;
pub mod model;
mod parse;
pub mod rule;
pub mod space;
mod stages;

use proc_macro2::TokenStream;

use check::needless_allow;
use check::unknown_name::Respelling;
use errors::{Diagnostic, Sink};
pub use find::{find, find_in};
pub use model::build::build;
use model::build::{Built, Mention};
pub use parse::parse;
use space::summary::Shown;

/// Everything that is known about one `lifecycle!` block.
#[derive(Debug)]
pub struct Checked {
    /// All findings, by position.
    pub diagnostics: Vec<Diagnostic>,
    /// What was written, if at least its name could be read.
    pub ast: Option<ast::Lifecycle>,
    /// Its meaning, if all names resolved; it may still break rules.
    pub model: Option<model::Lifecycle>,
    /// Names that did not resolve, with those that they resemble.
    respellings: Vec<Respelling>,
}

impl Checked {
    /// Whether nothing stops the build.
    pub fn is_accepted(&self) -> bool {
        let mut severities = self.diagnostics.iter().map(|found| found.severity);
        self.model.is_some() && severities.all(|severity| severity == errors::Severity::Warning)
    }
}

/// Parses, resolves and checks the body of one `lifecycle! { .. }`, stage by stage, as far as there is no error.
pub fn check(body: TokenStream) -> Checked {
    let mut sink = Sink::default();
    let ast = parse(body, &mut sink);
    let mut respellings = Vec::new();
    let mut mentions = Vec::new();
    let model = ast.as_ref().and_then(|ast| {
        let mut built = model::build::resolve(ast, &mut sink);
        respellings.append(&mut built.respellings);
        mentions.append(&mut built.mentions);
        understood(built, &mut sink)
    });
    if let Some(ast) = &ast {
        needless_allow::apply(&ast.allows, &mut sink);
    }
    Checked {
        diagnostics: Mention::explain(&mentions, sink.finish()),
        ast,
        model,
        respellings,
    }
}

/// The model with all its findings, if all names resolved.
fn understood(mut built: Built, sink: &mut Sink) -> Option<model::Lifecycle> {
    model::build::order(&mut built, sink);
    if built.bounded {
        stages::names(&built.lifecycle, sink);
    }
    if !built.complete {
        return None;
    }
    stages::others(&built.lifecycle, sink);
    Some(built.lifecycle)
}

/// The whole pipeline for the proc macro: findings as compile errors, beside everything that could be generated.
pub fn expand(body: TokenStream) -> TokenStream {
    let checked = check(body.clone());
    let accepted = checked.is_accepted();
    let items = match (&checked.model, &checked.ast) {
        (Some(model), _) if accepted => expand::expand(model, &Shown::of(model)),
        (Some(model), _) => expand::expand(model, &Shown::of_declared(model)),
        (None, Some(ast)) => match meant::model(body, &checked.respellings) {
            Some(model) => expand::expand(&model, &Shown::of_declared(&model)),
            None => expand::skeleton(ast),
        },
        (None, None) => TokenStream::new(),
    };
    [errors::to_tokens(&checked.diagnostics), items]
        .into_iter()
        .collect()
}
