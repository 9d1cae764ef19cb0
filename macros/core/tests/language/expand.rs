//! Tests of generated code: three pinned lifecycles with their expansions. Also tests for the words
//! that no expansion of a lifecycle of the documentation contains. `BLESS=1 cargo test --workspace
//! --test language expand` rewrites the pinned files; review the difference like code.

use std::collections::BTreeSet;
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::shipped::{body, body_of, folder, names};

/// Set in the second process of the comparison; names the lifecycle that it prints.
const PRINT: &str = "LIFECYCLE_EXPAND_PRINT";

/// A resource with one of everything that those of the documentation declare, a small volume, and a large one.
const PINNED: [(&str, &str); 3] = [
    ("expand", "specimen"),
    ("lifecycles", "provision"),
    ("lifecycles", "volume"),
];

/// Returns the declaration of a pinned lifecycle.
fn pinned((place, name): (&str, &str)) -> TokenStream {
    let text = std::fs::read_to_string(folder(place).join(format!("{name}.txt")));
    body_of(&text.expect("the lifecycle can be read"))
}

fn expansion(body: TokenStream) -> String {
    format_tokens(lifecycle_macros_core::expand(body))
}

fn format_tokens(tokens: TokenStream) -> String {
    let file = syn::parse2::<syn::File>(tokens).expect("an expansion is made of items");
    prettyplease::unparse(&file)
}

#[test]
fn expansions_are_as_pinned() {
    for case in PINNED {
        let (_, name) = case;
        let header = format!("//! Expansion of `{name}.txt`; written by the test `expand`.\n\n");
        is_pinned(name, &(header + &expansion(pinned(case))));
    }
}

/// Compares the expansions of several macros with one pinned file of this name.
pub(crate) fn in_files(name: &str, all: &[TokenStream]) {
    let header =
        "//! Expansion of the example of `docs/fragments.md`; written by the test `expand`.\n";
    let all = all
        .iter()
        .map(|tokens| format!("\n{}", format_tokens(tokens.clone())));
    is_pinned(name, &(header.to_owned() + &all.collect::<String>()));
}

fn is_pinned(name: &str, now: &str) {
    let pinned_file = folder("expand").join(format!("{name}.expanded.rs"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&pinned_file, now).expect("the pinned expansion is writable");
    }
    let then = std::fs::read_to_string(&pinned_file).unwrap_or_default();
    assert!(
        now == then,
        "{} differs from its expansion; bless it and review the difference",
        pinned_file.display()
    );
}

/// Tests that pinned expansions contain every word of ours. A word that only an unpinned lifecycle
/// generates could change unnoticed.
#[test]
fn pinned_expansions_show_every_kind_of_generated_thing() {
    let specimen = lifecycle_macros_core::check(pinned(PINNED[0]));
    assert!(specimen.is_accepted(), "{:?}", specimen.diagnostics);
    let shown: BTreeSet<String> = PINNED
        .into_iter()
        .flat_map(|case| expansion_words(pinned(case)))
        .collect();
    for name in names() {
        let other = expansion_words(body(&name));
        let missing: Vec<&String> = other.difference(&shown).collect();
        assert!(
            missing.is_empty(),
            "no pinned expansion has {missing:?} of {name}; declare in `expand/specimen.txt` what brings it about"
        );
    }
    assert!(
        shown.contains("lifecycle_runtime::__private::recalled")
            && shown.contains("observation.identity")
            && shown.contains("Machine::created"),
        "the search finds nothing: {shown:?}"
    );
}

/// First words of our paths in generated code.
const ROOTS: [&str; 3] = ["lifecycle_runtime", "ir", "std"];

/// Returns every word of an expansion that the user did not write: paths into the runtime, queries
/// of an observation, methods of the machine.
fn expansion_words(body: TokenStream) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    collect(lifecycle_macros_core::expand(body), &mut words);
    words
}

fn collect(tokens: TokenStream, words: &mut BTreeSet<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (n, tree) in trees.iter().enumerate() {
        let is = |at: usize, word: &str| trees.get(n + at).is_some_and(|t| t.to_string() == word);
        match tree {
            TokenTree::Group(group) => collect(group.stream(), words),
            TokenTree::Ident(ident) if ROOTS.iter().any(|root| ident == root) => {
                words.insert(path(&trees[n..]));
            }
            TokenTree::Ident(ident) if ident == "observation" && is(1, ".") => {
                words.insert(format!("observation.{}", trees[n + 2]));
            }
            TokenTree::Ident(ident) if ident == "Machine" && is(1, "for") => {
                words.extend(methods(&trees[n..]));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns a path from its first name. A variant of an enumeration of the interface is returned as
/// the enumeration.
fn path(trees: &[TokenTree]) -> String {
    let mut parts = vec![trees[0].to_string()];
    let mut rest = &trees[1..];
    while let [
        TokenTree::Punct(one),
        TokenTree::Punct(two),
        TokenTree::Ident(part),
        ..,
    ] = rest
        && (one.as_char(), two.as_char()) == (':', ':')
    {
        parts.push(part.to_string());
        rest = &rest[3..];
    }
    if let ["ir", "Code" | "Rpc", _] = *parts.iter().map(String::as_str).collect::<Vec<_>>() {
        parts.pop();
    }
    parts.join("::")
}

/// The methods in the next block.
fn methods(trees: &[TokenTree]) -> Vec<String> {
    let block = trees.iter().find_map(|tree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
            None
        }
    });
    let trees: Vec<TokenTree> = block.into_iter().flatten().collect();
    let names = trees.windows(2).filter(|two| two[0].to_string() == "fn");
    names.map(|two| format!("Machine::{}", two[1])).collect()
}

#[test]
fn expanding_twice_in_two_processes_gives_the_same_bytes() {
    if let Some(case) = std::env::var_os(PRINT) {
        let name = case.into_string().expect("a name");
        let tokens = lifecycle_macros_core::expand(body(&name));
        eprintln!("<<<{tokens}>>>");
        return;
    }
    for name in names() {
        let (first, second) = (printed(&name), printed(&name));
        assert!(
            first.len() > 10_000,
            "an expansion of {} bytes says nothing",
            first.len()
        );
        assert_eq!(first, second, "{name}");
    }
}

/// The expansion as another process prints it.
fn printed(name: &str) -> String {
    let (_, module) = module_path!()
        .split_once("::")
        .expect("a module of the crate");
    let test = format!("{module}::expanding_twice_in_two_processes_gives_the_same_bytes");
    let me = std::env::current_exe().expect("a test knows its own file");
    let out = Command::new(me)
        .args(["--exact", &test, "--nocapture"])
        .env(PRINT, name)
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
    let shipped = names().into_iter().map(|name| body(&name));
    for body in shipped.chain([pinned(PINNED[0])]) {
        let text = body.to_string();
        let offences = offences(lifecycle_macros_core::expand(body));
        assert!(
            offences.is_empty(),
            "{offences:?} in the expansion of {text}"
        );
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
