//! Finds the `lifecycle! { .. }` blocks in a whole file of Rust, for tools that work without rustc. Knows no grammar of Rust beyond brackets.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use crate::check::syntax;
use crate::errors::Diagnostic;

/// The bodies of the macros of a source file.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Of every `lifecycle! { .. }`.
    pub lifecycles: Vec<TokenStream>,
    /// Of every `fragment! { .. }`.
    pub fragments: Vec<TokenStream>,
}

/// What a source file declares, as [`find`] gives it.
///
/// # Errors
/// If brackets or quotes do not match, with the first place.
pub fn find_in(source: &str) -> Result<Found, Box<Diagnostic>> {
    let file: TokenStream = source
        .parse()
        .map_err(|error: proc_macro2::LexError| Box::new(syntax::unbalanced(error.span())))?;
    Ok(find(file))
}

/// The bodies of every `lifecycle! { .. }` and `path::lifecycle! { .. }`, and of every `fragment! { .. }` likewise, in source order and inside modules and functions too. Spans stay those of the file.
pub fn find(file: TokenStream) -> Found {
    let mut found = Found::default();
    // A stack of its own, for groups may nest as deep as a file is long.
    let mut open: Vec<(Vec<TokenTree>, usize)> = vec![(file.into_iter().collect(), 0)];
    while let Some((tokens, at)) = open.last_mut() {
        let (before, rest) = tokens.split_at(*at);
        *at += 1;
        match rest.first() {
            None => {
                open.pop();
            }
            Some(TokenTree::Group(group)) if follows("lifecycle", before) => {
                found.lifecycles.push(group.stream());
            }
            Some(TokenTree::Group(group)) if follows("fragment", before) => {
                found.fragments.push(group.stream());
            }
            Some(TokenTree::Group(group)) => {
                let inner = group.stream().into_iter().collect();
                open.push((inner, 0));
            }
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {}
        }
    }
    found
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

/// Whether the name of a macro and its `!` stand right before.
fn follows(name: &str, before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word), TokenTree::Punct(mark)] => {
            word == name && mark.as_char() == '!'
        }
        _ => false,
    }
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
