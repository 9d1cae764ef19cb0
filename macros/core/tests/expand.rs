//! What generated code looks like: each lifecycle of the documentation with its expansion, pinned; and what generated code never contains.
//! `BLESS=1 cargo test -p lifecycle-macros-core --test expand` rewrites the pinned files; review the difference like code.

use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Set in the second process of the comparison; names the lifecycle that it prints.
const PRINT: &str = "LIFECYCLE_EXPAND_PRINT";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// The lifecycles of the documentation, in order of their names.
fn cases() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder("lifecycles")).expect("the lifecycles are there");
    let mut files: Vec<_> = files.map(|f| f.expect("a readable entry").path()).collect();
    files.sort();
    assert!(files.len() >= 8, "all lifecycles are there: {files:?}");
    files
}

fn declaration(file: &Path) -> TokenStream {
    let text = std::fs::read_to_string(file).expect("a readable lifecycle");
    let tokens: TokenStream = text.parse().expect("a lifecycle is made of Rust tokens");
    let mut found = lifecycle_macros_core::find(tokens);
    assert_eq!(found.len(), 1, "one lifecycle in {}", file.display());
    found.remove(0)
}

fn expansion(file: &Path) -> String {
    let tokens = lifecycle_macros_core::expand(declaration(file));
    let file = syn::parse2::<syn::File>(tokens).expect("an expansion is made of items");
    prettyplease::unparse(&file)
}

#[test]
fn expansions_are_as_pinned() {
    for case in cases() {
        let stem = case
            .file_stem()
            .expect("a file name")
            .to_string_lossy()
            .into_owned();
        let pinned = folder("expand").join(format!("{stem}.expanded.rs"));
        let header = format!("//! What `{stem}.txt` expands to; written by the test `expand`.\n\n");
        let now = header + &expansion(&case);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&pinned, &now).expect("the pinned expansion is writable");
        }
        let then = std::fs::read_to_string(&pinned).unwrap_or_default();
        assert!(
            now == then,
            "{} differs from its expansion; bless it and review the difference",
            pinned.display()
        );
    }
}

#[test]
fn expanding_twice_in_two_processes_gives_the_same_bytes() {
    if let Some(case) = std::env::var_os(PRINT) {
        let tokens = lifecycle_macros_core::expand(declaration(Path::new(&case)));
        eprintln!("<<<{tokens}>>>");
        return;
    }
    for case in cases() {
        let (first, second) = (printed(&case), printed(&case));
        assert!(
            first.len() > 10_000,
            "an expansion of {} bytes says nothing",
            first.len()
        );
        assert_eq!(first, second, "{}", case.display());
    }
}

/// The expansion as another process prints it.
fn printed(case: &Path) -> String {
    let test = "expanding_twice_in_two_processes_gives_the_same_bytes";
    let me = std::env::current_exe().expect("a test knows its own file");
    let out = Command::new(me)
        .args(["--exact", test, "--nocapture"])
        .env(PRINT, case)
        .output();
    let out = out.expect("a second process starts");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8(out.stderr).expect("tokens are text");
    let expansion = text
        .split_once("<<<")
        .and_then(|(_, rest)| rest.rsplit_once(">>>"));
    expansion
        .expect("an expansion between its marks")
        .0
        .to_owned()
}

/// Words that generated code never contains: control flow in time, loops, formatting, surprises.
const FORBIDDEN: [&str; 10] = [
    "loop", "while", "await", "async", "unsafe", "format", "println", "panic", "unwrap", "HashMap",
];

#[test]
fn generated_code_is_types_tables_and_traits() {
    for case in cases() {
        let offences = offences(lifecycle_macros_core::expand(declaration(&case)));
        assert!(offences.is_empty(), "{}: {offences:?}", case.display());
    }
}

#[test]
fn the_visitor_of_generated_code_sees_what_it_forbids() {
    let found = |text: &str| offences(text.parse().expect("tokens"));
    assert_eq!(found("fn f() { loop { x.await } }"), ["loop", "await"]);
    assert_eq!(found("for x in y {}"), ["for .. in"]);
    assert_eq!(
        found("::lifecycle_runtime::controller::run()"),
        ["::lifecycle_runtime::controller"]
    );
    assert_eq!(
        found("impl A for B { fn f() { ::lifecycle_runtime::__private::x() } }"),
        [""; 0]
    );
}

fn offences(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    visit(tokens, &mut found);
    found
}

fn visit(tokens: TokenStream, found: &mut Vec<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (n, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => visit(group.stream(), found),
            TokenTree::Ident(ident) => found.extend(offence(&ident.to_string(), &trees[n..])),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn offence(word: &str, rest: &[TokenTree]) -> Option<String> {
    // A path is `lifecycle_runtime`, two colons, the next part.
    let next = || rest.get(3).map(ToString::to_string).unwrap_or_default();
    match word {
        word if FORBIDDEN.contains(&word) => Some(word.to_owned()),
        "for" if is_loop(rest) => Some("for .. in".to_owned()),
        "lifecycle_runtime" if next() != "__private" => {
            Some(format!("::lifecycle_runtime::{}", next()))
        }
        _ => None,
    }
}

/// `for` of a loop has its `in` before the next block; `impl A for B` has not.
fn is_loop(trees: &[TokenTree]) -> bool {
    let block =
        |t: &TokenTree| matches!(t, TokenTree::Group(g) if g.delimiter() == Delimiter::Brace);
    let before_block = trees.iter().take_while(|t| !block(t));
    before_block
        .into_iter()
        .any(|t| matches!(t, TokenTree::Ident(i) if i == "in"))
}
