//! The line `lock "file";` and the section `retired`: the items of an older version, and the
//! treatment of everything that it left.

use proc_macro2::Span;

use super::cursor::{Cursor, Fault};
use super::observe;
use super::recovery::{Form, Parser};
use crate::ast::{Gone, GoneOf, Leaves, Lifecycle, Lock, LockText, Retired};
use crate::check::misplaced_lock;

const LOCK: Form = Form::mentioning(
    "a lock is named by its file, beside the source: `lock \"listener.lock\";`; `lifecycle-operator lock FILE.rs` writes it",
);
const FORM: Form = Form::mentioning(
    "an item of an older version is written `finalizer;`, `finalizer \"example.com/old\";`, `record name;`, `condition Name;`, `field name;`, `state Name now Other;`, `value fact.Value now Other;`, or as an input followed by `deleted`, `released` or `kept`: `secret: owned Secret by name meta.name deleted;`",
);
/// Words that a line may begin with.
const LINES: &str = "`finalizer`, `record`, `condition`, `field`, `state`, `value` or an input";

/// Reads the rest of a line after the word `lock`.
pub(super) fn lock(cursor: &mut Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    let span = cursor.span();
    let path = match cursor.need_text("the file of the lock, in quotes") {
        Ok(path) => path,
        Err(fault) => {
            cursor.skip_past_semicolon();
            parser.report(fault, "lock", &LOCK);
            return;
        }
    };
    parser.close_line(cursor, "`;`", "lock", &LOCK);
    if let Some(first) = &lifecycle.lock {
        parser.sink.push(misplaced_lock::twice(span, first.span));
        return;
    }
    let text = LockText::default();
    lifecycle.lock = Some(Lock { path, span, text });
}

pub(super) fn section(
    span: Span,
    body: Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) {
    let lines = Vec::new();
    let mut retired = lifecycle.retired.take().unwrap_or(Retired { span, lines });
    let is_whole = parser.items(body, &FORM, |cursor, doc, parser| {
        if cursor.then_mark(':') {
            return input(cursor, doc, parser, (lifecycle, &mut retired));
        }
        retired.lines.push(gone(cursor)?);
        parser.close(cursor, "`now` or `;`", "retired", &FORM);
        Ok(())
    });
    if is_whole || !retired.lines.is_empty() {
        lifecycle.retired = Some(retired);
    }
}

/// Reads an input in its former form from `observe`, and the treatment of its objects.
fn input(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    (lifecycle, retired): (&mut Lifecycle, &mut Retired),
) -> Result<(), Fault> {
    let mut input = observe::input(cursor, doc, parser)?;
    let span = input.name.span();
    let all = [Leaves::Deleted, Leaves::Released];
    let mut all = all.into_iter();
    let leaves = all.find(|leaves| cursor.eat_word(leaves.keyword()).is_some());
    if leaves.is_none() && cursor.eat_word("kept").is_none() {
        return Err(cursor.fault("`deleted`, `released` or `kept`"));
    }
    parser.close(cursor, "`;`", "retired", &FORM);
    input.retired = leaves;
    match leaves {
        Some(_) => lifecycle.inputs.push(input),
        None => retired.lines.push(Gone {
            span,
            what: GoneOf::Kept(Box::new(input)),
            now: None,
        }),
    }
    Ok(())
}

fn gone(cursor: &mut Cursor) -> Result<Gone, Fault> {
    let span = cursor.span();
    let what = retired_item(cursor)?;
    let now = match cursor.eat_word("now") {
        Some(_) => Some(cursor.ident("its new name")?),
        None => None,
    };
    Ok(Gone { span, what, now })
}

fn retired_item(cursor: &mut Cursor) -> Result<GoneOf, Fault> {
    if cursor.eat_word("finalizer").is_some() {
        return Ok(GoneOf::Finalizer(cursor.text()));
    }
    if cursor.eat_word("record").is_some() {
        return Ok(match cursor.text() {
            Some(key) => GoneOf::Annotation(key),
            None => GoneOf::Record(cursor.ident("the name of a record, or its annotation")?),
        });
    }
    if cursor.eat_word("condition").is_some() {
        return Ok(GoneOf::Condition(cursor.ident("the name of a condition")?));
    }
    if cursor.eat_word("field").is_some() {
        return Ok(GoneOf::Field(cursor.ident("the name of a field")?));
    }
    if cursor.eat_word("state").is_some() {
        return Ok(GoneOf::State(cursor.ident("the name of a state")?));
    }
    if cursor.eat_word("value").is_some() {
        let fact = cursor.ident("the name of a fact")?;
        cursor.need(".")?;
        return Ok(GoneOf::Value(fact, cursor.ident("a value of the fact")?));
    }
    Err(cursor.fault(LINES))
}
