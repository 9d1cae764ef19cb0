//! The section `observe`: inputs and how they are found.

use proc_macro2::{Delimiter, Ident};

use super::cursor::{Cursor, Fault, join};
use super::recovery::{Form, Parser};
use super::{length, predicate, slip};
use crate::ast::{Input, Lifecycle, Lookup, Member, Mode, Path, Retain};
use crate::hygiene;

/// A member of a group.
const MEMBER: Form = Form::declaring(
    "a member of a group is written `name: Type by ref;`, with `optional` before the type where the builder may want none",
);
const FORM: Form = Form::declaring(
    "an input is written `name: Type by name spec.other;`, with `owned`, `shared`, `part`, `record`, `poll` or `probe` before the type and `given ..` after the lookup; of what is created once, `name: record of other;`; of several that are judged as one, `name: owned { .. };`",
);
/// How an input is found.
const LOOKUPS: &str =
    "`name`, `names of`, `refs of`, `labels`, `owner`, `namespace`, `ref` or a path";
const NO_NAME: &str = "the path of the name, such as `by name spec.other` (an input that is called `name` cannot be a key: rename it)";
const STOPS: [&str; 9] = [
    "of",
    "without",
    "by",
    "if",
    "every",
    "exclusive",
    "whole",
    "retain",
    "given",
];

pub(crate) fn section(body: Cursor, parser: &mut Parser<'_>, lifecycle: &mut Lifecycle) {
    parser.items(body, &FORM, |cursor, doc, parser| {
        let (input, members) = match group(cursor, &doc, parser)? {
            Some(group) => group,
            None => (input(cursor, doc, parser)?, Vec::new()),
        };
        let name = input.name.to_string();
        let policy = input.retain.as_ref().map(|retain| retain.when.is_some());
        let ends = match (&input.given, policy) {
            (None, _) if input.mode == Mode::Group => "`given` or `;`",
            (Some(_), _) => slip::GIVEN_LAST,
            (None, Some(true)) => "`&&`, `||`, `given` or `;`",
            (None, Some(false)) => "`when`, `given` or `;`",
            (None, None) => "`of`, `by`, `if`, `every`, `exclusive`, `retain`, `given` or `;`",
        };
        lifecycle.inputs.push(input);
        lifecycle.inputs.extend(members);
        parser.close(cursor, ends, &name, &FORM);
        Ok(())
    });
}

/// `name: owned { .. } given ..`, if it is a group; its members are inputs of their own.
fn group(
    cursor: &mut Cursor,
    doc: &str,
    parser: &mut Parser<'_>,
) -> Result<Option<(Input, Vec<Input>)>, Fault> {
    let name = cursor.ident("the name of an input")?;
    cursor.need(":")?;
    if !cursor.is_word(Mode::Group.keyword()) || !cursor.then_braces() {
        cursor.back();
        cursor.back();
        return Ok(None);
    }
    cursor.need_word(Mode::Group.keyword())?;
    let mut members = Vec::new();
    let body = cursor.braces()?;
    parser.items(body, &MEMBER, |cursor, doc, parser| {
        let member = member(cursor, doc, parser, &name)?;
        let called = member.name.to_string();
        members.push(member);
        parser.close(cursor, "`by`, `exclusive` or `;`", &called, &MEMBER);
        Ok(())
    });
    let group = Input {
        given: predicate::given(cursor)?,
        ..Input::of_several(name, doc.to_owned(), Mode::Group)
    };
    Ok(Some((group, members)))
}

fn member(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
    group: &Ident,
) -> Result<Input, Fault> {
    let name = cursor.ident("the name of a member")?;
    cursor.need(":")?;
    let optional = match cursor.then_name() {
        true => cursor.eat_word("optional"),
        false => None,
    };
    let word = cursor.span();
    let mut member = input_body(cursor, (name, doc), parser)?;
    let mode = (member.mode != Mode::Watched).then_some((word, member.mode));
    if mode.is_none() {
        member.mode = Mode::Owned;
    }
    member.member = Some(Member {
        of: group.clone(),
        optional,
        mode,
    });
    Ok(member)
}

pub(super) fn input(
    cursor: &mut Cursor,
    doc: String,
    parser: &mut Parser<'_>,
) -> Result<Input, Fault> {
    let name = cursor.ident("the name of an input")?;
    cursor.need(":")?;
    input_body(cursor, (name, doc), parser)
}

/// Parses the text after the name of an input.
fn input_body(
    cursor: &mut Cursor,
    (name, doc): (Ident, String),
    parser: &mut Parser<'_>,
) -> Result<Input, Fault> {
    let mode = mode(cursor);
    // Two words in a row are no type.
    let ends = STOPS.iter().any(|stop| cursor.is_word(stop));
    if !ends && cursor.then_name() && !STOPS.iter().any(|stop| cursor.then_word(stop)) {
        return Err(cursor.fault("`owned`, `shared`, `part`, `record`, `poll`, `probe` or a type"));
    }
    let (many, ty) = match cursor.group(Delimiter::Bracket) {
        // The time has a fixed type that is not written, and so has the record of a created
        // object.
        _ if mode == Mode::Clock => (false, syn::Type::Verbatim(hygiene::timestamp())),
        _ if mode == Mode::Noted => (false, syn::Type::Verbatim(hygiene::noted())),
        Some(mut inner) => (true, inner.ty(&[])?),
        None => (false, cursor.ty(&STOPS)?),
    };
    let (of, provider) = match cursor.eat_word("of") {
        Some(_) if mode == Mode::Poll => (None, Some(cursor.ident("the provider to poll")?)),
        Some(_) => (Some(cursor.ident("the input that owns it")?), None),
        None => (None, None),
    };
    let without_controller = match cursor.eat_word("without") {
        Some(without) => {
            cursor.need_word("controller")?;
            Some(join(without, cursor.previous()))
        }
        None => None,
    };
    let lookup = match cursor.eat_word("by") {
        Some(by) => {
            let found = lookup(cursor)?;
            Some((join(by, cursor.previous()), found))
        }
        None => None,
    };
    let only_if = match cursor.eat_word("if") {
        Some(word) => {
            let path = wanted_by(cursor)?;
            Some((join(word, cursor.previous()), path))
        }
        None => None,
    };
    let every = match cursor.eat_word("every") {
        Some(every) => Some((every, length::length(cursor)?)),
        None => None,
    };
    let exclusive = match parser.eat_renamed(cursor, "exclusive", "whole", &name) {
        Some(word) => {
            let lists = paths(cursor)?;
            Some((join(word, cursor.previous()), lists))
        }
        None => None,
    };
    let retain = match cursor.eat_word("retain") {
        Some(span) => Some(Retain {
            span,
            when: predicate::clause(cursor, "when")?,
        }),
        None => None,
    };
    let given = predicate::given(cursor)?;
    refuse_late_clause(cursor, retain.as_ref(), given.is_some())?;
    Ok(Input {
        name,
        doc,
        mode,
        many,
        ty,
        of,
        provider,
        without_controller,
        lookup,
        only_if,
        every,
        exclusive,
        retain,
        given,
        retired: None,
        member: None,
        goals: None,
    })
}

/// Refuses a clause behind one that comes later in the order.
fn refuse_late_clause(
    cursor: &Cursor,
    retain: Option<&Retain>,
    has_given: bool,
) -> Result<(), Fault> {
    let earlier = ["by", "if", "every", "exclusive", "retain"];
    // `retain if` is meant as `retain when`.
    let is_policy = retain.is_some_and(|one| one.when.is_none()) && cursor.is_word("if");
    if !earlier.iter().any(|word| cursor.is_word(word)) || is_policy && !has_given {
        return Ok(());
    }
    let expected = match has_given {
        true => slip::GIVEN_LAST,
        false => slip::AFTER_CLAUSES,
    };
    Err(cursor.fault(expected))
}

/// The one path behind the `if` of an input. An author may try a predicate there.
fn wanted_by(cursor: &mut Cursor) -> Result<Path, Fault> {
    if cursor.peek_ident().is_none() {
        return Err(cursor.fault(slip::ONE_PATH));
    }
    let path = cursor.path()?;
    let marks = ["&&", "||", "==", "!=", "?", "<", ">"];
    let words = ["in", "not", "and", "or", "is"];
    let goes_on = marks.iter().any(|mark| cursor.is(mark))
        || words.iter().any(|word| cursor.is_word(word))
        || cursor.at_parens();
    match goes_on {
        true => Err(cursor.fault(slip::ONE_PATH)),
        false => Ok(path),
    }
}

fn paths(cursor: &mut Cursor) -> Result<Vec<Path>, Fault> {
    let mut paths = vec![cursor.path()?];
    while cursor.eat(",").is_some() {
        paths.push(cursor.path()?);
    }
    Ok(paths)
}

fn mode(cursor: &mut Cursor) -> Mode {
    let modes = [
        Mode::Owned,
        Mode::Shared,
        Mode::Part,
        Mode::Record,
        Mode::Poll,
        Mode::Probe,
    ];
    // A module may be called like this: `clock::Reading`.
    if !cursor.then_mark(':') && cursor.eat_word(Mode::Clock.keyword()).is_some() {
        return Mode::Clock;
    }
    let mode = modes
        .into_iter()
        .find(|mode| cursor.eat_word(mode.keyword()).is_some())
        .unwrap_or(Mode::Watched);
    if mode == Mode::Record && cursor.is_word("of") {
        return Mode::Noted;
    }
    mode
}

fn lookup(cursor: &mut Cursor) -> Result<Lookup, Fault> {
    // A path may begin with an input named `name` or `owner`: the next token decides.
    if cursor.then_mark('.') || cursor.then_mark('=') {
        return path_lookup(cursor);
    }
    if cursor.eat_word("name").is_some() {
        let marks = ['.', '=', '?', ';'];
        let goes_on = marks.into_iter().any(|mark| cursor.then_mark(mark));
        if !goes_on && STOPS.iter().any(|stop| cursor.is_word(stop)) {
            return Err(cursor.fault(NO_NAME));
        }
        let path = cursor.path()?;
        let optional = cursor.eat("?").is_some();
        return Ok(Lookup::Name { path, optional });
    }
    if cursor.eat_word("names").is_some() {
        cursor.need_word("of")?;
        let of = cursor.ident_list("an input or a `let`")?;
        return Ok(Lookup::Names { of });
    }
    if cursor.eat_word("refs").is_some() {
        cursor.need_word("of")?;
        let of = cursor.ident_list("an input or a `let`")?;
        return Ok(Lookup::Refs { of });
    }
    if cursor.eat_word("labels").is_some() {
        return labels(cursor);
    }
    if cursor.eat_word("owner").is_some() {
        return Ok(Lookup::Owner);
    }
    if cursor.eat_word("namespace").is_some() {
        return Ok(Lookup::Namespace);
    }
    if cursor.eat_word("ref").is_some() {
        let from = predicate::from(cursor)?;
        return Ok(Lookup::Ref { from });
    }
    path_lookup(cursor)
}

fn path_lookup(cursor: &mut Cursor) -> Result<Lookup, Fault> {
    if cursor.peek_ident().is_none() {
        return Err(cursor.fault(LOOKUPS));
    }
    // Two words in a row are no path: the first is one of these, misspelt.
    if cursor.then_name() && !STOPS.iter().any(|stop| cursor.then_word(stop)) {
        return Err(cursor.fault(LOOKUPS));
    }
    let mut paths = paths(cursor)?;
    match paths.pop() {
        Some(theirs) if paths.is_empty() && cursor.eat("=").is_some() => {
            let ours = cursor.path()?;
            Ok(Lookup::Equal { theirs, ours })
        }
        last => {
            paths.extend(last);
            // The next token would be taken for the end, and the rest would be missed.
            let joined = ["and", "&", "&&", "+"];
            if joined
                .iter()
                .any(|mark| cursor.is(mark) || cursor.is_word(mark))
            {
                return Err(cursor.fault("`,`, `every`, `given` or `;`"));
            }
            Ok(Lookup::Keys { paths })
        }
    }
}

fn labels(cursor: &mut Cursor) -> Result<Lookup, Fault> {
    let mut inner = cursor.braces()?;
    let mut pairs = Vec::new();
    loop {
        let key = inner.path()?;
        inner.need("=")?;
        pairs.push((key, inner.path()?));
        if inner.eat(",").is_none() || inner.is_empty() {
            break;
        }
    }
    predicate::expect_end(&inner, "`,` or `}`")?;
    Ok(Lookup::Labels { pairs })
}
