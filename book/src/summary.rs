//! The order of the pages: a list in Markdown as mdBook reads it, too. A line `# Part` begins a part, `- [Title](path.md)` is a page, two spaces
//! before it make it a page of the one above. Knows no page.

use std::collections::BTreeSet;

/// A page in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The part that it stands in; empty before the first.
    pub part: String,
    /// How many pages it stands under.
    pub depth: usize,
    /// As the list of pages calls it.
    pub title: String,
    /// Below the folder of the book.
    pub path: String,
}

/// The pages in their order, and the lines that are none of a summary.
pub fn read(text: &str) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut findings) = (Vec::new(), Vec::new());
    let mut part = String::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(title) = line.strip_prefix("# ") {
            if title != "Summary" {
                title.clone_into(&mut part);
            }
        } else if let Some(entry) = entry(&part, line) {
            let deepest = entries.last().map_or(0, |above: &Entry| above.depth + 1);
            if entry.depth > deepest {
                let line = number + 1;
                findings.push(format!(
                    "SUMMARY.md:{line}: {} stands under no page",
                    entry.path
                ));
            }
            entries.push(entry);
        } else if !(line.trim().is_empty() || line.starts_with("<!--")) {
            let line = number + 1;
            findings.push(format!(
                "SUMMARY.md:{line}: is neither `# Part` nor `- [Title](path.md)`"
            ));
        }
    }
    (entries, findings)
}

fn entry(part: &str, line: &str) -> Option<Entry> {
    let rest = line.trim_start_matches(' ');
    let indented = line.len() - rest.len();
    let (title, path) = rest.strip_prefix("- [")?.split_once("](")?;
    let path = path.strip_suffix(')')?;
    (indented.is_multiple_of(2) && !title.is_empty() && path.ends_with(".md")).then(|| Entry {
        part: part.to_owned(),
        depth: indented / 2,
        title: title.to_owned(),
        path: path.to_owned(),
    })
}

/// Pages that do not stand there exactly once, and what stands there and is no page.
pub(crate) fn misplaced<'a>(
    entries: &[Entry],
    pages: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let pages: BTreeSet<&str> = pages.map(String::as_str).collect();
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for Entry { path, .. } in entries {
        if !pages.contains(path.as_str()) {
            findings.push(format!("SUMMARY.md: {path} does not exist"));
        } else if !seen.insert(path.as_str()) {
            findings.push(format!("SUMMARY.md: {path} stands there twice"));
        }
    }
    let missing = pages.difference(&seen);
    findings.extend(missing.map(|path| format!("SUMMARY.md: does not name {path}")));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Summary\n\n- [What this is](index.md)\n\n# Reference\n\n<!-- made -->\n- [Checks](checks.md)\n  - [LC021](rules/LC021.md)\n";

    #[test]
    fn pages_stand_in_parts_and_under_each_other() {
        let (entries, findings) = read(TEXT);
        assert_eq!(findings, [""; 0]);
        let read: Vec<_> = entries
            .iter()
            .map(|e| (e.part.as_str(), e.depth, e.title.as_str(), e.path.as_str()))
            .collect();
        assert_eq!(
            read,
            [
                ("", 0, "What this is", "index.md"),
                ("Reference", 0, "Checks", "checks.md"),
                ("Reference", 1, "LC021", "rules/LC021.md"),
            ]
        );
    }

    #[test]
    fn what_is_no_entry_is_told_with_its_line() {
        let (_, findings) = read("- [A](a.md)\n    - [B](b.md)\n* [C](c.md)\n");
        assert_eq!(
            findings,
            [
                "SUMMARY.md:2: b.md stands under no page",
                "SUMMARY.md:3: is neither `# Part` nor `- [Title](path.md)`"
            ]
        );
    }

    #[test]
    fn a_page_stands_there_exactly_once() {
        let (entries, _) = read("- [A](a.md)\n- [A again](a.md)\n- [B](b.md)\n");
        let pages = ["a.md".to_owned(), "c.md".to_owned()];
        assert_eq!(
            misplaced(&entries, pages.iter()),
            [
                "SUMMARY.md: a.md stands there twice",
                "SUMMARY.md: b.md does not exist",
                "SUMMARY.md: does not name c.md"
            ]
        );
    }
}
