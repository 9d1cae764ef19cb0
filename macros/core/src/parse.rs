//! Tokens to ast: each brace group apart, each item apart at `;`, so that one bad item costs only itself.
//! Knows the grammar; knows no names and no meaning.

mod allows;
mod cursor;
mod effects;
mod facts;
mod fragments;
mod length;
mod message;
mod observe;
mod predicate;
mod promises;
mod properties;
mod recovery;
mod regions;
mod retired;
mod rpc;
mod slip;
mod states;
mod status;
mod teardown;
mod transitions;

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, Span, TokenStream};

use crate::ast;
use crate::check::{declared_twice, misfit_fragment, misfit_region, syntax, unknown_name};
use crate::errors::{Diagnostic, Sink};
use cursor::{Cursor, Fault};
use recovery::{Form, Parser};

const SECTIONS: [&str; 11] = [
    "observe",
    "facts",
    "states",
    "effects",
    "promises",
    "teardown",
    "retired",
    "transitions",
    "properties",
    "status",
    "rpc",
];
const HEAD: Form = Form::declaring(
    "a lifecycle begins with `resource Name;` or `volume Name;` and goes on with sections `observe { .. }`, `facts { .. }`, ..",
);

/// Parses the body of one `lifecycle! { .. }`. `None` only if not even its name could be read; everything found goes to the sink.
pub fn parse(body: TokenStream, sink: &mut Sink) -> Option<ast::Lifecycle> {
    let mut cursor = new_cursor(body);
    let mut parser = Parser::new(sink);
    let mut lifecycle = match head(&mut cursor, &mut parser) {
        Ok(lifecycle) => lifecycle,
        Err(fault) => {
            parser.report(fault, "lifecycle", &HEAD);
            return None;
        }
    };
    sections(
        &mut cursor,
        &mut parser,
        &mut lifecycle,
        &mut Block::Lifecycle,
    );
    lifecycle.taint = parser.taint;
    Some(lifecycle)
}

/// The same of one `fragment! { .. }`.
pub(crate) fn parse_fragment(body: TokenStream, sink: &mut Sink) -> Option<ast::Fragment> {
    let mut cursor = new_cursor(body.clone());
    let mut parser = Parser::new(sink);
    let (name, doc) = match fragments::head(&mut cursor, &mut parser) {
        Ok(head) => head,
        Err(fault) => {
            parser.report(fault, "fragment", &fragments::HEAD);
            return None;
        }
    };
    let mut part = empty(ast::Kind::Resource, name.clone(), doc);
    let mut needs = Vec::new();
    let mut block = Block::Fragment(&mut needs);
    sections(&mut cursor, &mut parser, &mut part, &mut block);
    part.taint = parser.taint;
    Some(ast::Fragment {
        used: name,
        part,
        needs,
        tokens: body,
    })
}

fn new_cursor(body: TokenStream) -> Cursor {
    let last = body.clone().into_iter().last();
    let end = last.map_or_else(Span::call_site, |token| token.span());
    Cursor::new(body, end)
}

fn head(cursor: &mut Cursor, parser: &mut Parser<'_>) -> Result<ast::Lifecycle, Fault> {
    let doc = cursor.docs()?;
    let kind = if cursor.eat_word("resource").is_some() {
        ast::Kind::Resource
    } else if cursor.eat_word("volume").is_some() {
        ast::Kind::Volume
    } else {
        return Err(cursor.fault("`resource` or `volume`"));
    };
    let name = cursor.ident("the name of a type")?;
    parser.close_line(cursor, "`;`", "lifecycle", &HEAD);
    Ok(empty(kind, name, doc))
}

fn empty(kind: ast::Kind, name: Ident, doc: String) -> ast::Lifecycle {
    ast::Lifecycle {
        kind,
        name,
        doc,
        inputs: Vec::new(),
        values: Vec::new(),
        facts: Vec::new(),
        derived: Vec::new(),
        nevers: Vec::new(),
        states: Vec::new(),
        effects: Vec::new(),
        promises: Vec::new(),
        teardown: None,
        transitions: None,
        properties: Vec::new(),
        conditions: Vec::new(),
        ready: None,
        implicit: None,
        kstatus: None,
        fields: Vec::new(),
        columns: Vec::new(),
        rpc: None,
        allows: Vec::new(),
        lock: None,
        retired: None,
        uses: Vec::new(),
        marks: Vec::new(),
        fragments: Vec::new(),
        regions: Vec::new(),
        place: ast::Place::default(),
        taint: ast::Taint::default(),
    }
}

/// Owner of sections.
enum Block<'a> {
    Lifecycle,
    /// With its section `needs`.
    Fragment(&'a mut Vec<ast::Need>),
    Region,
}

impl Block<'_> {
    /// Returns the names of its sections.
    fn sections(&self) -> &'static [&'static str] {
        match self {
            Self::Lifecycle => &SECTIONS,
            Self::Fragment(_) => &fragments::SECTIONS,
            Self::Region => &regions::SECTIONS,
        }
    }

    /// Returns the finding about a section, or a line beside them, that only lifecycles have.
    fn misfit(&self, section: &Ident, part: &ast::Lifecycle, name: &Ident) -> Option<Diagnostic> {
        match self {
            Self::Lifecycle => None,
            Self::Fragment(_) => Some(misfit_fragment::section(section, &part.name)),
            Self::Region => Some(misfit_region::section(section, name)),
        }
    }
}

/// Reads the sections of a lifecycle, of a fragment, or of a region.
fn sections(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut ast::Lifecycle,
    block: &mut Block<'_>,
) {
    let name = lifecycle.name.clone();
    sections_of(cursor, parser, (lifecycle, &name), block);
}

fn sections_of(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    (lifecycle, called): (&mut ast::Lifecycle, &Ident),
    block: &mut Block<'_>,
) {
    let mut seen = BTreeMap::new();
    while !cursor.is_empty() {
        if regions::line(cursor, parser, lifecycle, block) {
            continue;
        }
        if cursor.is_word("use") && !matches!(block, Block::Region) {
            cursor.eat_word("use");
            fragments::line(
                cursor,
                parser,
                lifecycle,
                matches!(block, Block::Fragment(_)),
            );
            continue;
        }
        let Ok(name) = cursor.ident("a section") else {
            parser.report(cursor.fault("a section"), "lifecycle", &HEAD);
            // The item after a doc comment is read even without it.
            let before = cursor.position();
            if cursor.docs().is_ok() && cursor.position() > before {
                continue;
            }
            parser.taint.everything = true;
            cursor.skip_to_section();
            continue;
        };
        if beside(&name, cursor, parser, (lifecycle, called), block) {
            continue;
        }
        let Some(body) = cursor.group(Delimiter::Brace) else {
            parser.report(cursor.fault("`{`"), &name.to_string(), &HEAD);
            parser.taint.everything = true;
            cursor.skip_to_section();
            continue;
        };
        let sections = block.sections();
        let is_of_lifecycles = SECTIONS.iter().any(|s| name == s);
        if is_of_lifecycles && !sections.iter().any(|s| name == s) {
            parser.sink.extend(block.misfit(&name, lifecycle, called));
            continue;
        }
        let Some(known) = section_named(&name, sections, parser) else {
            parser.taint.everything = true;
            continue;
        };
        if let Some(first) = seen.insert(known, name.span()) {
            parser.sink.push(declared_twice::section(&name, first));
        }
        match block {
            Block::Fragment(needs) if known == "needs" => fragments::needs(body, parser, needs),
            Block::Lifecycle | Block::Fragment(_) | Block::Region => {
                section(known, name.span(), body, parser, lifecycle);
            }
        }
    }
}

/// Reads a line beside the sections, or reports a misspelt one. Returns true if there is one.
fn beside(
    name: &Ident,
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    (lifecycle, called): (&mut ast::Lifecycle, &Ident),
    block: &Block<'_>,
) -> bool {
    let is_followed = cursor.peek_ident().is_some();
    if name == "allow" && is_followed {
        parser.sink.extend(block.misfit(name, lifecycle, called));
        allows::line(cursor, parser, lifecycle);
        return true;
    }
    if name == "lock" && cursor.is_text() {
        parser.sink.extend(block.misfit(name, lifecycle, called));
        retired::lock(cursor, parser, lifecycle);
        return true;
    }
    let meant = unknown_name::nearest(&name.to_string(), ["allow"].into_iter());
    let Some(meant) = meant.filter(|_| is_followed) else {
        return false;
    };
    let message =
        format!("expected a section or `{meant}`, found `{name}`; did you mean `{meant}`?");
    let span = name.span();
    parser.report(Fault { span, message }, &meant, &HEAD);
    cursor.skip_past_semicolon();
    true
}

/// Returns the intended section: a misspelling is reported and read as the section that it
/// resembles.
fn section_named(
    name: &Ident,
    sections: &[&'static str],
    parser: &mut Parser<'_>,
) -> Option<&'static str> {
    let mut known = sections.iter().copied();
    if let Some(known) = known.find(|s| name == s) {
        return Some(known);
    }
    parser.sink.push(unknown_name::section(name, sections));
    let text = name.to_string();
    let near = unknown_name::nearest(&text, sections.iter().copied())?;
    sections.iter().copied().find(|s| *s == near)
}

fn section(
    name: &'static str,
    span: Span,
    body: Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut ast::Lifecycle,
) {
    match name {
        "observe" => observe::section(body, parser, lifecycle),
        "facts" => facts::section(body, parser, lifecycle),
        "states" => states::section(body, parser, lifecycle),
        "effects" => effects::section(body, parser, lifecycle),
        "promises" => promises::section(body, parser, lifecycle),
        "teardown" => teardown::section(span, body, parser, lifecycle),
        "retired" => retired::section(span, body, parser, lifecycle),
        "transitions" => transitions::section(span, body, parser, lifecycle),
        "properties" => properties::section(body, parser, lifecycle),
        "status" => status::section(body, parser, lifecycle),
        _ => {
            if lifecycle.kind == ast::Kind::Resource {
                parser.sink.push(syntax::rpc_in_resource(span));
            }
            rpc::section(span, body, parser, lifecycle);
        }
    }
}
