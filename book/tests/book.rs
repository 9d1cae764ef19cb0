//! The book is whole: every page of `docs/` has one place in `docs/SUMMARY.md`, every link and anchor leads somewhere, and a site is made of it.

use std::path::Path;

use lifecycle_book::{Book, Error, site};

fn book() -> Book {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let docs = root.expect("a folder of the repository").join("docs");
    Book::read(&docs).expect("the pages can be read")
}

#[test]
fn every_page_has_its_place_and_every_link_leads_somewhere() {
    let book = book();
    assert!(
        book.pages.len() > 20,
        "only {} pages were found",
        book.pages.len()
    );
    let findings = book.findings();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn a_site_is_made_with_a_file_for_each_page() {
    let book = book();
    let folder = tempfile::tempdir().expect("a folder");
    site::build(&book, folder.path()).expect("the site is made");
    for entry in &book.entries {
        let file = folder.path().join(entry.path.replace(".md", ".html"));
        let html = std::fs::read_to_string(&file).expect("the page is there");
        assert!(html.contains("<h1"), "{} has no title", entry.path);
        assert_eq!(
            html.matches("aria-current").count(),
            1,
            "{}: the list marks it",
            entry.path
        );
    }
    assert!(folder.path().join("index.html").exists());
    links_of_the_site_lead_to_files(folder.path(), &book);
}

/// What the pages link to was rewritten: here it is held against the files that there are.
fn links_of_the_site_lead_to_files(folder: &Path, book: &Book) {
    let mut count = 0;
    for entry in &book.entries {
        let file = folder.join(entry.path.replace(".md", ".html"));
        let html = std::fs::read_to_string(&file).expect("the page is there");
        let here = file.parent().expect("it is in a folder");
        for rest in html.split("href=\"").skip(1) {
            let to = rest.split(['"', '#']).next().expect("it ends");
            if to.is_empty() || to.contains(':') {
                continue;
            }
            assert!(here.join(to).exists(), "{}: {to}", entry.path);
            count += 1;
        }
    }
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn no_site_is_made_of_a_book_with_a_link_to_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let texts = [
        ("SUMMARY.md", "- [A](a.md)\n"),
        ("a.md", "# A\n[x](gone.md)"),
    ];
    let texts = texts.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let made = site::build(&Book::of(texts.into()), folder.path());
    let Err(Error::Wrong(findings)) = made else {
        panic!("{made:?}");
    };
    assert_eq!(findings, ["a.md: `gone.md` leads to no page"]);
    assert!(!folder.path().join("a.html").exists());
}
