//! The section `states`: named regions of worlds, with phase, `wakes` and `overdue`.

use super::cursor::{Cursor, Fault};
use super::recovery::{Form, Parser};
use super::{fragments, length, predicate};
use crate::ast::{Lifecycle, List, State};

const FORM: Form = Form::declaring(
    "a state is written `Name when predicate => Pending;`, with `goal` before the name and `wakes input` or `overdue 10min` behind the phase",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        let place = (List::States, lifecycle.states.len());
        if cursor.is_word("use") {
            let mark = fragments::mark(cursor, parser, place);
            lifecycle.marks.extend(mark);
            return Ok(());
        }
        let mut state = state(cursor, doc)?;
        let name = state.name.to_string();
        let wakes = state.wakes.as_mut().filter(|wakes| wakes.len() > 1);
        if let Some(wakes) = wakes
            && cursor.is_word("when")
        {
            // `wakes a, Next when ..`: the next state begins behind a comma.
            wakes.pop();
            cursor.back();
            let comma = Fault {
                span: cursor.previous(),
                message: "expected `;`, found `,`: an item ends with `;`".to_owned(),
            };
            parser.report(comma, &name, &FORM);
            lifecycle.states.push(state);
            return Ok(());
        }
        lifecycle.states.push(state);
        parser.close(cursor, "`wakes`, `overdue` or `;`", &name, &FORM);
        Ok(())
    });
}

fn state(cursor: &mut Cursor, doc: String) -> Result<State, Fault> {
    let goal = cursor.eat_word("goal").is_some();
    let name = cursor.ident("the name of a state")?;
    cursor.need_word("when")?;
    let when = predicate::pred(cursor)?;
    let phase = match cursor.eat("=>") {
        Some(_) => Some(cursor.ident("`Pending`, `Ready`, `Error`, `Suspended` or `Ignored`")?),
        // The unexpected token is the mistake, rather than the missing phase.
        None if !cursor.is(";") && !cursor.breaks() => {
            return Err(cursor.fault("`&&`, `||`, `=>` or `;`"));
        }
        None => None,
    };
    let mut state = State {
        name,
        doc,
        goal,
        when,
        phase,
        even_deleting: None,
        wakes: None,
        overdue: None,
        region: None,
    };
    if state.phase.is_some() {
        if let Some(even) = cursor.eat_word("even") {
            cursor.need_word("deleting")?;
            state.even_deleting = Some(even);
        }
        if cursor.eat_word("wakes").is_some() {
            state.wakes = Some(cursor.ident_list("an input or `self`")?);
        }
        if cursor.eat_word("overdue").is_some() {
            state.overdue = Some(length::length(cursor)?);
        }
    }
    Ok(state)
}
