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
use crate::check::{declared_twice, misfit_fragment, syntax, unknown_name};
use crate::errors::Sink;
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
    sections(&mut cursor, &mut parser, &mut lifecycle, None);
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
    sections(&mut cursor, &mut parser, &mut part, Some(&mut needs));
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
        taint: ast::Taint::default(),
    }
}

/// Of a fragment with its `needs`, of a lifecycle without.
fn sections(
    cursor: &mut Cursor,
    parser: &mut Parser<'_>,
    lifecycle: &mut ast::Lifecycle,
    mut needs: Option<&mut Vec<ast::Need>>,
) {
    let mut seen = BTreeMap::new();
    while !cursor.is_empty() {
        if cursor.eat_word("use").is_some() {
            fragments::line(cursor, parser, lifecycle, needs.is_some());
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
        if name == "allow" && cursor.peek_ident().is_some() {
            if needs.is_some() {
                let found = misfit_fragment::section(&name, &lifecycle.name);
                parser.sink.push(found);
            }
            allows::line(cursor, parser, lifecycle);
            continue;
        }
        if name == "lock" && cursor.is_text() {
            if needs.is_some() {
                let found = misfit_fragment::section(&name, &lifecycle.name);
                parser.sink.push(found);
            }
            retired::lock(cursor, parser, lifecycle);
            continue;
        }
        if cursor.peek_ident().is_some()
            && unknown_name::nearest(&name.to_string(), ["allow"].into_iter()).is_some()
        {
            let message =
                format!("expected a section or `allow`, found `{name}`; did you mean `allow`?");
            parser.report(
                Fault {
                    span: name.span(),
                    message,
                },
                "allow",
                &HEAD,
            );
            cursor.skip_past_semicolon();
            continue;
        }
        let Some(body) = cursor.group(Delimiter::Brace) else {
            parser.report(cursor.fault("`{`"), &name.to_string(), &HEAD);
            parser.taint.everything = true;
            cursor.skip_to_section();
            continue;
        };
        let sections = match needs {
            Some(_) => &fragments::SECTIONS[..],
            None => &SECTIONS[..],
        };
        if needs.is_some() && fragments::is_of_lifecycles(&name) {
            let found = misfit_fragment::section(&name, &lifecycle.name);
            parser.sink.push(found);
            continue;
        }
        let Some(known) = section_named(&name, sections, parser) else {
            parser.taint.everything = true;
            continue;
        };
        if let Some(first) = seen.insert(known, name.span()) {
            parser.sink.push(declared_twice::section(&name, first));
        }
        match needs.as_deref_mut().filter(|_| known == "needs") {
            Some(needs) => fragments::needs(body, parser, needs),
            None => section(known, name.span(), body, parser, lifecycle),
        }
    }
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
