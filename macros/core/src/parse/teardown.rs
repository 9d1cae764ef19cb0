//! The section `teardown`: the ordered stages that run when the object is deleted, and the objects
//! that may be abandoned.

use proc_macro2::Span;

use super::cursor::{Cursor, Fault};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Abandoned, Lifecycle, Step, Teardown};

const FORM: Form = Form::mentioning(
    "a step is written `effect when predicate until predicate;`, and what may be given up `abandoned when predicate \"why\";`",
);

/// A line of the section.
enum Line {
    Step(Step),
    Abandoned(Abandoned),
}

pub(crate) fn section(
    span: Span,
    body: Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) {
    let mut teardown = lifecycle.teardown.take().unwrap_or(Teardown {
        span,
        steps: Vec::new(),
        abandoned: Vec::new(),
    });
    let is_whole = parser.items(body, &FORM, |cursor, _, parser| {
        let ends = match line(cursor)? {
            Line::Step(step) => {
                teardown.steps.push(step);
                "`&&`, `||` or `;`"
            }
            Line::Abandoned(abandoned) => {
                teardown.abandoned.push(abandoned);
                "`;`"
            }
        };
        parser.close(cursor, ends, "teardown", &FORM);
        Ok(())
    });
    // Stages of the teardown that could not be read are not reported as missing.
    if is_whole || !teardown.steps.is_empty() {
        lifecycle.teardown = Some(teardown);
    }
}

fn line(cursor: &mut Cursor) -> Result<Line, Fault> {
    let word = cursor.span();
    let effect = cursor.ident("an effect or `abandoned`")?;
    let when = predicate::clause(cursor, "when")?;
    if cursor.eat_word("until").is_some() {
        let until = predicate::pred(cursor)?;
        return Ok(Line::Step(Step {
            effect,
            when,
            until,
        }));
    }
    let Some(when) = when.filter(|_| effect == "abandoned") else {
        let expected = match effect == "abandoned" {
            true => "`when`",
            false => "`when` or `until`",
        };
        return Err(cursor.fault(expected));
    };
    let span = cursor.span();
    let why = cursor.need_text("why it is given up, in quotes")?;
    if why.trim().is_empty() {
        let message = "expected why it is given up, found nothing in the quotes".to_owned();
        return Err(Fault { span, message });
    }
    Ok(Line::Abandoned(Abandoned { word, when, why }))
}
