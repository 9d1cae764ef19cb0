//! The section `transitions`: the edges between states that effects and promises cause.

use proc_macro2::Span;

use super::cursor::{Cursor, Fault};
use super::recovery::{Form, Parser};
use crate::ast::{Edge, Lifecycle, Transitions};

const FORM: Form = Form::within("a transition is written `From -> To | Other;`");

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
        let name = edge.from.to_string();
        transitions.edges.push(edge);
        parser.close(cursor, "`|` or `;`", &name, &FORM);
        Ok(())
    });
}

fn edge(cursor: &mut Cursor) -> Result<Edge, Fault> {
    let from = cursor.ident("a state")?;
    cursor.need("->")?;
    let mut to = vec![cursor.ident("a state")?];
    while cursor.eat("|").is_some() {
        to.push(cursor.ident("a state")?);
    }
    Ok(Edge { from, to })
}
