//! Builds the documents of `docs/` as a site with mdbook. `book.toml` configures the build, and
//! `docs/SUMMARY.md` gives the order of the pages. Does not depend on the content of the pages.

mod check;
mod pages;

use std::path::Path;

use anyhow::{Result, ensure};
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;

/// Writes the site of a folder of documents, replaces the previous content of `site`, and returns
/// the number of pages.
///
/// # Errors
/// A page has no place in the summary, a link leads nowhere, or mdbook fails.
pub fn build(docs: &Path, site: &Path) -> Result<usize> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = Config::from_disk(here.join("book.toml"))?;
    let docs = docs.canonicalize()?;
    config.book.src.clone_from(&docs);
    config.build.build_dir = std::path::absolute(site)?;
    let mut book = MDBook::load_with_config(here, config)?;
    let names = pages::names(&book.book);
    book.with_preprocessor(pages::Pages::new(docs.clone(), names.clone()));
    book.build()?;
    let mut findings = check::without_place(&docs, &names)?;
    findings.extend(check::broken_links(site, &names)?);
    ensure!(
        findings.is_empty(),
        "the book is not whole:\n{}",
        findings.join("\n")
    );
    Ok(names.len())
}
