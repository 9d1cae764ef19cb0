//! Finds the `lifecycle! { .. }` blocks in a whole file of Rust, for tools that work without rustc. Knows no grammar of Rust beyond brackets.

use proc_macro2::{TokenStream, TokenTree};

/// The bodies of every `lifecycle! { .. }` and `path::lifecycle! { .. }`, in source order and inside modules and functions too. Spans stay those of the file.
pub fn find(file: TokenStream) -> Vec<TokenStream> {
    let mut found = Vec::new();
    walk(file, &mut found);
    found
}

fn walk(stream: TokenStream, found: &mut Vec<TokenStream>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        if is_lifecycle(&tokens[..at]) {
            found.push(group.stream());
        } else {
            walk(group.stream(), found);
        }
    }
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
}
