//! Contents of a packed crate: only its licence, its README and its sources. No source may name a
//! file outside the crate. This module knows a folder with the unpacked files, and neither Cargo
//! nor archives.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Upper bound on the size of an unpacked package; the largest package is half of it. A larger
/// package holds files that its build does not need.
const LARGEST: usize = 2 << 20;

/// Nor is a file.
const LARGEST_FILE: usize = 512 << 10;

/// Files that Cargo adds to every package.
const CARGO: [&str; 4] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
];

/// How a source names another file, in a literal.
const NAMES: [&str; 3] = ["include!(\"", "include_str!(\"", "include_bytes!(\""];

/// The files of a package, by their path in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The package.
    pub name: String,
    /// Contents by path, with `/`.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Packed {
    /// Reads the unpacked files of a package.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read(name: &str, folder: &Path) -> io::Result<Self> {
        let mut packed = Self {
            name: name.to_owned(),
            files: BTreeMap::new(),
        };
        packed.read_folder(folder, "")?;
        Ok(packed)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
            } else if entry.file_type()?.is_file() {
                self.files.insert(path, fs::read(entry.path())?);
            } else {
                return Err(io::Error::other(format!(
                    "{path} is no file: it would lead nowhere"
                )));
            }
        }
        Ok(())
    }

    /// Returns the findings about it, given the licence of the workspace and the README of the
    /// package.
    pub fn findings(&self, licence: &str, readme: &str) -> Vec<String> {
        let name = &self.name;
        let mut findings = Vec::new();
        for (path, expected) in [("LICENSE", licence), ("README.md", readme)] {
            match self.files.get(path) {
                None => findings.push(format!("{name}: {path} is not packed")),
                Some(content) if content != expected.as_bytes() => {
                    findings.push(format!("{name}: {path} is packed, and is another one"));
                }
                Some(_) => {}
            }
        }
        let foreign = self.files.keys().filter(|path| !belongs(path));
        findings.extend(
            foreign.map(|path| format!("{name}: packs {path}, which no build of it needs")),
        );
        let large = self
            .files
            .iter()
            .filter(|(_, content)| content.len() > LARGEST_FILE);
        findings.extend(large.map(|(path, content)| {
            format!(
                "{name}: packs {path} of {} bytes; {LARGEST_FILE} are allowed",
                content.len()
            )
        }));
        let size: usize = self.files.values().map(Vec::len).sum();
        if size > LARGEST {
            findings.push(format!(
                "{name}: is {size} bytes unpacked; {LARGEST} are allowed"
            ));
        }
        findings.extend(self.missing());
        findings
    }

    /// Files that a source names and that are not packed.
    fn missing(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (path, content) in self.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
            let text = String::from_utf8_lossy(content);
            for start in NAMES {
                let named = text
                    .split(start)
                    .skip(1)
                    .filter_map(|rest| rest.split('"').next());
                let missing = named.filter(|named| {
                    !resolve_relative(path, named)
                        .is_some_and(|file| self.files.contains_key(&file))
                });
                findings.extend(missing.map(|named| {
                    format!("{}: {path} names {named}, which is not packed", self.name)
                }));
            }
        }
        findings
    }
}

fn belongs(path: &str) -> bool {
    let proto = !path.contains('/') && path.ends_with(".proto");
    path.starts_with("src/")
        || CARGO.contains(&path)
        || ["LICENSE", "README.md"].contains(&path)
        || proto
}

/// The path of a file that one names from its own place. None where it leaves the package.
fn resolve_relative(path: &str, named: &str) -> Option<String> {
    let mut parts = PathBuf::from(path);
    parts.pop();
    for part in Path::new(named).components() {
        match part {
            Component::ParentDir => {
                if !parts.pop() {
                    return None;
                }
            }
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(files: &[(&str, &str)]) -> Packed {
        let all = [
            ("LICENSE", "free"),
            ("README.md", "read"),
            ("Cargo.toml", ""),
            ("src/lib.rs", ""),
        ];
        let all = all.iter().chain(files);
        Packed {
            name: "a".to_owned(),
            files: all
                .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
                .collect(),
        }
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(packed(files).findings("free", "read"), expected);
    }

    #[test]
    fn sources_licence_and_readme_are_enough() {
        check(&[("csi.proto", ""), ("src/deep/data.json", "{}")], &[]);
        check(
            &[("LICENSE", "")],
            &["a: LICENSE is packed, and is another one"],
        );
        let mut without = packed(&[]);
        without.files.remove("README.md");
        assert_eq!(
            without.findings("free", "read"),
            ["a: README.md is not packed"]
        );
    }

    #[test]
    fn what_nobody_needs_is_found() {
        check(
            &[("tests/it.rs", "")],
            &["a: packs tests/it.rs, which no build of it needs"],
        );
        let large = "x".repeat(LARGEST_FILE + 1);
        check(
            &[("src/data.json", &large)],
            &["a: packs src/data.json of 524289 bytes; 524288 are allowed"],
        );
        let half = "x".repeat(LARGEST_FILE);
        let many = ["src/1", "src/2", "src/3", "src/4", "src/5"].map(|path| (path, half.as_str()));
        let found = packed(&many).findings("free", "read");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("a: is 2621448 bytes unpacked"),
            "{found:?}"
        );
    }

    #[test]
    fn a_file_that_is_named_and_not_packed_is_found() {
        let deep = "src/deep/one.rs";
        let text = "include!(\"two.txt\"); const X: &str = include_str!(\"../data.json\");";
        check(
            &[
                (deep, text),
                ("src/deep/two.txt", ""),
                ("src/data.json", ""),
            ],
            &[],
        );
        check(
            &[(deep, text), ("src/deep/two.txt", "")],
            &["a: src/deep/one.rs names ../data.json, which is not packed"],
        );
        check(
            &[("src/one.rs", "include_bytes!(\"../../deploy/x.yaml\")")],
            &["a: src/one.rs names ../../deploy/x.yaml, which is not packed"],
        );
    }
}
