//! Generated tables of the documentation: compared with their expected content, and rewritten on
//! demand. Knows no table.

use std::path::Path;

/// Compares the content between the marks of this name in a page of `docs/`; `BLESS=1` writes it.
///
/// # Panics
/// If the content differs and no rewrite is requested.
pub(crate) fn between(page: &str, name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let text = std::fs::read_to_string(&path).expect("the page can be read");
    let begin = format!("<!-- {name}, made by the tests -->\n");
    let end = format!("<!-- end of {name} -->");
    let from = text.find(&begin).expect("the table begins") + begin.len();
    let to = text.find(&end).expect("the table ends");
    let wanted = format!("{}{wanted}{}", &text[..from], &text[to..]);
    if wanted == text {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, wanted).expect("the page can be written");
    }
    panic!("the table of docs/{page} is not up to date: run this test once with BLESS=1");
}
