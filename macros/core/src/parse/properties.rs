//! The section `properties`: claims of the author about all worlds and all quiet runs.

use proc_macro2::Ident;

use super::cursor::{Cursor, Fault, join};
use super::predicate;
use super::recovery::{Form, Parser};
use super::slip;
use crate::ast::{Lifecycle, Property, PropertyOf};
use crate::check::unknown_name::{nearest, suggestion};

const FORM: Form = Form::mentioning(
    "a property is written `always predicate in State at rest;`, `never effect while predicate;`, `effect before other;` or `reaches State | Other from Third;`",
);

/// Expected kind in a list of states.
const STATES: (&str, &str) = ("a state", "a state");

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

/// Reads a property, and returns the tokens that may follow it.
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
            let to = cursor.idents("|", STATES)?;
            if cursor.eat_word("from").is_none() {
                return Err(cursor.fault("`|` or `from`"));
            }
            let from = cursor.idents(",", STATES)?;
            return Ok((PropertyOf::Reaches { word, to, from }, "`,` or `;`"));
        }
    }
    let first = cursor.ident("`always`, `never`, `reaches` or an effect")?;
    if cursor.eat_word("before").is_none() {
        return Err(no_form(cursor, &first));
    }
    let then = cursor.ident("an effect")?;
    Ok((PropertyOf::Before { first, then }, "`;`"))
}

/// Returns the syntax error for a property of no known form. The token after the first word decides
/// which of the two words is wrong.
fn no_form(cursor: &Cursor, first: &Ident) -> Fault {
    let next = cursor
        .peek_ident()
        .map(Ident::to_string)
        .unwrap_or_default();
    let is_slip = ["after", "reaches"].contains(&next.as_str());
    let text = first.to_string();
    let near = slip::respelt(&text, "`always`, `never`, `reaches`");
    if near.is_none() && (is_slip || nearest(&next, ["before"].into_iter()).is_some()) {
        return cursor.fault("`before`");
    }
    Fault {
        span: first.span(),
        message: format!(
            "expected `always`, `never`, `reaches` or an effect and `before`, found `{first}`{}",
            suggestion(near)
        ),
    }
}

fn always(cursor: &mut Cursor) -> Result<(PropertyOf, &'static str), Fault> {
    let pred = predicate::claim(cursor)?;
    let mut ends = "`&&`, `||`, `in`, `at rest` or `;`";
    let mut states = Vec::new();
    if cursor.eat_word("in").is_some() {
        states = cursor.idents(",", STATES)?;
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
