//! The reference lifecycles parse, build and are accepted.

use std::path::Path;

use lifecycle_macros_core::{check, errors::Diagnostic};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The body of the one `lifecycle! { .. }` of a file.
fn body(text: &str) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("the sketch consists of Rust tokens");
    let braces = tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            None
        }
    });
    braces.expect("the sketch has a body in braces")
}

fn shown(found: &[Diagnostic]) -> String {
    let lines = found.iter().map(|d| {
        let at = d.span.start();
        format!("{}:{} {} {}", at.line, at.column, d.code, d.message)
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn accepted(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/lifecycles/{name}.txt"));
    let text = std::fs::read_to_string(path).expect("the sketch can be read");
    let checked = check(body(&text));
    assert!(checked.is_accepted(), "{}", shown(&checked.diagnostics));
    assert_eq!(shown(&checked.diagnostics), "");
}

macro_rules! sketches {
    ($($name:ident = $file:literal),* $(,)?) => { $(
        #[test]
        fn $name() {
            accepted($file);
        }
    )* };
}
sketches! {
    bucket_is_accepted = "bucket",
    listener_is_accepted = "listener",
    provision_is_accepted = "provision",
    rollout_is_accepted = "rollout",
    scratch_is_accepted = "scratch",
    skupper_is_accepted = "skupper",
    skupper_listener_is_accepted = "skupper-listener",
    volume_is_accepted = "volume",
}
