//! `allow LC014 matched "why";`, a line beside the sections.

use super::cursor::{Cursor, Fault};
use super::recovery::{Form, Parser};
use crate::ast::{Allow, Lifecycle};

const FORM: Form = Form::mentioning(
    "a warning is silenced by its code, the item that it names and the reason: `allow LC014 matched \"a silent router matches nothing\";`",
);

/// Reads the rest of a line after the word `allow`.
pub(super) fn line(cursor: &mut Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    match allow(cursor) {
        Ok(allow) => {
            parser.close_line(cursor, "`;`", "allow", &FORM);
            lifecycle.allows.push(allow);
        }
        Err(fault) => {
            cursor.skip_past_semicolon();
            parser.report(fault, "allow", &FORM);
        }
    }
}

fn allow(cursor: &mut Cursor) -> Result<Allow, Fault> {
    let code = cursor.ident("the code of a warning")?;
    let item = cursor.ident("the item that the warning names")?;
    let span = cursor.span();
    let why = cursor.need_text("why the warning does not count, in quotes")?;
    match why.trim().is_empty() {
        false => Ok(Allow { code, item }),
        true => Err(Fault {
            span,
            message: "expected why the warning does not count, found nothing in the quotes"
                .to_owned(),
        }),
    }
}
