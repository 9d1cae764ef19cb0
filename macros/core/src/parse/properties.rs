//! The section `properties`: what an author claims of all worlds and of all quiet runs.

use super::cursor::{Cursor, Fault, join};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Lifecycle, Property, PropertyOf};

const FORM: Form = Form::within(
    "a property is written `always predicate in State at rest;`, `never effect while predicate;`, `effect before other;` or `reaches State | Other from Third;`",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, _, parser| {
        let start = cursor.span();
        let (what, ends) = property(cursor)?;
        let span = join(start, cursor.previous());
        lifecycle.properties.push(Property { what, span });
        parser.close(cursor, ends, "properties", &FORM);
        Ok(())
    });
}

/// A property, with what may follow it.
fn property(cursor: &mut Cursor) -> Result<(PropertyOf, &'static str), Fault> {
    // An effect may have the name of a form.
    if !cursor.then_word("before") {
        if cursor.eat_word("always").is_some() {
            return always(cursor);
        }
        if cursor.eat_word("never").is_some() {
            return never(cursor);
        }
        if let Some(word) = cursor.eat_word("reaches") {
            let to = one_or_other(cursor)?;
            if cursor.eat_word("from").is_none() {
                return Err(cursor.fault("`|` or `from`"));
            }
            let from = listed(cursor)?;
            return Ok((PropertyOf::Reaches { word, to, from }, "`,` or `;`"));
        }
    }
    let first = cursor.ident("`always`, `never`, `reaches` or an effect")?;
    cursor.need_word("before")?;
    let then = cursor.ident("an effect")?;
    Ok((PropertyOf::Before { first, then }, "`;`"))
}

fn always(cursor: &mut Cursor) -> Result<(PropertyOf, &'static str), Fault> {
    let pred = predicate::claim(cursor)?;
    let mut ends = "`&&`, `||`, `in`, `at rest` or `;`";
    let mut states = Vec::new();
    if cursor.eat_word("in").is_some() {
        states = listed(cursor)?;
        ends = "`,`, `at rest` or `;`";
    }
    let mut at_rest = None;
    if let Some(at) = cursor.eat_word("at") {
        at_rest = Some(join(at, cursor.need_word("rest")?));
        ends = "`;`";
    }
    let always = PropertyOf::Always {
        pred,
        states,
        at_rest,
    };
    Ok((always, ends))
}

fn never(cursor: &mut Cursor) -> Result<(PropertyOf, &'static str), Fault> {
    let effect = cursor.ident("an effect")?;
    cursor.need_word("while")?;
    let pred = predicate::pred(cursor)?;
    Ok((PropertyOf::Never { effect, pred }, "`&&`, `||` or `;`"))
}

/// `A, B`.
fn listed(cursor: &mut Cursor) -> Result<Vec<proc_macro2::Ident>, Fault> {
    let mut states = vec![cursor.ident("a state")?];
    while cursor.eat(",").is_some() {
        states.push(cursor.ident("a state")?);
    }
    Ok(states)
}

/// `A | B`.
fn one_or_other(cursor: &mut Cursor) -> Result<Vec<proc_macro2::Ident>, Fault> {
    let mut states = vec![cursor.ident("a state")?];
    while cursor.eat("|").is_some() {
        states.push(cursor.ident("a state")?);
    }
    Ok(states)
}
