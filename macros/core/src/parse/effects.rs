//! The section `effects`: one write each.

use super::cursor::{Cursor, Fault, join};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Effect, Lifecycle, Verb};
use crate::check::syntax;

const FORM: Form = Form::declaring(
    "an effect is written `apply input from other when predicate;`, `delete each input;`, `adopt input when predicate;`, `create input;` or `name: call input when predicate sets { fact = Value } undo other key meta.uid;`",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        let effect = effect(cursor, doc)?;
        if effect.verb == Verb::Call && effect.name.is_none() {
            parser.sink.push(syntax::call_without_name(&effect.target));
            parser.taint.everything = true;
        }
        let name = effect.name().to_string();
        lifecycle.effects.push(effect);
        let expected = "`from`, `when`, `sets`, `undo`, `key` (in this order) or `;`";
        parser.close(cursor, expected, &name, &FORM);
        Ok(())
    });
}

fn effect(cursor: &mut Cursor, doc: String) -> Result<Effect, Fault> {
    let name = if cursor.peek_ident().is_some() && cursor.then_mark(':') {
        let name = cursor.ident("the name of an effect")?;
        cursor.need(":")?;
        Some(name)
    } else {
        None
    };
    let verb = verb(cursor)?;
    let each = cursor.eat_word("each");
    let target = cursor.ident("the input that is written")?;
    let without_retain = match cursor.eat_word("without") {
        Some(without) if verb == Verb::Adopt => {
            cursor.need_word("retain")?;
            Some(join(without, cursor.previous()))
        }
        Some(_) => return Err(cursor.fault("`from`, `when`, `sets`, `undo`, `key` or `;`")),
        None => None,
    };
    Ok(Effect {
        name,
        doc,
        verb,
        each,
        target,
        without_retain,
        from: predicate::from(cursor)?,
        when: predicate::clause(cursor, "when")?,
        sets: match cursor.eat_word("sets") {
            Some(_) => Some(predicate::sets(cursor)?),
            None => None,
        },
        undo: match cursor.eat_word("undo") {
            Some(_) => Some(cursor.ident("the effect that gives it back")?),
            None => None,
        },
        key: match cursor.eat_word("key") {
            Some(_) => Some(cursor.path()?),
            None => None,
        },
        region: None,
    })
}

fn verb(cursor: &mut Cursor) -> Result<Verb, Fault> {
    let verbs = [
        Verb::Apply,
        Verb::Delete,
        Verb::Call,
        Verb::Adopt,
        Verb::Create,
    ];
    verbs
        .into_iter()
        .find(|verb| cursor.eat_word(verb.keyword()).is_some())
        .ok_or_else(|| cursor.fault("`apply`, `delete`, `call`, `adopt`, `create` or `name:`"))
}
