//! Fragments: `fragment name;`, the section `needs`, `use name;` beside the sections of a lifecycle, and `use name;` in a list.

use proc_macro2::Ident;

use super::cursor::{Cursor, Fault};
use super::facts;
use super::recovery::{Form, Parser};
use crate::ast::{Lifecycle, List, Mark, Need};
use crate::check::misfit_fragment;

/// Sections that a fragment may have.
pub(super) const SECTIONS: [&str; 6] =
    ["needs", "observe", "facts", "states", "promises", "status"];
pub(super) const HEAD: Form = Form::declaring(
    "a fragment begins with `fragment name;` and goes on with sections `observe { .. }`, `facts { .. }`, ..",
);
const USE: Form = Form::declaring(
    "a fragment is used by its name, `use site_room;`; its Rust import goes above the macro, `use crate::shared::site_room;`",
);
const MARK: Form = Form::mentioning(
    "the items of a fragment are inserted at `use site_room;`, some of its states at `use site_room::{Missing, Blocked};`",
);
const NEED: Form = Form::declaring(
    "a declaration that a lifecycle must have is written `name: { A, B };` or `name: bool;`",
);

/// Reads the name of a fragment, and its documentation.
pub(super) fn head(cursor: &mut Cursor, parser: &mut Parser<'_>) -> Result<(Ident, String), Fault> {
    let doc = cursor.docs()?;
    cursor.need_word("fragment")?;
    let name = cursor.ident("the name of a fragment")?;
    parser.close_line(cursor, "`;`", "fragment", &HEAD);
    Ok((name, doc))
}

/// Reads the rest of a line after the word `use`, beside the sections.
pub(super) fn line(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut Lifecycle,
    in_fragment: bool,
) {
    match cursor.ident("the name of a fragment") {
        Ok(name) if in_fragment => {
            parser.close(cursor, "`;`", "use", &USE);
            let found = misfit_fragment::fragment_in_fragment(&name, &lifecycle.name);
            parser.sink.push(found);
        }
        Ok(name) => {
            parser.close(cursor, "`;`", "use", &USE);
            lifecycle.uses.push(name);
        }
        Err(fault) => {
            cursor.skip_past_semicolon();
            parser.taint.everything = true;
            parser.report(fault, "use", &USE);
        }
    }
}

/// A line `use ..;` in a list, if one comes next.
pub(super) fn mark(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    (list, at): (List, usize),
) -> Option<Mark> {
    cursor.eat_word("use")?;
    let has_names = matches!(list, List::States);
    match names(cursor, has_names) {
        Ok((fragment, names)) => {
            parser.close(cursor, "`::` or `;`", "use", &MARK);
            Some(Mark {
                list,
                at,
                fragment,
                names,
            })
        }
        Err(fault) => {
            cursor.skip_past_semicolon();
            // The items of this place are unknown.
            parser.taint.everything = true;
            parser.report(fault, "use", &MARK);
            None
        }
    }
}

/// `fragment`, `fragment::Name` or `fragment::{A, B}`.
fn names(cursor: &mut Cursor, has_names: bool) -> Result<(Ident, Option<Vec<Ident>>), Fault> {
    let fragment = cursor.ident("the name of a fragment")?;
    if cursor.eat(":").is_none() {
        return Ok((fragment, None));
    }
    if !has_names {
        return Err(Fault {
            span: cursor.previous(),
            message: "expected `;`, found `::`: clauses have no names".to_owned(),
        });
    }
    cursor.need(":")?;
    let Some(mut inner) = cursor.group(proc_macro2::Delimiter::Brace) else {
        let name = cursor.ident("a state of the fragment, or several in braces")?;
        return Ok((fragment, Some(vec![name])));
    };
    let mut names = vec![inner.ident("a state of the fragment")?];
    while inner.eat(",").is_some() && !inner.is_empty() {
        names.push(inner.ident("a state of the fragment")?);
    }
    super::predicate::expect_end(&inner, "`,` or `}`")?;
    Ok((fragment, Some(names)))
}

/// The section `needs`.
pub(super) fn needs(body: Cursor, parser: &mut Parser<'_>, needs: &mut Vec<Need>) {
    parser.items(body, &NEED, |cursor, _, parser| {
        let name = cursor.ident("the name of a fact")?;
        cursor.need(":")?;
        let text = name.to_string();
        if let Some(domain) = facts::domain(cursor, &name, parser)? {
            needs.push(Need { name, domain });
        }
        parser.close(cursor, "`;`", &text, &NEED);
        Ok(())
    });
}
