//! The section `promises`: what the world outside does by itself, sooner or later.

use super::cursor::{Cursor, Fault};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Lifecycle, Promise};

const FORM: Form = Form::declaring(
    "a promise is written `name: predicate sets { fact = Value } or { fact = Other };`",
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
    cursor.need(":")?;
    let when = predicate::pred(cursor)?;
    cursor.need_word("sets")?;
    Ok(Promise {
        name,
        doc,
        when,
        sets: predicate::sets(cursor)?,
    })
}
