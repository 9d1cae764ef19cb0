//! House rules that no compiler and no lint checks. They are functions from the files of the
//! repository and from Cargo's package data to findings. Each is pure, so that a test can show its
//! failure on a small made-up example. `tests/tidy.rs` and `tests/packages.rs` apply them
//! to the real repository.

#![deny(missing_docs)]

pub mod acceptance;
pub mod circles;
pub mod clock;
pub mod contract;
pub mod documents;
pub mod files;
pub mod layers;
pub mod members;
pub mod modules;
pub mod origins;
pub mod packages;
pub mod pulled;
pub mod rules;
pub mod verdict;
pub mod words;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The files of a repository by their path from its root, with `/` on every system. A file that is
/// not text reads as empty.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

/// Folders of sources that are test data and belong to no module tree, in any package.
const FIXTURES: [&str; 2] = ["tests/ui/rules/", "tests/expand/"];

/// How a file begins that a program wrote; it is looked for in folders of this name alone.
const GENERATED: (&str, &str) = ("/generated/", "// This file is @generated");

impl Tree {
    /// Reads a checkout, without build output and hidden folders other than `.ci`.
    ///
    /// # Errors
    /// A folder or file cannot be read.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A made-up tree.
    pub fn made_up(files: &[(&str, &str)]) -> Self {
        let owned = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self {
            files: owned.collect(),
        }
    }

    /// The same tree with one file more, or another text of it.
    #[must_use]
    pub fn with_file(&self, path: &str, text: &str) -> Self {
        let mut changed = self.clone();
        changed.files.insert(path.to_owned(), text.to_owned());
        changed
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                let hidden = name.starts_with('.') && name != ".ci";
                if !hidden && name != "target" {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else {
                let text = String::from_utf8(fs::read(entry.path())?).unwrap_or_default();
                self.files.insert(path, text);
            }
        }
        Ok(())
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns true if a file or a folder has this path.
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.under(&format!("{path}/")).next().is_some()
    }

    /// Returns the files with this path prefix, in order.
    pub fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .range(prefix.to_owned()..)
            .take_while(move |(path, _)| path.starts_with(prefix))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns every hand-written Rust source that is compiled as part of a crate.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.under("").filter(|(path, text)| {
            let fixture = FIXTURES
                .iter()
                .any(|folder| strip_folder(path, folder).is_some());
            let generated = path.contains(GENERATED.0) && text.starts_with(GENERATED.1);
            path.ends_with(".rs") && !fixture && !generated
        })
    }
}

/// Returns the part of a path after such a folder, at any place in the tree.
pub(crate) fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let starts = path.match_indices(folder).map(|(start, _)| start);
    let mut whole = starts.filter(|start| *start == 0 || path[..*start].ends_with('/'));
    whole.next().map(|start| &path[start + folder.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_is_read_without_build_output_and_hidden_folders() {
        let root = tempfile::tempdir().unwrap();
        for path in [
            "a/src/lib.rs",
            ".ci/run",
            ".git/config",
            "target/debug/x.rs",
        ] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        fs::write(root.path().join("picture"), [0xff, 0xfe]).unwrap();
        let tree = Tree::read(root.path()).unwrap();
        let paths: Vec<&str> = tree.under("").map(|(path, _)| path).collect();
        assert_eq!(paths, [".ci/run", "a/src/lib.rs", "picture"]);
        assert!(tree.has("a/src") && !tree.has("a/sr"));
        assert_eq!(tree.text("picture"), Some(""));
    }

    #[test]
    fn fixtures_and_what_programs_wrote_are_no_sources() {
        let tree = Tree::made_up(&[
            ("tests/ui/rules/a.rs", ""),
            ("a/tests/ui/rules/a.rs", ""),
            ("a/mytests/ui/rules/a.rs", ""),
            ("a/src/lib.rs", "// This file is @generated"),
            ("a/src/generated/own.rs", ""),
            (
                "a/src/generated/wire.rs",
                "// This file is @generated by x.",
            ),
            ("b.md", ""),
        ]);
        let sources: Vec<&str> = tree.sources().map(|(path, _)| path).collect();
        let expected = [
            "a/mytests/ui/rules/a.rs",
            "a/src/generated/own.rs",
            "a/src/lib.rs",
        ];
        assert_eq!(sources, expected);
    }
}
