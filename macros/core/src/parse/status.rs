//! The section `status`: conditions, the roll-up, fields and printer columns.

use proc_macro2::{Ident, Span};

use super::cursor::{Cursor, Fault, join};
use super::recovery::{Form, Parser};
use super::{fragments, message, predicate};
use crate::ast::{
    Clause, Column, Condition, ConditionStatus, Field, FieldOf, Implicit, Lifecycle, List, Message,
    Ready,
};
use crate::check::{declared_twice, misfit_clause};

const FORM: Form = Form::declaring(
    "a line of `status` is written `condition Name { .. }`, `ready from Name, Other;`, `implicit in Name \"Reason\";`, `kstatus;`, `field name: Type from input;`, `field name = phase;` or `column Name \".json.path\";`",
);
const CLAUSE: Form = Form::mentioning(
    "a clause is written `True when predicate;`, `False \"Reason\" \"message\" event \"Reason\" when predicate;`, `Unknown \"Reason\" otherwise;` or `Absent when predicate;`",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        if cursor.eat_word("condition").is_some() {
            let condition = condition(cursor, doc, parser, lifecycle)?;
            lifecycle.conditions.push(condition);
            return Ok(());
        }
        if let Some(span) = cursor.eat_word("ready") {
            let (reason, message) = strings(cursor, "ready", parser);
            cursor.need_word("from")?;
            let from = cursor.ident_list("a condition")?;
            if let Some(first) = &lifecycle.ready {
                let twice = declared_twice::status("ready", span, first.span);
                parser.sink.push(twice);
            }
            lifecycle.ready.get_or_insert(Ready {
                reason,
                message,
                from,
                span,
            });
            parser.close(cursor, "`,` or `;`", "ready", &FORM);
            return Ok(());
        }
        if let Some(span) = cursor.eat_word("implicit") {
            let written = implicit(cursor, span)?;
            if let Some(first) = &lifecycle.implicit {
                let twice = declared_twice::status("implicit", span, first.span);
                parser.sink.push(twice);
            }
            lifecycle.implicit.get_or_insert(written);
            parser.close(cursor, "`;`", "implicit", &FORM);
            return Ok(());
        }
        if let Some(span) = cursor.eat_word("kstatus") {
            if let Some(first) = lifecycle.kstatus {
                parser
                    .sink
                    .push(declared_twice::status("kstatus", span, first));
            }
            lifecycle.kstatus.get_or_insert(span);
            parser.close(cursor, "`;`", "kstatus", &FORM);
            return Ok(());
        }
        if cursor.eat_word("field").is_some() {
            let field = field(cursor, doc, parser)?;
            let name = field.name.to_string();
            lifecycle.fields.push(field);
            parser.close(cursor, "`,`, `last_reported` or `;`", &name, &FORM);
            return Ok(());
        }
        if cursor.eat_word("column").is_some() {
            let name = cursor.ident("the name of a column")?;
            let json_path = cursor.text();
            parser.close(cursor, "a string or `;`", &name.to_string(), &FORM);
            lifecycle.columns.push(Column { name, json_path });
            return Ok(());
        }
        Err(cursor.fault("`condition`, `ready`, `implicit`, `kstatus`, `field` or `column`"))
    });
}

fn condition(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<Condition, Fault> {
    let name = cursor.ident("the name of a condition")?;
    let body = cursor.braces()?;
    let mut clauses = Vec::new();
    parser.items(body, &CLAUSE, |cursor, _, parser| {
        if cursor.is_word("use") {
            let place = (List::Condition(lifecycle.conditions.len()), clauses.len());
            let mark = fragments::mark(cursor, parser, place);
            lifecycle.marks.extend(mark);
            return Ok(());
        }
        let clause = clause(cursor, &name, parser)?;
        misfit_clause::says_nothing(&name, &clause, parser.sink);
        clauses.push(clause);
        parser.close(cursor, "`&&`, `||` or `;`", &name.to_string(), &CLAUSE);
        Ok(())
    });
    Ok(Condition { name, doc, clauses })
}

fn clause(
    cursor: &mut Cursor,
    condition: &Ident,
    parser: &mut Parser<'_>,
) -> Result<Clause, Fault> {
    let start = cursor.span();
    let status = if cursor.eat_word("True").is_some() {
        ConditionStatus::True
    } else if cursor.eat_word("False").is_some() {
        ConditionStatus::False
    } else if cursor.eat_word("Unknown").is_some() {
        ConditionStatus::Unknown
    } else if cursor.eat_word("Absent").is_some() {
        ConditionStatus::Absent
    } else if cursor.eat_word("Omit").is_some() {
        ConditionStatus::Omit
    } else {
        return Err(cursor.fault("`True`, `False`, `Unknown`, `Absent` or `Omit`"));
    };
    let (reason, message) = strings(cursor, &condition.to_string(), parser);
    let event = match cursor.eat_word("event") {
        Some(_) => Some(cursor.need_text("the name of the event, a string")?),
        None => None,
    };
    let when = if cursor.eat_word("otherwise").is_some() {
        None
    } else if cursor.eat_word("when").is_some() {
        Some(predicate::pred(cursor)?)
    } else {
        return Err(
            cursor.fault("a reason and a message (strings), `event`, `when` or `otherwise`")
        );
    };
    Ok(Clause {
        status,
        reason,
        message,
        event,
        when,
        span: join(start, cursor.previous()),
    })
}

/// A reason, and a message after it. A message that cannot be read costs nothing else.
fn strings(
    cursor: &mut Cursor,
    item: &str,
    parser: &mut Parser<'_>,
) -> (Option<String>, Option<Message>) {
    let Some(reason) = cursor.text() else {
        return (None, None);
    };
    let span = cursor.span();
    let message = match cursor.text().map(|text| message::message(&text, span)) {
        None => None,
        Some(Ok(message)) => Some(message),
        Some(Err(fault)) => {
            parser.report(fault, item, &message::FORM);
            None
        }
    };
    (Some(reason), message)
}

fn implicit(cursor: &mut Cursor, start: Span) -> Result<Implicit, Fault> {
    cursor.need_word("in")?;
    let condition = cursor.ident("the name of a condition")?;
    let reason = cursor.need_text("the reason, a string")?;
    Ok(Implicit {
        condition,
        reason,
        span: join(start, cursor.previous()),
    })
}

fn field(cursor: &mut Cursor, doc: String, parser: &mut Parser<'_>) -> Result<Field, Fault> {
    let name = cursor.ident("the name of a field")?;
    let what = if cursor.eat("=").is_some() {
        roll_up(cursor)?
    } else {
        if cursor.eat(":").is_none() {
            return Err(cursor.fault("`:` or `=`"));
        }
        FieldOf::Method {
            ty: Box::new(cursor.ty(&["from"])?),
            from: predicate::need_from(cursor)?,
            last_reported: parser
                .eat_renamed(cursor, "last_reported", "kept", &name)
                .is_some(),
        }
    };
    Ok(Field { name, doc, what })
}

fn roll_up(cursor: &mut Cursor) -> Result<FieldOf, Fault> {
    if cursor.eat_word("phase").is_some() {
        Ok(FieldOf::Phase)
    } else if cursor.eat_word("reason").is_some() {
        Ok(FieldOf::Reason)
    } else if cursor.eat_word("message").is_some() {
        Ok(FieldOf::Message)
    } else {
        Err(cursor.fault("`phase`, `reason` or `message`"))
    }
}
