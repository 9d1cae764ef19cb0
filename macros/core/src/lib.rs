//! The lifecycle language as a plain library: tokens in, diagnostics and tokens out. Knows no Kubernetes client and no runtime.

#![deny(missing_docs)]

#[allow(
    missing_docs,
    reason = "no promise: as deep as the language, whose words its fields are"
)]
pub mod ast;
mod body;
pub mod check;
mod compose;
#[allow(
    missing_docs,
    reason = "no promise: as deep as the language, whose words its fields are"
)]
pub mod csi;
pub mod errors;
pub mod expand;
mod find;
mod fragment;
mod hygiene;
mod locate;
pub mod lock;
mod meant;
mod merge;
#[allow(
    missing_docs,
    reason = "no promise: as deep as the language, whose words its fields are"
)]
pub mod model;
mod noted;
mod parse;
mod regions;
#[allow(
    missing_docs,
    reason = "no promise: as deep as the language, whose words its fields are"
)]
pub mod rule;
#[allow(
    missing_docs,
    reason = "no promise: as deep as the language, whose words its fields are"
)]
pub mod space;
mod stages;
mod union;

use proc_macro2::TokenStream;

pub use ast::LockText;
use body::Body;
use check::unknown_name::Respelling;
use check::{misfit_region, needless_allow, stale_lock};
use errors::{Diagnostic, Sink};
pub use find::{Crowded, MacroBodies, expand_crowded, find, find_in, section_at};
pub use fragment::{CheckedFragment, check_fragment};
pub use model::build::build;
use model::build::{Built, Mention};
pub use parse::parse;
use space::summary::WorldReport;
use union::union;

/// Everything that is known about one `lifecycle!` block.
#[derive(Debug)]
pub struct Checked {
    /// All findings, by position.
    pub diagnostics: Vec<Diagnostic>,
    /// Parsed text, if at least its name could be read.
    pub ast: Option<ast::Lifecycle>,
    /// Its meaning, if all names resolved; it may still break rules.
    pub model: Option<model::Lifecycle>,
    /// Its worlds, as generated code describes them; `None` if an earlier stage found errors.
    pub shown: Option<WorldReport>,
    /// Names that did not resolve, with those that they resemble.
    respellings: Vec<Respelling>,
}

impl Checked {
    /// Returns true if nothing stops the build.
    pub fn is_accepted(&self) -> bool {
        let mut severities = self.diagnostics.iter().map(|found| found.severity);
        self.model.is_some() && severities.all(|severity| severity == errors::Severity::Warning)
    }
}

/// Parses, resolves and checks the body of one `lifecycle! { .. }`, stage by stage, until an error.
pub fn check(body: TokenStream) -> Checked {
    check_body(&Body::from_tokens(body))
}

/// The same of a lifecycle that may use fragments: the bodies of those that are known.
pub fn check_with(body: TokenStream, fragments: &[TokenStream]) -> Checked {
    check_body(&Body::with_fragments(body, fragments))
}

/// Like `check` with fragments, and with the content of its lock file.
pub fn check_locked(body: TokenStream, fragments: &[TokenStream], lock: LockText) -> Checked {
    check_body(&Body::with_fragments(body, fragments).locked(lock))
}

fn check_body(body: &Body) -> Checked {
    let mut sink = Sink::default();
    let ast = read(body, &mut sink);
    let mut respellings = Vec::new();
    let mut mentions = Vec::new();
    let understood = ast.as_ref().and_then(|ast| {
        let mut apart = Sink::default();
        let whole = union(ast, &mut apart);
        let is_apart = !apart.has_errors();
        sink.absorb(apart);
        // What follows from it is not reported.
        if !is_apart {
            return None;
        }
        let mut built = model::build::resolve(&whole, &mut sink);
        respellings.append(&mut built.respellings);
        mentions.append(&mut built.mentions);
        match ast.regions.is_empty() {
            true => understood(built, &mut sink),
            false => regions::understood(ast, built, &mut sink),
        }
    });
    let (model, shown) = understood.unzip();
    if let Some(ast) = &ast {
        needless_allow::apply(&ast.allows, &mut sink);
    }
    let found = Mention::explain(&mentions, sink.finish());
    Checked {
        diagnostics: match &ast {
            Some(ast) => locate::locate(found, ast),
            None => found,
        },
        ast,
        model,
        shown: shown.flatten(),
        respellings,
    }
}

/// Returns a lifecycle as its author wrote it, with the items of its fragments inserted. For tools
/// that derive the meaning by themselves: nothing else is derived.
///
/// # Errors
/// If a name does not resolve, or a declaration by itself makes no sense, with all findings of the
/// first stage. Facts that depend on themselves are no error here. A lifecycle with regions is
/// refused: its meaning is that of its parts.
pub fn written(
    body: TokenStream,
    fragments: &[TokenStream],
) -> Result<ast::Lifecycle, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let ast = read(&Body::with_fragments(body, fragments), &mut sink);
    let resolved = ast.filter(|ast| {
        sink.extend(misfit_region::first(ast));
        let mut built = model::build::resolve(ast, &mut sink);
        let is_complete = built.complete;
        let mut circles = Sink::default();
        model::build::order(&mut built, &mut circles);
        circles.finish();
        if built.bounded {
            stages::names(&built.lifecycle, &mut sink);
        }
        is_complete && built.bounded
    });
    let has_errors = sink.has_errors();
    let found = sink.finish();
    resolved.filter(|_| !has_errors).ok_or(found)
}

/// Reads a lifecycle, with its fragments inserted and the additions of the language.
fn read(body: &Body, sink: &mut Sink) -> Option<ast::Lifecycle> {
    let mut ast = parse(body.own.clone(), sink)?;
    if let Some(lock) = &mut ast.lock {
        lock.text = body.lock.clone();
    }
    merge::merge(&mut ast, &body.fragments, sink);
    compose::add_notes(&mut ast);
    Some(ast)
}

/// The model with all its findings, if all names resolved.
fn understood(
    mut built: Built,
    sink: &mut Sink,
) -> Option<(model::Lifecycle, Option<WorldReport>)> {
    model::build::order(&mut built, sink);
    if built.bounded {
        stages::names(&built.lifecycle, sink);
    }
    if !built.complete {
        return None;
    }
    let shown = stages::others(&built.lifecycle, sink);
    Some((built.lifecycle, shown))
}

/// Returns true if a finding only requests that the lock be written anew.
pub fn is_behind(found: &Diagnostic) -> bool {
    found.code == stale_lock::RULE.code && found.item == stale_lock::BEHIND
}

/// The whole pipeline for the proc macro: findings as compile errors, beside everything that could be generated. A fragment that is used is fetched first.
pub fn expand(body: TokenStream) -> TokenStream {
    expand_locked(body, LockText::Unread)
}

/// Like `expand`, with the content of its lock file.
pub fn expand_locked(body: TokenStream, lock: LockText) -> TokenStream {
    let body = Body::from_tokens(body).locked(lock);
    body.fetch().unwrap_or_else(|| expand_body(&body))
}

fn expand_body(body: &Body) -> TokenStream {
    let checked = check_body(body);
    let shown = checked.shown.as_ref().filter(|_| checked.is_accepted());
    let items = match (&checked.model, &checked.ast) {
        (Some(model), _) => match shown {
            Some(shown) => expand::expand(model, shown),
            None => expand::expand(model, &WorldReport::of_declared(model)),
        },
        (None, Some(ast)) => match meant::model(body, &checked.respellings) {
            Some(model) => expand::expand(&model, &WorldReport::of_declared(&model)),
            None => expand::skeleton(ast),
        },
        (None, None) => TokenStream::new(),
    };
    [
        errors::to_tokens(&errors::deduplicate(checked.diagnostics)),
        items,
    ]
    .into_iter()
    .collect()
}

/// The same for `fragment!`: its trait, its types, and the macro that hands it to lifecycles.
pub fn expand_fragment(body: TokenStream) -> TokenStream {
    let checked = check_fragment(body);
    let items = checked
        .ast
        .map(|ast| expand::fragment(&ast, checked.model.as_ref()));
    [
        errors::to_tokens(&checked.diagnostics),
        items.unwrap_or_default(),
    ]
    .into_iter()
    .collect()
}
