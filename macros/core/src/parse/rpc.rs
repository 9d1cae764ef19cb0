//! The section `rpc` of a volume: the meanings of the preconditions of the interface, and the
//! answers to each call.

use proc_macro2::{Delimiter, Span};

use super::cursor::{Cursor, Fault};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Call, Lifecycle, Meaning, Precondition, Refusal, Rpc, Within};

const FORM: Form = Form::declaring(
    "a line of `rpc` is written `unknown when predicate;`, `differs never \"why\";` or `Rpc -> State by effect within 90s else CODE { predicate => CODE \"why\"; }`",
);
const REFUSAL: Form = Form::mentioning("a refusal is written `predicate => CODE \"why\";`");
const PRECONDITIONS: [&str; 6] = [
    "unfit",
    "unknown",
    "in_use",
    "elsewhere",
    "unstaged",
    "differs",
];

pub(crate) fn section(
    span: Span,
    body: Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) {
    let rpc = lifecycle.rpc.get_or_insert(Rpc {
        span,
        preconditions: Vec::new(),
        calls: Vec::new(),
    });
    parser.items(body, &FORM, |cursor, doc, parser| {
        if PRECONDITIONS.iter().any(|name| cursor.is_word(name)) {
            let precondition = precondition(cursor)?;
            parser.close(
                cursor,
                "`&&`, `||` or `;`",
                &precondition.name.to_string(),
                &FORM,
            );
            rpc.preconditions.push(precondition);
        } else {
            rpc.calls.push(call(cursor, doc, parser)?);
        }
        Ok(())
    });
}

fn precondition(cursor: &mut Cursor) -> Result<Precondition, Fault> {
    let name = cursor.ident("a precondition")?;
    let meaning = if cursor.eat_word("never").is_some() {
        Meaning::Never(cursor.need_text("why it never applies, a string")?)
    } else if cursor.eat_word("when").is_some() {
        Meaning::When(predicate::pred(cursor)?)
    } else {
        return Err(cursor.fault("`when` or `never`"));
    };
    Ok(Precondition { name, meaning })
}

fn call(cursor: &mut Cursor, doc: String, parser: &mut Parser<'_>) -> Result<Call, Fault> {
    let name = cursor.ident("a precondition or the name of an rpc")?;
    let target = match cursor.eat("->") {
        Some(_) => Some(predicate::pred(cursor)?),
        None => None,
    };
    let by = match cursor.eat_word("by") {
        Some(_) => cursor.ident_list("an effect")?,
        None => Vec::new(),
    };
    let within = within_clause(cursor)?;
    let mut refusals = Vec::new();
    if let Some(body) = cursor.group(Delimiter::Brace) {
        parser.items(body, &REFUSAL, |cursor, _, parser| {
            refusals.push(refusal(cursor)?);
            parser.close(cursor, "a string or `;`", &name.to_string(), &REFUSAL);
            Ok(())
        });
    } else {
        let expected = "`->`, `by`, `within`, `{` or `;`";
        parser.close(cursor, expected, &name.to_string(), &FORM);
    }
    Ok(Call {
        name,
        doc,
        target,
        by,
        within,
        refusals,
    })
}

fn within_clause(cursor: &mut Cursor) -> Result<Option<Within>, Fault> {
    if cursor.eat_word("within").is_none() {
        return Ok(None);
    }
    let time = cursor.time()?;
    cursor.need_word("else")?;
    let code = cursor.ident("a code such as `UNAVAILABLE`")?;
    Ok(Some(Within { time, code }))
}

fn refusal(cursor: &mut Cursor) -> Result<Refusal, Fault> {
    let when = predicate::pred(cursor)?;
    cursor.need("=>")?;
    Ok(Refusal {
        when,
        code: cursor.ident("a code such as `UNAVAILABLE`")?,
        why: cursor.text(),
    })
}
