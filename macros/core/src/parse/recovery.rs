//! Recovery: reports a bad item, remembers the names that it took with it, and goes on behind its `;`.

use proc_macro2::{Ident, TokenTree};

use super::cursor::{Cursor, Fault};
use crate::ast::Taint;
use crate::check::syntax;
use crate::errors::Sink;

const LEADING: [&str; 12] = [
    "held",
    "let",
    "never",
    "goal",
    "apply",
    "delete",
    "call",
    "each",
    "condition",
    "ready",
    "field",
    "column",
];

/// What all sections share.
pub(crate) struct Parser<'s> {
    pub(crate) sink: &'s mut Sink,
    pub(crate) taint: Taint,
}

impl<'s> Parser<'s> {
    pub(crate) fn new(sink: &'s mut Sink) -> Self {
        Self {
            sink,
            taint: Taint::default(),
        }
    }

    pub(crate) fn report(&mut self, fault: Fault, item: &str, form: &str) {
        self.sink
            .push(syntax::diagnostic(fault.span, item, fault.message, form));
    }

    /// Parses items until the group ends; `one` reads a whole item and calls [`Parser::close`].
    pub(crate) fn items(
        &mut self,
        mut cursor: Cursor,
        form: &str,
        mut one: impl FnMut(&mut Cursor, String, &mut Self) -> Result<(), Fault>,
    ) {
        while !cursor.is_empty() {
            let start = cursor.position();
            let result = match cursor.docs() {
                Ok(doc) => one(&mut cursor, doc, self),
                Err(fault) => Err(fault),
            };
            if let Err(fault) = result {
                cursor.skip_past_semicolon();
                self.lose(fault, cursor.between(start, cursor.position()), form);
            }
        }
    }

    fn lose(&mut self, fault: Fault, tokens: &[TokenTree], form: &str) {
        let names = declared(tokens);
        let item = names.first().cloned().unwrap_or_default();
        if names.is_empty() {
            self.taint.everything = true;
        }
        self.taint.names.extend(names);
        self.report(fault, &item, form);
    }

    /// Ends an item. If its `;` is missing and the next token stands on a new line, the next item begins there.
    pub(crate) fn close(&mut self, cursor: &mut Cursor, expected: &str, item: &str, form: &str) {
        if cursor.eat(";").is_some() {
            return;
        }
        let before = cursor.previous();
        let breaks = cursor.is_empty() || cursor.span().start().line > before.end().line;
        if breaks {
            let fault = Fault {
                span: before,
                message: "expected `;` after this".to_owned(),
            };
            self.report(fault, item, form);
            return;
        }
        self.report(cursor.fault(expected), item, form);
        let start = cursor.position();
        cursor.skip_past_semicolon();
        let swallowed = followed_by_declaration(cursor.between(start, cursor.position()));
        self.taint.names.extend(swallowed);
    }
}

/// The names that these tokens would have declared.
fn declared(tokens: &[TokenTree]) -> Vec<String> {
    let mut words = tokens.iter().filter_map(as_ident);
    let mut names = Vec::new();
    if let Some(first) = words.find(|word| !LEADING.iter().any(|leading| word == leading)) {
        names.push(first.to_string());
    }
    names.extend(followed_by_declaration(tokens));
    names
}

/// Names before `:` and `when`, and the default names of effects.
fn followed_by_declaration(tokens: &[TokenTree]) -> Vec<String> {
    let mut names = Vec::new();
    for pair in tokens.windows(2) {
        let Some(name) = as_ident(&pair[0]) else {
            continue;
        };
        match &pair[1] {
            TokenTree::Punct(punct) if punct.as_char() == ':' => names.push(name.to_string()),
            TokenTree::Ident(next) if next == "when" => names.push(name.to_string()),
            TokenTree::Ident(next) if ["apply", "delete"].iter().any(|verb| name == verb) => {
                names.push(format!("{name}_{next}"));
            }
            TokenTree::Ident(next) if name == "each" => {
                names.push(format!("apply_{next}"));
                names.push(format!("delete_{next}"));
            }
            TokenTree::Group(_)
            | TokenTree::Ident(_)
            | TokenTree::Punct(_)
            | TokenTree::Literal(_) => {}
        }
    }
    names
}

fn as_ident(token: &TokenTree) -> Option<&Ident> {
    match token {
        TokenTree::Ident(ident) => Some(ident),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}
