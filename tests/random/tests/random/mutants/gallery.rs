//! The declarations that `docs/gallery.md` numbers, as they are written.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The declaration of this name: a text of its own, or in the Rust file of its logic.
pub(crate) fn text_of(name: &str) -> String {
    let file = name.replace('-', "_");
    let places = [
        format!("macros/core/tests/lifecycles/{name}.txt"),
        format!("tests/src/lifecycles/{file}.rs"),
    ];
    let texts = places.iter().map(|place| root().join(place));
    let mut texts = texts.filter_map(|path| std::fs::read_to_string(path).ok());
    texts
        .next()
        .unwrap_or_else(|| panic!("there is no declaration of `{name}`"))
}

/// Returns the names of the numbered gallery entries that run on watches, in their order.
pub(crate) fn numbered() -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/gallery.md"));
    let page = page.expect("the gallery can be read");
    let cells = page
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let is_numbered = |cells: &Vec<&str>| {
        let is_resource = cells.len() > 7 && cells[7] != "–";
        is_resource && cells[1].parse::<usize>().is_ok()
    };
    let numbered = cells.filter(is_numbered);
    numbered
        .map(|cells| cells[3].trim_matches('`').to_owned())
        .collect()
}
