//! The block `region name { .. }`, beside the sections of a lifecycle.

use proc_macro2::Ident;

use super::cursor::{Cursor, Fault};
use super::recovery::{Form, Parser};
use super::{Block, empty, sections_of};
use crate::ast::{Lifecycle, Region};
use crate::check::{misfit_region, unknown_name};

/// Sections that a region may have.
pub(super) const SECTIONS: [&str; 8] = [
    "observe",
    "facts",
    "states",
    "effects",
    "promises",
    "transitions",
    "properties",
    "status",
];
const FORM: Form = Form::declaring(
    "a region is written `region name { observe { .. } states { .. } .. }`, beside the sections of the lifecycle",
);

/// Reads a region with the doc comment above it. Returns true if one comes next.
pub(super) fn line(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
    block: &Block<'_>,
) -> bool {
    let start = cursor.position();
    let doc = cursor.docs();
    let word = cursor.peek_ident().filter(|_| cursor.then_name()).cloned();
    let Some(word) = word.filter(is_region) else {
        while cursor.position() > start {
            cursor.back();
        }
        return false;
    };
    if cursor.eat_word("region").is_none() {
        let span = cursor.span();
        let message =
            format!("expected a section or `region`, found `{word}`; did you mean `region`?");
        parser.report(Fault { span, message }, "region", &FORM);
        let _ = cursor.ident("a word");
    }
    let (name, body) = match head(cursor) {
        Ok(head) => head,
        Err(fault) => {
            parser.taint.everything = true;
            parser.report(fault, "region", &FORM);
            cursor.skip_to_section();
            return true;
        }
    };
    let doc = doc.unwrap_or_else(|fault| {
        parser.report(fault, &name.to_string(), &FORM);
        String::new()
    });
    let outer = match block {
        Block::Lifecycle => None,
        Block::Fragment(_) => Some(format!("fragment `{}`", lifecycle.name)),
        Block::Region => Some("a region".to_owned()),
    };
    if let Some(outer) = outer {
        parser.sink.push(misfit_region::nested(&name, &outer));
        return true;
    }
    let mut part = empty(lifecycle.kind, lifecycle.name.clone(), String::new());
    let mut body = body;
    sections_of(&mut body, parser, (&mut part, &name), &mut Block::Region);
    lifecycle.regions.push(Region { name, doc, part });
    true
}

/// Returns true for the word, and for one that resembles it.
fn is_region(word: &Ident) -> bool {
    unknown_name::nearest(&word.to_string(), ["region"].into_iter()).is_some()
}

fn head(cursor: &mut Cursor) -> Result<(Ident, Cursor), Fault> {
    let name = cursor.ident("the name of a region")?;
    Ok((name, cursor.braces()?))
}
