//! One source as its declarations, its imports and the paths that it names. Code that only tests
//! compile is left out.

use std::collections::BTreeSet;

use super::tokens::Token;

/// Content of one module, in a file of its own or inside another.
#[derive(Debug, Default)]
pub(super) struct ModuleItems {
    /// Items by name.
    pub(super) items: BTreeSet<String>,
    /// Modules that have files of their own, with the file that `#[path]` names.
    pub(super) children: Vec<(String, Option<String>)>,
    /// Modules inside the same file.
    pub(super) inside: Vec<(String, ModuleItems)>,
    /// Imports by `use`: the path and the name that it gets here.
    pub(super) uses: Vec<(Vec<String>, String)>,
    /// Paths whose whole content `use` imports.
    pub(super) globs: Vec<Vec<String>>,
    /// Every other path of more than one name.
    pub(super) paths: Vec<Vec<String>>,
}

/// Keywords that precede the name of an item.
const KINDS: [&str; 9] = [
    "const", "enum", "fn", "mut", "static", "struct", "trait", "type", "union",
];

/// Keywords of items that end with the braces of their body, or with `;` if they have none.
const WITH_BODY: [&str; 8] = [
    "enum",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "struct",
    "trait",
    "union",
];

/// Keywords of items that end with `;` and may hold braces before it.
const WITH_VALUE: [&str; 5] = ["const", "let", "static", "type", "use"];

/// Reads the tokens of a module.
pub(super) fn read(tokens: &[Token<'_>]) -> ModuleItems {
    let mut said = ModuleItems::default();
    read_items(tokens, &mut said);
    said.uses.sort();
    said.uses.dedup();
    said
}

fn read_items(tokens: &[Token<'_>], said: &mut ModuleItems) {
    let mut place = 0;
    let mut named_path = None;
    while let Some(token) = tokens.get(place) {
        let rest = &tokens[place..];
        match (token, rest) {
            (Token::Sign('#'), [_, Token::Group('[', attribute), ..]) => {
                if is_for_tests(attribute) {
                    named_path = None;
                    place += 2 + length(&rest[2..]);
                    continue;
                }
                if let [Token::Word("path"), Token::Sign('='), Token::Text(path)] = &attribute[..] {
                    named_path = Some((*path).to_owned());
                }
                place += 1;
            }
            (Token::Word("mod"), [_, Token::Word(name), Token::Group(_, inner), ..]) => {
                said.inside.push(((*name).to_owned(), read(inner)));
                place += 3;
            }
            (Token::Word("mod"), [_, Token::Word(name), ..]) => {
                said.children.push(((*name).to_owned(), named_path.take()));
                place += 2;
            }
            (Token::Word(kind), [_, Token::Word(name), ..])
                if KINDS.contains(kind) && !KINDS.contains(name) =>
            {
                said.items.insert((*name).to_owned());
                place += 1;
            }
            (Token::Word("macro_rules"), [_, _, Token::Word(name), ..]) => {
                said.items.insert((*name).to_owned());
                place += 3;
            }
            _ => place += read_names(tokens, place, said),
        }
    }
}

/// Reads the bodies: paths and uses in any position.
fn read_body(tokens: &[Token<'_>], said: &mut ModuleItems) {
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        let rest = &tokens[place..];
        match (token, rest) {
            (Token::Sign('#'), [_, Token::Group('[', attribute), ..])
                if is_for_tests(attribute) =>
            {
                place += 2 + length(&rest[2..]);
            }
            _ => place += read_names(tokens, place, said),
        }
    }
}

/// The paths that begin at a place, and how many tokens they take.
fn read_names(tokens: &[Token<'_>], place: usize, said: &mut ModuleItems) -> usize {
    match &tokens[place] {
        Token::Group(_, inner) => {
            read_body(inner, said);
            1
        }
        Token::Word("use") => {
            let end = tokens[place..]
                .iter()
                .position(|token| *token == Token::Sign(';'));
            let end = end.unwrap_or(tokens.len() - place);
            read_use(&tokens[place + 1..place + end], &[], said);
            end
        }
        Token::Word(_) => {
            let path = path(&tokens[place..]);
            let taken = path.len() * 2 - 1;
            // `<T as Trait>::Item` and `::krate::Item` begin nowhere in this package.
            let begins = place == 0 || tokens[place - 1] != Token::Path;
            if begins && path.len() > 1 {
                said.paths.push(path);
            }
            taken
        }
        Token::Text(_) | Token::Path | Token::Sign(_) => 1,
    }
}

/// The words that stand here with `::` between them.
fn path(tokens: &[Token<'_>]) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = tokens;
    while let [Token::Word(name), after @ ..] = rest {
        names.push((*name).to_owned());
        match after {
            [Token::Path, next @ ..] => rest = next,
            _ => break,
        }
    }
    names
}

/// A tree of `use`, below a path.
fn read_use(tokens: &[Token<'_>], below: &[String], said: &mut ModuleItems) {
    for branch in tokens.split(|token| *token == Token::Sign(',')) {
        let mut full = below.to_vec();
        let names = path(branch);
        full.extend(names.iter().cloned());
        let after = branch.get((names.len() * 2).saturating_sub(1)..);
        match after.unwrap_or_default() {
            // `use ::krate`: not of this package.
            [Token::Path, ..] if names.is_empty() => {}
            [Token::Word("as"), Token::Word(alias), ..] => bring(full, alias, said),
            [Token::Path, Token::Group(_, inner), ..] | [Token::Group(_, inner), ..] => {
                read_use(inner, &full, said);
            }
            [Token::Path, Token::Sign('*'), ..] | [Token::Sign('*'), ..] => said.globs.push(full),
            _ => {
                if names.last().is_some_and(|last| last == "self") {
                    full.pop();
                }
                if let Some(name) = full.last().cloned() {
                    bring(full, &name, said);
                }
            }
        }
    }
}

fn bring(mut path: Vec<String>, name: &str, said: &mut ModuleItems) {
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    said.uses.push((path, name.to_owned()));
}

/// `cfg(test)`, alone or with more that must hold as well.
fn is_for_tests(attribute: &[Token<'_>]) -> bool {
    match attribute {
        [Token::Word("cfg"), Token::Group(_, condition)] => match &condition[..] {
            [Token::Word("test")] => true,
            [Token::Word("all"), Token::Group(_, all)] => all.contains(&Token::Word("test")),
            _ => false,
        },
        _ => false,
    }
}

/// How many tokens the item, field, arm or statement takes that begins here.
fn length(tokens: &[Token<'_>]) -> usize {
    let mut place = 0;
    while let [Token::Sign('#'), Token::Group('[', _), ..] = &tokens[place..] {
        place += 2;
    }
    let rest = &tokens[place..];
    let kind = kind(rest);
    let has_body = WITH_BODY.contains(&kind);
    let has_value = WITH_VALUE.contains(&kind);
    let ends = |token: &Token<'_>| match token {
        Token::Sign(';') => true,
        Token::Sign(',') => !has_body && !has_value,
        Token::Group('{', _) => !has_value,
        Token::Word(_) | Token::Text(_) | Token::Path | Token::Sign(_) | Token::Group(..) => false,
    };
    place + rest.iter().position(ends).map_or(rest.len(), |end| end + 1)
}

/// Returns the first word of an item that names its kind. `const fn` is a function.
fn kind<'a>(tokens: &[Token<'a>]) -> &'a str {
    let mut words = tokens.iter().filter_map(|token| match token {
        Token::Word(word) => Some(*word),
        Token::Text(_) | Token::Path | Token::Sign(_) | Token::Group(..) => None,
    });
    let mut kind = words.find(|word| !["async", "extern", "pub", "unsafe"].contains(word));
    if kind == Some("const") {
        kind = words.next().filter(|next| *next == "fn").or(kind);
    }
    kind.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circles::tokens;

    fn parse_module(text: &str) -> ModuleItems {
        read(&tokens::read(text))
    }

    fn joined(paths: &[Vec<String>]) -> Vec<String> {
        paths.iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn items_and_modules_are_declared() {
        let said = parse_module(
            "pub(crate) struct A<T>(T); pub const fn b() {} static mut C: u8 = 0;
             macro_rules! d { () => {} } mod e; #[path = \"odd.rs\"] pub mod f; mod g { enum H {} }",
        );
        let items: Vec<&str> = said.items.iter().map(String::as_str).collect();
        assert_eq!(items, ["A", "C", "b", "d"]);
        let odd = Some("odd.rs".to_owned());
        assert_eq!(
            said.children,
            [("e".to_owned(), None), ("f".to_owned(), odd)]
        );
        assert_eq!(said.inside[0].0, "g");
        assert!(said.inside[0].1.items.contains("H"));
    }

    #[test]
    fn a_tree_of_use_brings_each_leaf() {
        let said =
            parse_module("use a::{self, b::C as D, e::{F, g::*}}; use super::h; use ::i::J;");
        let uses: Vec<String> = said
            .uses
            .iter()
            .map(|(path, name)| format!("{} as {name}", path.join("::")))
            .collect();
        assert_eq!(
            uses,
            ["a as a", "a::b::C as D", "a::e::F as F", "super::h as h"]
        );
        assert_eq!(joined(&said.globs), ["a::e::g"]);
    }

    #[test]
    fn paths_are_named_wherever_they_stand() {
        let text = "fn a(b: &super::B) -> c::C<d::D> { use e::F; <G as h::H>::i(::j::k()); l!(m::N, \"o::p\") }";
        let said = parse_module(text);
        let expected = ["super::B", "c::C", "d::D", "h::H", "m::N"];
        assert_eq!(joined(&said.paths), expected);
        assert_eq!(said.uses[0].1, "F");
    }

    #[test]
    fn what_only_tests_compile_is_left_out() {
        let text = "
            #[cfg(test)] mod tests;
            #[cfg(test)] #[path = \"x.rs\"] mod more { use a::A; }
            #[cfg(all(test, unix))] use b::{B, C};
            #[cfg(test)] pub(crate) fn d<E, F>() -> e::E where E: f::F { g::h() }
            struct I { #[cfg(test)] j: j::J, k: k::K }
            impl I { #[cfg(test)] const L: [u8; 2] = l::L; #[cfg(test)] pub const fn l() { l::l() } fn m() { #[cfg(test)] n::o(); p::q() } }
            #[cfg(unix)] mod r;
        ";
        let said = parse_module(text);
        assert_eq!(said.children, [("r".to_owned(), None)]);
        assert!(said.inside.is_empty() && said.uses.is_empty(), "{said:?}");
        assert_eq!(joined(&said.paths), ["k::K", "p::q"]);
    }
}
