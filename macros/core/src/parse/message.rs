//! Messages of clauses and of the roll-up: text with paths of the object in braces.

use proc_macro2::{Ident, Span};

use super::cursor::Fault;
use super::recovery::Form;
use crate::ast::{Message, Part, Path};

pub(crate) const FORM: Form = Form::mentioning(
    "a message takes texts of the object in, as in `\"Secret \\\"{spec.secret}\\\" not found\"`; a brace of its own is written `{{` or `}}`",
);

/// Splits a message into its parts. If that fails, the message contributes no values of the object.
pub(crate) fn message(text: &str, span: Span) -> Result<Message, Fault> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{") {
            plain.push('{');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("}}") {
            plain.push('}');
            rest = after;
        } else {
            let (inside, after) = taken(rest, span)?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Path(path(inside, span)?));
            rest = after;
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() || parts.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(Message { parts, span })
}

/// Returns the text between two braces, and the text after them.
fn taken(text: &str, span: Span) -> Result<(&str, &str), Fault> {
    let Some(inside) = text.strip_prefix('{') else {
        let message = "this message closes a brace that it does not open".to_owned();
        return Err(Fault { span, message });
    };
    match inside.find(['{', '}']) {
        Some(end) if inside[end..].starts_with('}') => Ok((&inside[..end], &inside[end + 1..])),
        Some(_) | None => {
            let message = "this message opens a brace that it does not close".to_owned();
            Err(Fault { span, message })
        }
    }
}

/// Parses `spec.host`. Errors point at the whole string, because parts of a string have no span.
fn path(text: &str, span: Span) -> Result<Path, Fault> {
    let part = |part: &str| {
        // Blanks and comments would be lost otherwise, and brackets read as deep as they nest.
        let is_word = part
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '#');
        let mut ident = is_word.then(|| syn::parse_str::<Ident>(part).ok())??;
        ident.set_span(span);
        Some(ident)
    };
    let parts: Option<Vec<_>> = text.split('.').map(part).collect();
    let message = format!("expected a path such as `meta.name` in braces, found `{{{text}}}`");
    let parts = parts.ok_or(Fault { span, message })?;
    Ok(Path { parts })
}
