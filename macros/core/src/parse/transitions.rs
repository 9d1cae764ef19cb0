//! The section `transitions`: the edges between states that effects and promises cause.

use proc_macro2::Span;

use super::cursor::{Cursor, Fault};
use super::recovery::{Form, Parser};
use crate::ast::{Edge, From, Lifecycle, Transitions};

const FORM: Form = Form::mentioning(
    "a transition is written `From -> To;`, several at once `From | Other -> To | Another;`, from every state `_ -> Failed;`",
);

pub(crate) fn section(
    span: Span,
    body: Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) {
    let transitions = lifecycle.transitions.get_or_insert(Transitions {
        span,
        edges: Vec::new(),
    });
    parser.items(body, &FORM, |cursor, _, parser| {
        let edge = edge(cursor)?;
        let name = match &edge.from {
            From::States(states) => states[0].to_string(),
            From::Anywhere => "_".to_owned(),
        };
        transitions.edges.push(edge);
        parser.close(cursor, "`|` or `;`", &name, &FORM);
        Ok(())
    });
}

fn edge(cursor: &mut Cursor) -> Result<Edge, Fault> {
    let (from, then) = match cursor.eat_word("_") {
        Some(_) => (From::Anywhere, "`->`"),
        None => (
            From::States(cursor.idents("|", ("a state or `_`", "a state"))?),
            "`|` or `->`",
        ),
    };
    if cursor.eat("->").is_none() {
        return Err(cursor.fault(then));
    }
    let to = cursor.idents("|", ("a state", "a state"))?;
    Ok(Edge { from, to })
}
