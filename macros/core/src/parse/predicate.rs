//! Predicates, lists of sources, and `sets`: what several sections write alike.

use proc_macro2::{Delimiter, Ident};

use super::cursor::{Cursor, Fault, join};
use crate::ast::{Assign, Pred, PredKind};

/// `conj || conj ..`.
pub(crate) fn pred(cursor: &mut Cursor) -> Result<Pred, Fault> {
    let first = conj(cursor)?;
    if !cursor.is("||") {
        return Ok(first);
    }
    let mut parts = vec![first];
    while cursor.eat("||").is_some() {
        parts.push(conj(cursor)?);
    }
    Ok(joined(parts, PredKind::Any))
}

fn conj(cursor: &mut Cursor) -> Result<Pred, Fault> {
    let first = unary(cursor)?;
    if !cursor.is("&&") {
        return Ok(first);
    }
    let mut parts = vec![first];
    while cursor.eat("&&").is_some() {
        parts.push(unary(cursor)?);
    }
    Ok(joined(parts, PredKind::All))
}

fn joined(parts: Vec<Pred>, kind: impl FnOnce(Vec<Pred>) -> PredKind) -> Pred {
    let span = join(parts[0].span, parts[parts.len() - 1].span);
    Pred {
        kind: kind(parts),
        span,
    }
}

fn unary(cursor: &mut Cursor) -> Result<Pred, Fault> {
    if let Some(not) = cursor.eat("!") {
        let inner = unary(cursor)?;
        return Ok(Pred {
            span: join(not, inner.span),
            kind: PredKind::Not(Box::new(inner)),
        });
    }
    if let Some(mut inner) = cursor.group(Delimiter::Parenthesis) {
        let pred = pred(&mut inner)?;
        ended(&inner, "`&&`, `||` or `)`")?;
        return Ok(pred);
    }
    atom(cursor)
}

fn atom(cursor: &mut Cursor) -> Result<Pred, Fault> {
    let start = cursor.span();
    let fact = cursor.ident("a fact")?;
    let kind = if fact == "refused"
        && let Some(mut inner) = cursor.group(Delimiter::Parenthesis)
    {
        let effect = inner.ident("an effect")?;
        ended(&inner, "`)`")?;
        PredKind::Refused(effect)
    } else {
        test(cursor, fact)?
    };
    Ok(Pred {
        kind,
        span: join(start, cursor.previous()),
    })
}

fn test(cursor: &mut Cursor, fact: Ident) -> Result<PredKind, Fault> {
    if cursor.eat("==").is_some() {
        let values = vec![cursor.any_word("a value")?];
        return Ok(PredKind::Is { fact, values });
    }
    if cursor.eat("!=").is_some() {
        let values = vec![cursor.any_word("a value")?];
        return Ok(negated(fact, values, cursor));
    }
    if cursor.eat_word("not").is_some() {
        cursor.need_word("in")?;
        let values = values(cursor)?;
        return Ok(negated(fact, values, cursor));
    }
    if cursor.eat_word("in").is_some() {
        let values = values(cursor)?;
        return Ok(PredKind::Is { fact, values });
    }
    Ok(PredKind::There(fact))
}

fn negated(fact: Ident, values: Vec<Ident>, cursor: &Cursor) -> PredKind {
    let span = join(fact.span(), cursor.previous());
    PredKind::Not(Box::new(Pred {
        kind: PredKind::Is { fact, values },
        span,
    }))
}

fn values(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    let mut inner = cursor.braces()?;
    let mut values = vec![inner.any_word("a value")?];
    while inner.eat(",").is_some() && !inner.is_empty() {
        values.push(inner.any_word("a value")?);
    }
    ended(&inner, "`,` or `}`")?;
    Ok(values)
}

/// `given pred`, if it comes next.
pub(crate) fn given(cursor: &mut Cursor) -> Result<Option<Pred>, Fault> {
    clause(cursor, "given")
}

/// `word pred`, if it comes next.
pub(crate) fn clause(cursor: &mut Cursor, word: &str) -> Result<Option<Pred>, Fault> {
    match cursor.eat_word(word) {
        Some(_) => pred(cursor).map(Some),
        None => Ok(None),
    }
}

/// `from a, b`, if it comes next.
pub(crate) fn from(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    match cursor.eat_word("from") {
        Some(_) => cursor.words("an input or a `let`"),
        None => Ok(Vec::new()),
    }
}

/// `from a, b`.
pub(crate) fn need_from(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    cursor.need_word("from")?;
    cursor.words("an input or a `let`")
}

/// `{ fact = Value, .. } or { .. }`.
pub(crate) fn sets(cursor: &mut Cursor) -> Result<Vec<Vec<Assign>>, Fault> {
    let mut alternatives = vec![assigns(cursor)?];
    while cursor.eat_word("or").is_some() {
        alternatives.push(assigns(cursor)?);
    }
    Ok(alternatives)
}

fn assigns(cursor: &mut Cursor) -> Result<Vec<Assign>, Fault> {
    let mut inner = cursor.braces()?;
    let mut assigns = Vec::new();
    loop {
        let fact = inner.ident("a fact")?;
        inner.need("=")?;
        let value = inner.any_word("a value")?;
        assigns.push(Assign { fact, value });
        if inner.eat(",").is_none() || inner.is_empty() {
            break;
        }
    }
    ended(&inner, "`,` or `}`")?;
    Ok(assigns)
}

/// Nothing may follow in this group.
pub(crate) fn ended(cursor: &Cursor, expected: &str) -> Result<(), Fault> {
    if cursor.is_empty() {
        Ok(())
    } else {
        Err(cursor.fault(expected))
    }
}
