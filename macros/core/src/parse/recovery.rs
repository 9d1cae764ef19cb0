//! Recovery: reports a bad item, remembers the names that it took with it, and goes on behind its `;`.

use proc_macro2::{Ident, Spacing, Span, TokenTree};

use super::cursor::{Cursor, Fault, as_ident};
use crate::ast::Taint;
use crate::check::syntax;
use crate::errors::Sink;

/// How items are written.
pub(crate) struct Form {
    help: &'static str,
    /// True if an item declares a name that others may mention.
    declares: bool,
}

impl Form {
    /// Items that declare names.
    pub(crate) const fn declaring(help: &'static str) -> Self {
        let declares = true;
        Self { help, declares }
    }

    /// Items that only mention names.
    pub(crate) const fn mentioning(help: &'static str) -> Self {
        let declares = false;
        Self { help, declares }
    }
}

/// Parser state that all sections share.
pub(crate) struct Parser<'s> {
    pub(crate) sink: &'s mut Sink,
    pub(crate) taint: Taint,
    /// Form of the item that was begun, if its first words decide it.
    pub(crate) begun: Option<&'static str>,
}

impl<'s> Parser<'s> {
    pub(crate) fn new(sink: &'s mut Sink) -> Self {
        Self {
            sink,
            taint: Taint::default(),
            begun: None,
        }
    }

    pub(crate) fn report(&mut self, fault: Fault, item: &str, form: &Form) {
        self.sink.push(syntax::diagnostic(
            fault.span,
            item,
            fault.message,
            self.begun.unwrap_or(form.help),
        ));
    }

    /// Consumes a word, if it comes next. An old name of the word is reported and still read, so
    /// that the rest is checked.
    pub(crate) fn eat_renamed(
        &mut self,
        cursor: &mut Cursor,
        word: &str,
        old: &str,
        item: &Ident,
    ) -> Option<Span> {
        if let Some(span) = cursor.eat_word(word) {
            return Some(span);
        }
        let span = cursor.eat_word(old)?;
        self.sink.push(syntax::renamed(span, item, old, word));
        Some(span)
    }

    /// Parses items until the group ends; `one` reads a whole item and calls [`Parser::close`].
    /// Returns true if all were read.
    pub(crate) fn items(
        &mut self,
        mut cursor: Cursor,
        form: &Form,
        mut one: impl FnMut(&mut Cursor, String, &mut Self) -> Result<(), Fault>,
    ) -> bool {
        let mut is_whole = true;
        while !cursor.is_empty() {
            self.begun = None;
            let docs = cursor.docs();
            let start = cursor.position();
            let result = docs.and_then(|doc| one(&mut cursor, doc, self));
            if let Err(fault) = result {
                cursor.skip_past_semicolon();
                self.lose(fault, cursor.between(start, cursor.position()), form);
                is_whole = false;
            }
        }
        self.begun = None;
        is_whole
    }

    fn lose(&mut self, fault: Fault, tokens: &[TokenTree], form: &Form) {
        let name = declared(tokens);
        let item = name.clone().flatten();
        let item = item.unwrap_or_else(|| "lifecycle".to_owned());
        match name {
            Some(name) => self.taint.names.extend(name),
            None => self.taint.everything |= form.declares,
        }
        self.taint.names.extend(followed_by_declaration(tokens));
        self.report(fault, &item, form);
    }

    /// Ends an item. If its `;` is missing and the next token stands on a new line, the next item begins there.
    pub(crate) fn close(&mut self, cursor: &mut Cursor, expected: &str, item: &str, form: &Form) {
        self.end(cursor, expected, (item, form), Cursor::skip_past_semicolon);
    }

    /// The same of a line beside the sections: one that goes on without end costs no section.
    pub(crate) fn close_line(
        &mut self,
        cursor: &mut Cursor,
        expected: &str,
        item: &str,
        form: &Form,
    ) {
        self.end(cursor, expected, (item, form), Cursor::skip_line);
    }

    fn end(
        &mut self,
        cursor: &mut Cursor,
        expected: &str,
        (item, form): (&str, &Form),
        skip: fn(&mut Cursor),
    ) {
        if cursor.eat(";").is_some() {
            return;
        }
        if cursor.breaks() {
            let fault = Fault {
                span: cursor.previous(),
                message: "expected `;` after this".to_owned(),
            };
            self.report(fault, item, form);
            return;
        }
        self.report(cursor.fault(expected), item, form);
        let start = cursor.position();
        skip(cursor);
        let swallowed = followed_by_declaration(cursor.between(start, cursor.position()));
        self.taint.names.extend(swallowed);
        // The read part may be incomplete, for example a lookup without its `?`.
        self.taint.names.insert(item.to_owned());
    }
}

/// The name that an item would have declared; `Some(None)` if it declares none, `None` if that cannot be known.
fn declared(tokens: &[TokenTree]) -> Option<Option<String>> {
    // The content of a group declares nothing, and may nest too deeply to print.
    let word = |token: &TokenTree| match token {
        TokenTree::Group(_) => String::new(),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token.to_string(),
    };
    let words: Vec<String> = tokens.iter().map(word).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let name = match words[..] {
        ["goal", "when", ..] | ["let", ":", ..] => None,
        ["never" | "ready", ..] | [_, "-", ..] => Some(None),
        ["held" | "let" | "goal", name, ":" | "when", ..]
        | [name, ":" | "when" | "=", ..]
        | ["condition" | "field" | "column", name, ..] => Some(Some(name.to_owned())),
        [
            verb @ ("apply" | "create" | "delete" | "adopt"),
            "each",
            name,
            ..,
        ]
        | [verb @ ("apply" | "create" | "delete" | "adopt"), name, ..]
            if is_name(name) =>
        {
            Some(Some(format!("{verb}_{name}")))
        }
        _ => None,
    };
    name.filter(|name| name.as_ref().is_none_or(|name| is_name(name)))
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
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
            TokenTree::Punct(punct)
                if punct.as_char() == '=' && punct.spacing() == Spacing::Alone =>
            {
                names.push(name.to_string());
            }
            TokenTree::Ident(next) if next == "when" => names.push(name.to_string()),
            TokenTree::Ident(next)
                if ["apply", "create", "delete", "adopt"]
                    .iter()
                    .any(|verb| name == verb) =>
            {
                names.push(format!("{name}_{next}"));
            }
            TokenTree::Ident(next) if name == "each" => {
                names.push(format!("apply_{next}"));
                names.push(format!("create_{next}"));
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
