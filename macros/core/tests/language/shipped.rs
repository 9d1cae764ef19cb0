//! The lifecycles of the documentation, in `tests/lifecycles/`.

use std::path::{Path, PathBuf};

use lifecycle_macros_core::{check, find, model::Lifecycle};
use proc_macro2::TokenStream;

/// A folder with data of the tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// The names of all, in order.
pub(crate) fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder("lifecycles")).expect("the lifecycles are there");
    let is_one = |file: &PathBuf| file.extension().is_some_and(|end| end == "txt");
    let name = |file: PathBuf| file.file_stem().map(|stem| stem.to_string_lossy().into());
    let paths = files.map(|file| file.expect("a readable entry").path());
    let mut names: Vec<String> = paths.filter(is_one).filter_map(name).collect();
    names.sort();
    assert!(names.len() >= 8, "all lifecycles are there: {names:?}");
    names
}

/// One as it is written.
pub(crate) fn text(name: &str) -> String {
    let file = folder("lifecycles").join(format!("{name}.txt"));
    std::fs::read_to_string(file).expect("the lifecycle can be read")
}

/// Returns the tokens between the braces of the only `lifecycle! { .. }` in a text.
pub(crate) fn body_of(text: &str) -> TokenStream {
    let tokens: TokenStream = text.parse().expect("a lifecycle consists of Rust tokens");
    let mut bodies = find(tokens).lifecycles;
    assert_eq!(bodies.len(), 1, "one lifecycle");
    bodies.remove(0)
}

/// The same of one of them.
pub(crate) fn body(name: &str) -> TokenStream {
    body_of(&text(name))
}

/// Returns the checker's model of one of them.
pub(crate) fn model(name: &str) -> Lifecycle {
    check(body(name)).model.expect("it resolves")
}
