//! Where links lead: to a page, to a heading of one, out of the book, or nowhere. Knows paths as they are written on a page.

use std::collections::BTreeMap;

use crate::page::Page;

/// Where a link of a page leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A page of the book, and a heading of it.
    Page(String, Option<String>),
    /// Another place of the web, as it stands there.
    Web,
    /// A file of the repository that is no page.
    File,
}

/// Where a link leads that stands on the page of this path.
pub fn target(from: &str, link: &str) -> Target {
    if link.contains("://") || link.starts_with("mailto:") {
        return Target::Web;
    }
    let (path, anchor) = match link.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (link, None),
    };
    if path.is_empty() {
        return Target::Page(from.to_owned(), anchor);
    }
    match resolved(from, path) {
        Some(page) if page.ends_with(".md") => Target::Page(page, anchor),
        _ => Target::File,
    }
}

/// The page that a word names: from the folder of the page, from that of the book, or from the root of the repository; or by the code of a check.
pub fn named<'a>(pages: &'a BTreeMap<String, Page>, from: &str, word: &str) -> Option<&'a str> {
    if word.starts_with("LC") {
        let page = format!("rules/{word}.md");
        return pages.get_key_value(&page).map(|(path, _)| path.as_str());
    }
    if !word.ends_with(".md") {
        return None;
    }
    let from_root = word.strip_prefix("docs/");
    let beside = resolved(from, word);
    let candidates = [beside.as_deref(), Some(word), from_root];
    let mut known = candidates.into_iter().flatten();
    known.find_map(|path| pages.get_key_value(path).map(|(path, _)| path.as_str()))
}

/// Below the folder of the book; nothing if it is outside.
fn resolved(from: &str, path: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Links that lead to no page, or to no heading of one. Whether a file outside of the book exists, `tests/tidy` knows.
pub(crate) fn broken(pages: &BTreeMap<String, Page>) -> Vec<String> {
    let mut findings = Vec::new();
    for (from, page) in pages {
        for link in page.links() {
            let Target::Page(path, anchor) = target(from, &link) else {
                continue;
            };
            match (pages.get(&path), anchor) {
                (None, _) => findings.push(format!("{from}: `{link}` leads to no page")),
                (Some(to), Some(anchor)) if !to.has_heading(&anchor) => {
                    findings.push(format!("{from}: `{link}` leads to no heading of {path}"));
                }
                (Some(_), _) => {}
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(files: &[(&str, &str)]) -> BTreeMap<String, Page> {
        let page = |(path, text): &(&str, &str)| ((*path).to_owned(), Page::of((*text).to_owned()));
        files.iter().map(page).collect()
    }

    #[test]
    fn a_link_to_no_page_and_one_to_no_heading_are_found() {
        let pages = book(&[
            (
                "a.md",
                "[b](rules/b.md#the-part) [gone](gone.md) [no](rules/b.md#no) [own](#top)",
            ),
            (
                "rules/b.md",
                "# The part\n[back](../a.md) [out](../../README.md) <https://x/y.md>",
            ),
        ]);
        assert_eq!(
            broken(&pages),
            [
                "a.md: `gone.md` leads to no page",
                "a.md: `rules/b.md#no` leads to no heading of rules/b.md",
                "a.md: `#top` leads to no heading of a.md",
            ]
        );
    }

    #[test]
    fn what_stands_in_a_fence_is_no_link() {
        assert!(broken(&book(&[("a.md", "```text\n[x](gone.md)\n```\n")])).is_empty());
    }

    #[test]
    fn a_word_in_backticks_names_a_page_from_wherever_it_is_written() {
        let pages = book(&[("time.md", ""), ("rules/LC021.md", "")]);
        for (from, word) in [
            ("index.md", "time.md"),
            ("rules/LC021.md", "time.md"),
            ("rules/LC021.md", "../time.md"),
            ("index.md", "docs/time.md"),
        ] {
            assert_eq!(named(&pages, from, word), Some("time.md"), "{from} {word}");
        }
        assert_eq!(named(&pages, "time.md", "LC021"), Some("rules/LC021.md"));
        assert_eq!(named(&pages, "time.md", "LC999"), None);
        assert_eq!(named(&pages, "index.md", "README.md"), None);
        assert_eq!(named(&pages, "index.md", "time"), None);
    }
}
