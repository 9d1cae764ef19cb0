//! Finds the `lifecycle! { .. }` blocks in a whole file of Rust, for tools that work without rustc. Knows no grammar of Rust beyond brackets.

use proc_macro2::{TokenStream, TokenTree};

use crate::check::syntax;
use crate::errors::Diagnostic;

/// The bodies of all lifecycles of a source file, as [`find`] gives them.
///
/// # Errors
/// If brackets or quotes do not match, with the first place.
pub fn find_in(source: &str) -> Result<Vec<TokenStream>, Box<Diagnostic>> {
    let file: TokenStream = source
        .parse()
        .map_err(|error: proc_macro2::LexError| Box::new(syntax::unbalanced(error.span())))?;
    Ok(find(file))
}

/// The bodies of every `lifecycle! { .. }` and `path::lifecycle! { .. }`, in source order and inside modules and functions too. Spans stay those of the file.
pub fn find(file: TokenStream) -> Vec<TokenStream> {
    let mut found = Vec::new();
    // A stack of its own, for groups may nest as deep as a file is long.
    let mut open: Vec<(Vec<TokenTree>, usize)> = vec![(file.into_iter().collect(), 0)];
    while let Some((tokens, at)) = open.last_mut() {
        let (before, rest) = tokens.split_at(*at);
        *at += 1;
        match rest.first() {
            None => {
                open.pop();
            }
            Some(TokenTree::Group(group)) if is_lifecycle(before) => found.push(group.stream()),
            Some(TokenTree::Group(group)) => {
                let inner = group.stream().into_iter().collect();
                open.push((inner, 0));
            }
            Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) => {}
        }
    }
    found
}

/// Whether `lifecycle !` stands right before.
fn is_lifecycle(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(name), TokenTree::Punct(mark)] => {
            name == "lifecycle" && mark.as_char() == '!'
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
            macro_rules! other { () => {} }
            mod inner { fn f() { lifecycle_runtime::lifecycle! { resource B; } } }
            other!(lifecycle { resource C; });
        ";
        let found = find(file.parse().unwrap());
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["resource A ;", "resource B ;"]);
        let line = found[1].clone().into_iter().next().unwrap();
        assert_eq!(line.span().start().line, 5);
    }

    #[test]
    fn a_file_may_nest_as_deep_as_it_likes() {
        let deep = 50_000;
        let file = format!(
            "fn f() {{ {}lifecycle! {{ resource A; }}{} }}",
            "(".repeat(deep),
            ")".repeat(deep)
        );
        assert_eq!(find(file.parse().unwrap()).len(), 1);
    }
}
