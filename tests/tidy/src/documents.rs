//! Check that no document names a path that does not exist, in backticks or as the target of a
//! link. No document names a page of `docs/` in backticks in place of a link. This module knows
//! Markdown only as far as backticks, links and fences. A change log describes the past and is
//! skipped.

use crate::Tree;

/// Endings by which a word with a slash is one of our paths, regardless of its first folder.
const ENDINGS: [&str; 10] = [
    ".rs", ".md", ".toml", ".yaml", ".txt", ".stderr", ".proto", ".json", ".mod", ".sh",
];

/// Paths that do not exist, with document and line.
pub fn missing_paths(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    let documents = tree
        .under("")
        .filter(|(path, _)| path.ends_with(".md") && *path != "CHANGELOG.md");
    for (document, text) in documents {
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                let missing = named_paths(tree, line)
                    .into_iter()
                    .filter(|path| !exists(tree, document, path));
                findings.extend(missing.map(|path| {
                    format!(
                        "{document}:{}: names {path}, which does not exist",
                        number + 1
                    )
                }));
            }
        }
    }
    findings
}

/// Pages of `docs/` that a document names in backticks and not by a link, with document and line.
pub fn bare_pages(tree: &Tree) -> Vec<String> {
    let of_readers = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    let documents = tree
        .under("")
        .filter(|(path, _)| path.ends_with(".md"))
        .filter(|(path, _)| path.starts_with("docs/") || of_readers.contains(path));
    let mut findings = Vec::new();
    for (document, text) in documents {
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let mut before = String::new();
            for (at, part) in line.split('`').enumerate() {
                let in_link = before.rfind('[') > before.rfind(']');
                if at % 2 == 1 && !fenced && !in_link && is_page(tree, document, part) {
                    let line = number + 1;
                    findings.push(format!(
                        "{document}:{line}: `{part}` is a page: write a link, [what is there]({part})"
                    ));
                }
                before += part;
            }
        }
    }
    findings
}

/// True if a word in backticks names a page: from its document, from `docs/`, or from the root.
fn is_page(tree: &Tree, document: &str, word: &str) -> bool {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = ["docs", folder, ""]
        .into_iter()
        .filter_map(|folder| resolve(folder, word));
    word.ends_with(".md") && found.any(|path| path.starts_with("docs/") && tree.has(&path))
}

fn named_paths<'a>(tree: &Tree, line: &'a str) -> Vec<&'a str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let linked = line.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next()?;
        (!target.is_empty() && !target.contains(':')).then_some(target)
    });
    let mut named: Vec<&str> = quoted.filter(|word| is_path(tree, word)).collect();
    named.extend(linked);
    named
}

/// Returns true if a quoted word means a path of this repository, and not of a cluster, a machine
/// or another project.
fn is_path(tree: &Tree, word: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-./".contains(character);
    let Some((first, rest)) = word.split_once('/') else {
        return false;
    };
    if first.is_empty() || first == "target" || !word.chars().all(plain) {
        return false;
    }
    let ends_as_file = ENDINGS.iter().any(|ending| rest.ends_with(ending));
    ends_as_file || tree.has(first)
}

/// From the root, or from the folder of the document.
fn exists(tree: &Tree, document: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    tree.has(path) || resolve(folder, path).is_some_and(|path| tree.has(&path))
}

/// Nothing where `..` leads out of the repository.
fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(document: &str, text: &str) -> Vec<String> {
        let files = [
            (document, text),
            ("runtime/src/lib.rs", ""),
            ("docs/other.md", ""),
        ];
        missing_paths(&Tree::made_up(&files))
    }

    #[test]
    fn a_path_that_is_gone_is_found_with_its_line() {
        let found = findings("A.md", "see\n`runtime/src/gone` and `runtime/src/lib.rs`");
        assert_eq!(
            found,
            ["A.md:2: names runtime/src/gone, which does not exist"]
        );
    }

    #[test]
    fn a_path_below_a_folder_that_is_gone_is_found_by_its_ending() {
        assert_eq!(findings("A.md", "`specs/src/lib.rs`").len(), 1);
    }

    #[test]
    fn a_link_to_nowhere_is_found() {
        assert_eq!(findings("A.md", "[a](docs/gone.md#part)").len(), 1);
        assert!(
            findings(
                "A.md",
                "[a](docs/other.md#part) [b](https://x/y.md) [c](#d)"
            )
            .is_empty()
        );
    }

    #[test]
    fn paths_may_be_relative_to_their_document() {
        assert!(findings("docs/a.md", "[x](other.md) `../runtime/src/lib.rs`").is_empty());
        assert_eq!(findings("docs/a.md", "[x](../other.md)").len(), 1);
    }

    fn bare(document: &str, text: &str) -> Vec<String> {
        let files = [(document, text), ("docs/other.md", ""), ("docs/a/b.md", "")];
        bare_pages(&Tree::made_up(&files))
    }

    #[test]
    fn a_page_in_backticks_is_found_with_its_line() {
        let found = bare("docs/a.md", "see\n`other.md`");
        assert_eq!(
            found,
            ["docs/a.md:2: `other.md` is a page: write a link, [what is there](other.md)"]
        );
        assert_eq!(bare("docs/a/c.md", "`../other.md`, `b.md`").len(), 2);
        assert_eq!(bare("README.md", "`docs/other.md`, `docs/a/b.md`").len(), 2);
    }

    #[test]
    fn a_page_in_a_link_is_no_finding_nor_is_another_file() {
        let text = "[the `other.md`](other.md) `README.md` `gone.md` `LC021`\n```\n`other.md`\n```";
        assert!(bare("docs/a.md", text).is_empty());
        assert!(bare("runtime/README.md", "`docs/other.md`").is_empty());
    }

    #[test]
    fn what_is_no_path_of_ours_is_not_a_finding() {
        let text = "`application/json` `/etc/x.toml` `kubernetes.io/name` `runtime/src/<x>.rs` `a b/c.rs` `target/debug/x.rs`";
        assert!(findings("A.md", text).is_empty());
        assert!(findings("A.md", "```\n`runtime/gone.rs`\n```").is_empty());
        assert!(findings("CHANGELOG.md", "`runtime/gone.rs`").is_empty());
    }
}
