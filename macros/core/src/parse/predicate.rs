//! Predicates, lists of sources, and `sets`: the syntax that several sections share.

use proc_macro2::{Delimiter, Ident, Span};

use super::cursor::{Cursor, Fault, join};
use crate::ast::{Assign, Pred, PredKind};

/// Upper bound on the nesting of `!` and parentheses. Handwritten code stays far below it, and
/// every traversal of a predicate recurses to this depth.
const DEEPEST: usize = 64;

/// `conj || conj ..`.
pub(crate) fn pred(cursor: &mut Cursor) -> Result<Pred, Fault> {
    disj(cursor, 0)
}

/// The same, where `in` without braces does not belong to it: `ready in State`.
pub(crate) fn claim(cursor: &mut Cursor) -> Result<Pred, Fault> {
    cursor.is_claim = true;
    let pred = disj(cursor, 0);
    cursor.is_claim = false;
    pred
}

fn disj(cursor: &mut Cursor, depth: usize) -> Result<Pred, Fault> {
    let first = conj(cursor, depth)?;
    if !cursor.is("||") {
        return Ok(first);
    }
    let mut parts = vec![first];
    while cursor.eat("||").is_some() {
        parts.push(conj(cursor, depth)?);
    }
    Ok(joined(parts, PredKind::Any))
}

fn conj(cursor: &mut Cursor, depth: usize) -> Result<Pred, Fault> {
    let first = unary(cursor, depth)?;
    if !cursor.is("&&") {
        return Ok(first);
    }
    let mut parts = vec![first];
    while cursor.eat("&&").is_some() {
        parts.push(unary(cursor, depth)?);
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

fn unary(cursor: &mut Cursor, depth: usize) -> Result<Pred, Fault> {
    let place = cursor.span();
    if cursor.eat("!").is_some() {
        let inner = unary(cursor, deeper(depth, place)?)?;
        return Ok(Pred {
            span: join(place, inner.span),
            kind: PredKind::Not(Box::new(inner)),
        });
    }
    if let Some(mut inner) = cursor.group(Delimiter::Parenthesis) {
        let pred = disj(&mut inner, deeper(depth, place)?)?;
        expect_end(&inner, "`&&`, `||` or `)`")?;
        return Ok(pred);
    }
    atom(cursor)
}

/// Returns the next level of nesting, or an error at the bound.
fn deeper(depth: usize, span: Span) -> Result<usize, Fault> {
    if depth < DEEPEST {
        return Ok(depth + 1);
    }
    Err(Fault {
        span,
        message: format!(
            "a predicate nests at most {DEEPEST} levels of `!` and `(`, and here begins one more: ask a part of it as a fact of its own"
        ),
    })
}

fn atom(cursor: &mut Cursor) -> Result<Pred, Fault> {
    let start = cursor.span();
    let fact = cursor.ident("a fact")?;
    if let Some(mut inner) = cursor.group(Delimiter::Parenthesis) {
        let kind = match fact.to_string().as_str() {
            "refused" => {
                let effect = inner.ident("an effect")?;
                expect_end(&inner, "`)`")?;
                PredKind::Refused(effect)
            }
            "any" => PredKind::Any(each(&mut inner, cursor)?),
            "all" => PredKind::All(each(&mut inner, cursor)?),
            _ => {
                return Err(Fault {
                    span: start,
                    message: format!(
                        "expected a fact, found `{fact}(`: write `any(a, b)`, `all(a, b)` or `refused(effect)`"
                    ),
                });
            }
        };
        return Ok(Pred {
            kind,
            span: join(start, cursor.previous()),
        });
    }
    let test = test(cursor)?;
    Ok(test.to_pred(fact, join(start, cursor.previous())))
}

/// Upper bound on the facts in one `any(..)`: each is evaluated for every condition on them.
const MOST: usize = 64;

/// `a, b) == Value`: each of the facts is evaluated by itself.
fn each(inner: &mut Cursor, cursor: &mut Cursor) -> Result<Vec<Pred>, Fault> {
    let mut facts = vec![inner.ident("a fact")?];
    while inner.eat(",").is_some() && !inner.is_empty() {
        let fact = inner.ident("a fact")?;
        if facts.len() == MOST {
            return Err(Fault {
                span: fact.span(),
                message: format!(
                    "`any` and `all` ask at most {MOST} facts, and here begins one more"
                ),
            });
        }
        facts.push(fact);
    }
    expect_end(inner, "`,` or `)`")?;
    let test = test(cursor)?;
    let facts = facts.into_iter();
    Ok(facts
        .map(|fact| {
            let span = fact.span();
            test.to_pred(fact, span)
        })
        .collect())
}

/// Test of the value of a fact.
enum Test {
    There,
    Is(Vec<Ident>),
    IsNot(Vec<Ident>),
}

impl Test {
    fn to_pred(&self, fact: Ident, span: Span) -> Pred {
        let is = |values: &Vec<Ident>, fact| PredKind::Is {
            fact,
            values: values.clone(),
        };
        let kind = match self {
            Self::There => PredKind::There(fact),
            Self::Is(values) => is(values, fact),
            Self::IsNot(values) => PredKind::Not(Box::new(Pred {
                kind: is(values, fact),
                span,
            })),
        };
        Pred { kind, span }
    }
}

fn test(cursor: &mut Cursor) -> Result<Test, Fault> {
    if cursor.eat("==").is_some() {
        return Ok(Test::Is(vec![cursor.any_word("a value")?]));
    }
    if cursor.eat("!=").is_some() {
        return Ok(Test::IsNot(vec![cursor.any_word("a value")?]));
    }
    if cursor.eat_word("not").is_some() {
        cursor.need_word("in")?;
        return values(cursor).map(Test::IsNot);
    }
    let is_scope = cursor.is_claim && !cursor.then_braces();
    if !is_scope && cursor.eat_word("in").is_some() {
        return values(cursor).map(Test::Is);
    }
    Ok(Test::There)
}

fn values(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    let mut inner = cursor.braces()?;
    let mut values = vec![inner.any_word("a value")?];
    while inner.eat(",").is_some() && !inner.is_empty() {
        values.push(inner.any_word("a value")?);
    }
    expect_end(&inner, "`,` or `}`")?;
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
        Some(_) => sources(cursor),
        None => Ok(Vec::new()),
    }
}

/// `from a, b`.
pub(crate) fn need_from(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    cursor.need_word("from")?;
    sources(cursor)
}

/// Name of the request that a volume answers.
pub(super) const REQUEST: &str = "request";

/// Nothing but a fact reads one field of the request.
fn sources(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    let names = cursor.ident_list("an input or a `let`")?;
    let of_request = names.last().is_some_and(|name| *name == REQUEST);
    if of_request && cursor.is(".") {
        return Err(Fault {
            span: cursor.span(),
            message: "one field of the request is read by a fact alone; everything else is made from `request` as a whole, or finds an input `by name request.volume_id`".to_owned(),
        });
    }
    Ok(names)
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
    expect_end(&inner, "`,` or `}`")?;
    Ok(assigns)
}

/// Nothing may follow in this group.
pub(crate) fn expect_end(cursor: &Cursor, expected: &str) -> Result<(), Fault> {
    if cursor.is_empty() {
        Ok(())
    } else {
        Err(cursor.fault(expected))
    }
}
