//! Finds the `lifecycle! { .. }` blocks in a whole file of Rust, for tools that work without rustc. Knows no grammar of Rust beyond brackets.

use std::ops::Range;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use crate::check::{declared_twice, syntax};
use crate::errors::{self, Diagnostic};

/// The bodies of the macros of a source file.
#[derive(Clone, Debug, Default)]
pub struct MacroBodies {
    /// Of every `lifecycle! { .. }`.
    pub lifecycles: Vec<TokenStream>,
    /// Of every `fragment! { .. }`.
    pub fragments: Vec<TokenStream>,
    /// Those of the lifecycles that are not the first of their module.
    pub crowded: Vec<Crowded>,
}

/// A lifecycle that shares its module with another one: the generated names of both would clash.
#[derive(Clone, Debug)]
pub struct Crowded {
    body: TokenStream,
    name: Ident,
    first: String,
}

impl Crowded {
    /// Its finding (LC003).
    pub fn finding(&self) -> Diagnostic {
        declared_twice::lifecycle(&self.name, &self.first)
    }
}

/// Parses a source file and returns its declarations, as [`find`] does.
///
/// # Errors
/// If brackets or quotes do not match, with the first place.
pub fn find_in(source: &str) -> Result<MacroBodies, Box<Diagnostic>> {
    let file: TokenStream = source
        .parse()
        .map_err(|error: proc_macro2::LexError| Box::new(syntax::unbalanced(error.span())))?;
    Ok(find(file))
}

/// The bodies of every `lifecycle! { .. }` and `path::lifecycle! { .. }`, and of every `fragment! { .. }` likewise, in source order and inside modules and functions too. Spans stay those of the file.
pub fn find(file: TokenStream) -> MacroBodies {
    let mut found = MacroBodies::default();
    // A stack of its own, for groups may nest as deep as a file is long.
    let mut open = vec![Open::new(file)];
    while let Some(Open { tokens, at, first }) = open.last_mut() {
        let (before, rest) = tokens.split_at(*at);
        *at += 1;
        match rest.first() {
            None => {
                open.pop();
            }
            Some(TokenTree::Group(group)) if follows("lifecycle", before) => {
                found.lifecycles.push(group.stream());
                let body = group.stream();
                match (&*first, named(&body)) {
                    (_, None) => {}
                    _ if is_conditional(before) => {}
                    (None, Some(name)) => *first = Some(name.to_string()),
                    (Some(first), Some(name)) => found.crowded.push(Crowded {
                        body,
                        name,
                        first: first.clone(),
                    }),
                }
            }
            Some(TokenTree::Group(group)) if follows("fragment", before) => {
                found.fragments.push(group.stream());
            }
            Some(TokenTree::Group(group)) => {
                let inner = Open::new(group.stream());
                open.push(inner);
            }
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {}
        }
    }
    found
}

/// The tokens between two brackets, as far as they are read.
struct Open {
    tokens: Vec<TokenTree>,
    at: usize,
    /// The first lifecycle between them.
    first: Option<String>,
}

impl Open {
    fn new(tokens: TokenStream) -> Self {
        Self {
            tokens: tokens.into_iter().collect(),
            at: 0,
            first: None,
        }
    }
}

/// Expands a declaration that is not the first lifecycle of its module, by its source file. The
/// result has the finding, and all items in a module of their own, so that names in use do not
/// collide. Returns `None` if it is the first, or if the source does not identify it among several
/// equal declarations.
pub fn expand_crowded(source: &str, declaration: &TokenStream) -> Option<TokenStream> {
    let is_alone = source.matches("lifecycle!").count() < 2;
    let has_shebang = source.starts_with("#!") && !source.starts_with("#![");
    if is_alone || has_shebang {
        return None;
    }
    let found = find_in(source).ok()?;
    // Tokens that a macro parsed itself have no places, so it is known by its words.
    let whole = token_texts(declaration);
    let same = |body: &TokenStream| token_texts(body) == whole;
    let mut equal = found.lifecycles.iter().filter(|body| same(body));
    if equal.nth(1).is_some() {
        return None;
    }
    let crowded = found.crowded.into_iter().find(|other| same(&other.body))?;
    let name = named(declaration)?;
    let aside = format_ident!("__{name}");
    let finding = Crowded { name, ..crowded }.finding();
    let error = errors::to_tokens(&[finding]);
    let items = crate::expand(declaration.clone());
    Some(quote! {
        #error
        #[allow(non_snake_case, reason = "named after the lifecycle")]
        mod #aside {
            #[allow(unused_imports, reason = "a lifecycle may need none of them")]
            use super::*;
            #items
        }
        #[allow(unused_imports, reason = "a lifecycle may need none of them")]
        pub use #aside::*;
    })
}

/// The name that a lifecycle gives itself.
fn named(body: &TokenStream) -> Option<Ident> {
    let mut tokens = body.clone().into_iter();
    tokens.find(
        |token| matches!(token, TokenTree::Ident(word) if word == "resource" || word == "volume"),
    )?;
    match tokens.next()? {
        TokenTree::Ident(name) => Some(name),
        TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    }
}

/// All tokens in their order, without places and blanks.
fn token_texts(tokens: &TokenStream) -> Vec<String> {
    let mut words = Vec::new();
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(tokens) = open.last_mut() {
        match tokens.next() {
            None => {
                words.push(String::new());
                open.pop();
            }
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(token) => words.push(token.to_string()),
        }
    }
    words
}

/// A section of a lifecycle of a file with its braces, by the byte at which its keyword begins.
pub fn section_at(file: TokenStream, keyword: usize) -> Option<Range<usize>> {
    let mut open: Vec<TokenStream> = vec![file];
    while let Some(tokens) = open.pop() {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match (token, tokens.peek()) {
                (TokenTree::Ident(word), Some(TokenTree::Group(body)))
                    if word.span().byte_range().start == keyword =>
                {
                    return Some(keyword..body.span().byte_range().end);
                }
                (TokenTree::Group(group), _) => open.push(group.stream()),
                (TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_), _) => {}
            }
        }
    }
    None
}

/// Returns true if the name of a macro and its `!` come directly before.
fn follows(name: &str, before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word), TokenTree::Punct(mark)] => {
            word == name && mark.as_char() == '!'
        }
        _ => false,
    }
}

/// True if the macro that ends here has a `#[cfg(..)]`: of several such, rustc sees one.
fn is_conditional(before: &[TokenTree]) -> bool {
    let is_path = |token: &&TokenTree| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(mark) => matches!(mark.as_char(), ':' | '!'),
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    };
    let mut attributes = before.iter().rev().skip_while(is_path);
    while let Some(TokenTree::Group(group)) = attributes.next() {
        let mut inner = group.stream().into_iter();
        match inner.next() {
            Some(TokenTree::Ident(word)) if word == "cfg" => return true,
            _ => {}
        }
        let mark = attributes.next();
        if !matches!(mark, Some(TokenTree::Punct(mark)) if mark.as_char() == '#') {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn blocks_are_found_wherever_they_stand() {
        let file = "
            use lifecycle_runtime::lifecycle;
            lifecycle! { resource A; }
            lifecycle_runtime::fragment! { fragment shared; }
            macro_rules! other { () => {} }
            mod inner { fn f() { lifecycle_runtime::lifecycle! { resource B; } } }
            other!(lifecycle { resource C; });
        ";
        let found = find(file.parse().unwrap());
        let texts = |all: &[super::TokenStream]| {
            let texts: Vec<String> = all.iter().map(ToString::to_string).collect();
            texts
        };
        assert_eq!(texts(&found.lifecycles), ["resource A ;", "resource B ;"]);
        assert_eq!(texts(&found.fragments), ["fragment shared ;"]);
        let line = found.lifecycles[1].clone().into_iter().next().unwrap();
        assert_eq!(line.span().start().line, 6);
    }

    #[test]
    fn a_module_has_one_lifecycle() {
        let file = "
            lifecycle! { resource A; }
            mod inner { lifecycle! { /** One. */ resource B; } /* .. */ crate::lifecycle! { volume C; } }
            #[cfg(x)] lifecycle! { resource D; }
            fn f() { lifecycle! { resource E; } }
            #[doc = \"twice\"] lifecycle! { resource F; }
        ";
        let found = find(file.parse().unwrap());
        let said = found
            .crowded
            .iter()
            .map(|one| (one.finding().item, one.first.clone()));
        let named = |name: &str, first: &str| (name.to_owned(), first.to_owned());
        assert_eq!(said.collect::<Vec<_>>(), [named("C", "B"), named("F", "A")]);
        let expanded = |body: &str| super::expand_crowded(file, &body.parse().unwrap());
        assert!(expanded("resource A;").is_none());
        let error = expanded("volume C;").unwrap().to_string();
        assert!(error.contains("LC003") && error.contains("`B`"), "{error}");
    }

    #[test]
    fn a_file_may_nest_as_deep_as_it_likes() {
        let deep = 50_000;
        let file = format!(
            "fn f() {{ {}lifecycle! {{ resource A; }}{} }}",
            "(".repeat(deep),
            ")".repeat(deep)
        );
        assert_eq!(find(file.parse().unwrap()).lifecycles.len(), 1);
    }
}
