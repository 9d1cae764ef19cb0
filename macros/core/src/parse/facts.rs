//! The section `facts`: finite questions, shared values, and worlds that cannot be.

use proc_macro2::{Delimiter, Ident};

use super::cursor::{Cursor, Fault, join};
use super::predicate;
use super::recovery::{Form, Parser};
use crate::ast::{Derived, Domain, Fact, Given, Lifecycle, Mint, Never, Path, Value};
use crate::check::infinite_fact;

const FORM: Form = Form::declaring(
    "a fact is written `name: { A, B } from input given predicate else Value;`, one of the members of a set `name: count { Empty, None, Some, All } of inputs;`, one that others decide `name = predicate;`, a shared value `let name: Type from input;`, one that is made once and kept `mint name: Type in keeper from input until predicate;`, an impossible world `never predicate;`",
);

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        // A fact may be named `never` or `held`: a `:` or `=` behind it decides.
        let derives = cursor.then_mark('=');
        let named = derives || cursor.then_mark(':');
        parser.begun = begun(cursor, named, derives);
        if derives {
            derived(cursor, parser, lifecycle)
        } else if !named && cursor.is_word("never") {
            never(cursor, parser, lifecycle)
        } else if !named && cursor.is_word("let") {
            value(cursor, doc, parser, lifecycle)
        } else if !named && cursor.is_word("mint") {
            mint(cursor, doc, parser, lifecycle)
        } else {
            fact(cursor, doc, parser, lifecycle)
        }
    });
}

/// Returns the form of the item that begins here, if its first words decide it.
fn begun(cursor: &Cursor, named: bool, derives: bool) -> Option<&'static str> {
    let begins = |word: &str| !named && cursor.is_word(word);
    if derives {
        Some("a fact that others decide is written `name = predicate;`")
    } else if begins("never") {
        Some("an impossible world is written `never predicate;`")
    } else if begins("let") {
        Some("a shared value is written `let name: Type from input;`")
    } else if begins("mint") {
        Some(
            "a value that is made once and kept is written `mint name: Type in keeper from input until predicate;`",
        )
    } else if begins("held") {
        Some(
            "a held fact is written `held name: { Free | Ours } from input given predicate else Unknown;`",
        )
    } else if named {
        Some(
            "a fact is written `name: { A, B } from input given predicate else Value;`, one of the members of a set `name: count { Empty, None, Some, All } of inputs;`",
        )
    } else {
        None
    }
}

fn never(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<(), Fault> {
    let word = cursor.need_word("never")?;
    let pred = predicate::pred(cursor)?;
    let span = join(word, cursor.previous());
    lifecycle.nevers.push(Never { pred, span });
    parser.close(cursor, "`&&`, `||` or `;`", "never", &FORM);
    Ok(())
}

fn derived(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<(), Fault> {
    let name = cursor.ident("the name of a fact")?;
    cursor.need("=")?;
    let pred = predicate::pred(cursor)?;
    if ["from", "given"].iter().any(|word| cursor.is_word(word)) {
        return Err(Fault {
            span: cursor.span(),
            message: format!(
                "`{name}` is decided by other facts: it reads no input, and is known where they are"
            ),
        });
    }
    let text = name.to_string();
    lifecycle.derived.push(Derived { name, pred });
    parser.close(cursor, "`&&`, `||` or `;`", &text, &FORM);
    Ok(())
}

fn value(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<(), Fault> {
    cursor.need_word("let")?;
    let name = cursor.ident("the name of a value")?;
    cursor.need(":")?;
    let value = Value {
        name: name.clone(),
        doc,
        ty: cursor.ty(&["from"])?,
        from: predicate::need_from(cursor)?,
        given: predicate::given(cursor)?,
        mint: None,
    };
    lifecycle.values.push(value);
    parser.close(cursor, "`,`, `given` or `;`", &name.to_string(), &FORM);
    Ok(())
}

/// `mint password: Password in secret from authority until due;`
fn mint(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<(), Fault> {
    let word = cursor.need_word("mint")?;
    let name = cursor.ident("the name of a value")?;
    cursor.need(":")?;
    let ty = cursor.ty(&["in", "from", "until"])?;
    cursor.need_word("in")?;
    let keeper = cursor.ident("the input that keeps it")?;
    let value = Value {
        name: name.clone(),
        doc,
        ty,
        from: predicate::from(cursor)?,
        given: None,
        mint: Some(Mint {
            keeper,
            until: predicate::clause(cursor, "until")?,
            span: join(word, cursor.previous()),
        }),
    };
    lifecycle.values.push(value);
    let expected = "`from`, `,`, `until` or `;`";
    parser.close(cursor, expected, &name.to_string(), &FORM);
    Ok(())
}

fn fact(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
) -> Result<(), Fault> {
    let held = if cursor.then_mark(':') {
        None
    } else {
        cursor.eat_word("held")
    };
    let name = cursor.ident("the name of a fact")?;
    cursor.need(":")?;
    let count = match cursor.then_braces() || cursor.then_word("of") {
        true => cursor.eat_word("count"),
        false => None,
    };
    let (domain, (of_request, from)) = match count {
        Some(_) => {
            let (domain, of) = counted(cursor)?;
            (domain, (Vec::new(), of))
        }
        None => {
            let Some(domain) = domain(cursor, &name, parser)? else {
                cursor.skip_past_semicolon();
                return Ok(());
            };
            (domain, sources(cursor)?)
        }
    };
    let mut given = Vec::new();
    while let Some(pred) = predicate::given(cursor)? {
        let otherwise = match cursor.eat_word("else") {
            // A value that only an `else` gives is declared by it.
            Some(_) if ["true", "false"].iter().any(|word| cursor.is_word(word)) => {
                Some(cursor.any_word("a value")?)
            }
            Some(_) => Some(cursor.ident("a value")?),
            None => None,
        };
        given.push(Given { pred, otherwise });
    }
    lifecycle.facts.push(Fact {
        name: name.clone(),
        doc,
        held,
        count,
        domain,
        of_request,
        from,
        given,
    });
    let expected = match count {
        Some(_) => "`given`, `else` or `;`",
        None => "`,`, `given`, `else` or `;`",
    };
    parser.close(cursor, expected, &name.to_string(), &FORM);
    Ok(())
}

/// `{ Empty, None, Some, All } of pods`, behind the word `count`.
fn counted(cursor: &mut Cursor) -> Result<(Domain, Vec<Ident>), Fault> {
    let mut inner = cursor.braces()?;
    let left = values(&mut inner)?;
    predicate::expect_end(&inner, "`,` or `}`")?;
    cursor.need_word("of")?;
    let of = cursor.ident("the set whose members are counted")?;
    let right = None;
    Ok((Domain::Values { left, right }, vec![of]))
}

/// `from request.readonly, claim`: fields of the request, and all else.
fn sources(cursor: &mut Cursor) -> Result<(Vec<Path>, Vec<Ident>), Fault> {
    cursor.need_word("from")?;
    let (mut fields, mut names) = (Vec::new(), Vec::new());
    loop {
        let name = cursor.any_word("an input or a `let`")?;
        if name == predicate::REQUEST && cursor.eat(".").is_some() {
            let field = cursor.ident("a field of the request")?;
            let parts = vec![name, field];
            fields.push(Path { parts });
        } else {
            names.push(name);
        }
        if cursor.eat(",").is_none() {
            return Ok((fields, names));
        }
    }
}

/// `None` if the type is infinite: then the fact is reported and lost.
pub(super) fn domain(
    cursor: &mut Cursor,
    name: &Ident,
    parser: &mut Parser<'_>,
) -> Result<Option<Domain>, Fault> {
    if let Some(mut inner) = cursor.group(Delimiter::Brace) {
        let left = values(&mut inner)?;
        let right = match inner.eat("|") {
            Some(_) => Some(values(&mut inner)?),
            None => None,
        };
        predicate::expect_end(&inner, "`,`, `|` or `}`")?;
        return Ok(Some(Domain::Values { left, right }));
    }
    let span = cursor.span();
    if cursor.is_word("bool") && !cursor.then_mark(':') {
        cursor.eat_word("bool");
        return Ok(Some(Domain::Bool));
    }
    let ty = cursor.ty(&["from"])?;
    let text = quote::quote!(#ty).to_string();
    parser
        .sink
        .push(infinite_fact::diagnostic(name, span, &text));
    parser.taint.names.insert(name.to_string());
    Ok(None)
}

fn values(cursor: &mut Cursor) -> Result<Vec<Ident>, Fault> {
    let mut values = vec![cursor.ident("a value")?];
    while cursor.eat(",").is_some() && !cursor.is_empty() {
        values.push(cursor.ident("a value")?);
    }
    Ok(values)
}
