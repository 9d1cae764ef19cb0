//! The section `promises`: the changes that the environment makes by itself, sooner or later.

use super::cursor::{Cursor, Fault};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Claim, Lifecycle, Promise};

const FORM: Form = Form::declaring(
    "a promise is written `name: predicate sets { fact = Value } or { fact = Other };`, with `claimed by Type in State` after the name if another lifecycle keeps it",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        let promise = promise(cursor, doc)?;
        let name = promise.name.to_string();
        lifecycle.promises.push(promise);
        parser.close(cursor, "`or` or `;`", &name, &FORM);
        Ok(())
    });
}

fn promise(cursor: &mut Cursor, doc: String) -> Result<Promise, Fault> {
    let name = cursor.ident("the name of a promise")?;
    let claim = claim(cursor)?;
    if claim.is_none() && !cursor.is(":") {
        return Err(cursor.fault("`claimed` or `:`"));
    }
    cursor.need(":")?;
    let when = predicate::pred(cursor)?;
    cursor.need_word("sets")?;
    Ok(Promise {
        name,
        doc,
        claim,
        when,
        sets: predicate::sets(cursor)?,
    })
}

/// `claimed by Site in Starting | Ready`.
fn claim(cursor: &mut Cursor) -> Result<Option<Claim>, Fault> {
    if cursor.eat_word("claimed").is_none() {
        return Ok(None);
    }
    cursor.need_word("by")?;
    let keeper = keeper(cursor)?;
    cursor.need_word("in")?;
    let first = "a state of its lifecycle";
    let states = cursor.idents("|", (first, first))?;
    Ok(Some(Claim { keeper, states }))
}

/// Reads `Site` or `super::site::Site`, and stops before a `:`, which begins the claimed states.
fn keeper(cursor: &mut Cursor) -> Result<syn::Type, Fault> {
    let what = "the type whose lifecycle keeps the promise";
    if cursor.is_word("in") {
        return Err(cursor.fault(what));
    }
    let mut path: syn::Path = cursor.any_word(what)?.into();
    while cursor.is(":") && cursor.then_mark(':') {
        cursor.need(":")?;
        cursor.need(":")?;
        path.segments.push(cursor.any_word(what)?.into());
    }
    Ok(syn::Type::Path(syn::TypePath {
        attrs: Vec::new(),
        qself: None,
        path,
    }))
}
