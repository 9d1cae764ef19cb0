//! Checker for a site: reports pages that are missing from the summary, and links that lead to no
//! file or to no heading. Works on files and HTML, so that it sees the same errors as a reader,
//! regardless of who wrote the link.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

/// Documents that the summary does not name.
pub(crate) fn without_place(docs: &Path, names: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut folders = vec![docs.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir()? {
            let path = entry?.path();
            let name = path.strip_prefix(docs)?.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".md") && name != "SUMMARY.md" && !names.contains(&name) {
                findings.push(format!("SUMMARY.md does not name {name}"));
            }
        }
    }
    Ok(findings)
}

/// Links of the pages that lead to no file, or to no heading of a page.
pub(crate) fn broken_links(site: &Path, names: &BTreeSet<String>) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    for name in names {
        let file = site.join(name).with_extension("html").canonicalize()?;
        let html = std::fs::read_to_string(&file)?;
        pages.insert(file, (name, html));
    }
    let mut findings = Vec::new();
    for (from, (name, html)) in &pages {
        let both = values(html, " href=\"").chain(values(html, " src=\""));
        for link in both.filter(|link| !link.contains(':')) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let to = match path {
                "" => Ok(from.clone()),
                path => from.with_file_name(path).canonicalize(),
            };
            let Ok(to) = to else {
                findings.push(format!("{name}: `{link}` leads to no page"));
                continue;
            };
            let mut headings = pages
                .get(&to)
                .into_iter()
                .flat_map(|(_, html)| values(html, " id=\""));
            if !heading.is_empty() && !headings.any(|id| id == heading) {
                findings.push(format!("{name}: `{link}` leads to no heading"));
            }
        }
    }
    Ok(findings)
}

/// The values of an attribute, which is given as ` href="`.
fn values<'a>(html: &'a str, attribute: &'static str) -> impl Iterator<Item = &'a str> {
    let parts = html.split(attribute).skip(1);
    parts.filter_map(|rest| rest.split('"').next())
}
