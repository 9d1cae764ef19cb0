//! A site of the book: a page of HTML for each, with the list of all beside it. Needs no script and nothing of another server.
//! Searching is left to the browser, and to the page of all checks.

use std::path::Path;

use crate::links::{self, Target};
use crate::page::{Becomes, Heading, Resolve, escaped};
use crate::summary::Entry;
use crate::{Book, Error};

const STYLE: &str = include_str!("style.css");

/// The name of the whole.
const TITLE: &str = "lifecycle! for Kubernetes";

/// Writes the site into a folder. What else is there stays.
///
/// # Errors
/// A page has no place or a link leads nowhere; or a file cannot be written.
pub fn build(book: &Book, folder: &Path) -> Result<(), Error> {
    let findings = book.findings();
    if !findings.is_empty() {
        return Err(Error::Wrong(findings));
    }
    write(&folder.join("style.css"), STYLE)?;
    for (at, entry) in book.entries.iter().enumerate() {
        write(&folder.join(file_of(&entry.path)), &whole(book, at))?;
    }
    match book.entries.first() {
        Some(first) if first.path != "index.md" => {
            let to = escaped(&file_of(&first.path));
            let text = format!(
                "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={to}\"><a href=\"{to}\">{TITLE}</a>\n"
            );
            write(&folder.join("index.html"), &text)
        }
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

/// `rules/LC021.md` is `rules/LC021.html`.
fn file_of(path: &str) -> String {
    format!("{}.html", path.trim_end_matches(".md"))
}

fn whole(book: &Book, at: usize) -> String {
    let entry = &book.entries[at];
    let page = &book.pages[&entry.path];
    let root = "../".repeat(entry.path.matches('/').count());
    let on = On {
        book,
        path: &entry.path,
        root: &root,
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} - {TITLE}</title>\n\
         <link rel=\"stylesheet\" href=\"{root}style.css\">\n</head>\n<body>\n<nav class=\"pages\">\n<details open><summary>{TITLE}</summary>\n{}</details>\n</nav>\n\
         <main>\n{}{}{}</main>\n</body>\n</html>\n",
        plain(&entry.title),
        list(book, at, &root),
        sections(page.headings()),
        page.html(&on),
        beside(book, at, &root),
    )
}

/// A title without the marks of code.
fn plain(title: &str) -> String {
    escaped(&title.replace('`', ""))
}

/// All pages, the one that is shown marked. Those below a page are folded unless one of them or it is shown.
fn list(book: &Book, shown: usize, root: &str) -> String {
    let mut html = String::new();
    let mut part = "";
    let mut at = 0;
    while at < book.entries.len() {
        let entry = &book.entries[at];
        if entry.part != part {
            part = &entry.part;
            html += &format!("<h2>{}</h2>\n", escaped(part));
        }
        let below = book.entries[at + 1..].iter();
        let end = at + 1 + below.take_while(|below| below.depth > entry.depth).count();
        html += &link(entry, at == shown, root);
        if end > at + 1 {
            let open = if (at..end).contains(&shown) {
                " open"
            } else {
                ""
            };
            let count = end - at - 1;
            let pages = if count == 1 { "page" } else { "pages" };
            html += &format!("<details{open}><summary>{count} {pages}</summary>\n");
            let below = book.entries[at + 1..end].iter().zip(at + 1..);
            html.extend(below.map(|(entry, at)| link(entry, at == shown, root)));
            html += "</details>\n";
        }
        at = end;
    }
    html
}

fn link(entry: &Entry, is_shown: bool, root: &str) -> String {
    let mark = if is_shown {
        " aria-current=\"page\""
    } else {
        ""
    };
    let (to, title) = (file_of(&entry.path), plain(&entry.title));
    format!("<a href=\"{root}{}\"{mark}>{title}</a>\n", escaped(&to))
}

/// The sections of a page, where there are several.
fn sections(headings: &[Heading]) -> String {
    let sections: Vec<&Heading> = headings.iter().filter(|h| h.is_section).collect();
    if sections.len() < 4 {
        return String::new();
    }
    let links = sections.iter().map(|heading| {
        let (id, text) = (escaped(&heading.id), escaped(&heading.text));
        format!("<a href=\"#{id}\">{text}</a>\n")
    });
    let links: String = links.collect();
    format!("<details class=\"sections\"><summary>On this page</summary>\n{links}</details>\n")
}

/// The pages before and after.
fn beside(book: &Book, at: usize, root: &str) -> String {
    let before = at.checked_sub(1).and_then(|at| book.entries.get(at));
    let after = book.entries.get(at + 1);
    let both = [("before", before), ("after", after)];
    let links = both.into_iter().filter_map(|(class, entry)| {
        let entry = entry?;
        let (to, title) = (escaped(&file_of(&entry.path)), plain(&entry.title));
        Some(format!(
            "<a class=\"{class}\" href=\"{root}{to}\">{title}</a>\n"
        ))
    });
    let links: String = links.collect();
    format!("<nav class=\"beside\">\n{links}</nav>\n")
}

/// The page that is written.
struct On<'a> {
    book: &'a Book,
    path: &'a str,
    root: &'a str,
}

impl Resolve for On<'_> {
    fn link(&self, link: &str) -> Becomes {
        match links::target(self.path, link) {
            Target::Web => Becomes::Link(link.to_owned()),
            Target::File => Becomes::Text,
            Target::Page(path, anchor) => {
                let anchor = anchor.map_or(String::new(), |anchor| format!("#{anchor}"));
                Becomes::Link(format!("{}{}{anchor}", self.root, file_of(&path)))
            }
        }
    }

    fn word(&self, word: &str) -> Option<String> {
        let page = links::named(&self.book.pages, self.path, word)?;
        (page != self.path).then(|| format!("{}{}", self.root, file_of(page)))
    }
}
