//! Origins and licences of third-party code: the data of `cargo metadata` on every package of the
//! lock file, and the pins of lock files. This module does not cover advisories, because no package
//! registry holds their list.

use std::collections::BTreeMap;

use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use crate::Tree;

/// Registry from which Cargo takes packages by default.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Packages that only the book may use, because the program that makes the book is not shipped.
pub const OF_BOOK: [&str; 8] = [
    "font-awesome-as-a-crate",
    "mdbook-core",
    "mdbook-driver",
    "mdbook-html",
    "mdbook-markdown",
    "mdbook-preprocessor",
    "mdbook-renderer",
    "mdbook-summary",
];

/// Additional licences that the book's packages may have. One requires the sources of its own
/// files, the other a name beside icons.
const LICENCES_OF_BOOK: [&str; 2] = ["MPL-2.0", "CC-BY-4.0"];

/// A package of the lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name and version.
    pub name: String,
    /// Origin of the package; none for a path.
    pub source: Option<String>,
    /// Its licences, as an SPDX expression.
    pub licence: Option<String>,
    /// True if it is part of the workspace.
    pub is_member: bool,
}

/// Reads the packages in `cargo metadata`. Returns `None` if the format differs from the one that
/// Cargo prints today.
pub fn read(metadata: &Value) -> Option<Vec<Package>> {
    let members = metadata["workspace_members"].as_array()?;
    let packages = metadata["packages"].as_array()?.iter();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let package = |package: &Value| {
        let (name, version) = (package["name"].as_str()?, package["version"].as_str()?);
        Some(Package {
            name: format!("{name} {version}"),
            source: text(&package["source"]),
            licence: text(&package["license"]),
            is_member: members.contains(&package["id"]),
        })
    };
    packages.map(package).collect()
}

/// Returns packages that come neither from crates.io nor from this workspace, and those whose
/// licences are not allowed.
pub fn findings(packages: &[Package], allowed: &[&str]) -> Vec<String> {
    let both = |package: &Package| [foreign(package), forbidden(package, allowed)];
    packages.iter().flat_map(both).flatten().collect()
}

fn foreign(package: &Package) -> Option<String> {
    let from = match package.source.as_deref() {
        Some(CRATES_IO) => return None,
        None if package.is_member => return None,
        Some(source) => source,
        None => "a path outside the workspace",
    };
    Some(format!(
        "{} comes from {from}: take a release from crates.io",
        package.name
    ))
}

fn forbidden(package: &Package, allowed: &[&str]) -> Option<String> {
    let name = &package.name;
    let Some(licence) = &package.licence else {
        return Some(format!("{name} names no licence: take another crate"));
    };
    // Manifests of before 2019 write `MIT/Apache-2.0`.
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Some(format!(
            "{name} is under `{licence}`, which is no SPDX expression: take another release or crate"
        ));
    };
    let is_of_book = name
        .split(' ')
        .next()
        .is_some_and(|name| OF_BOOK.contains(&name));
    let more = LICENCES_OF_BOOK.iter().filter(|_| is_of_book);
    let allowed: Vec<Licensee> = allowed
        .iter()
        .chain(more)
        .map(|one| Licensee::parse(one).expect("the list holds identifiers of SPDX"))
        .collect();
    let is_allowed = expression.evaluate(|asked| allowed.iter().any(|one| one.satisfies(asked)));
    (!is_allowed).then(|| {
        format!(
            "{name} is under `{licence}`, which is not allowed: take another crate, or add the licence to the list if it fits Apache-2.0"
        )
    })
}

/// Returns packages of a `Cargo.lock` that come from elsewhere and have no checksum. Returns `None`
/// if the format differs from the one that Cargo writes today.
pub fn unpinned(lock: &str) -> Option<Vec<String>> {
    let mut findings = Vec::new();
    let mut packages = lock.split("[[package]]\n");
    let _version = packages.next()?;
    for package in packages {
        let said = |field: &str| {
            let mut lines = package.lines();
            lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(" = "))
        };
        let name = said("name")?.trim_matches('"');
        if said("source").is_some() && said("checksum").is_none() {
            findings.push(format!(
                "{name} has no checksum in Cargo.lock: take a release from crates.io"
            ));
        }
    }
    Some(findings)
}

/// Returns how many modules the `go.mod` files require. Also returns the modules without a checksum
/// in the `go.sum` beside it, and those that come from a path.
pub fn go_modules(tree: &Tree) -> (usize, Vec<String>) {
    let (mut number, mut findings) = (0, Vec::new());
    for (path, text) in tree.under("") {
        let Some(folder) = path.strip_suffix("go.mod") else {
            continue;
        };
        let sums = tree.text(&format!("{folder}go.sum")).unwrap_or_default();
        let sums: Vec<&str> = sums.lines().collect();
        let is_pinned = |module: &str| {
            let (whole, manifest) = (format!("{module} h1:"), format!("{module}/go.mod h1:"));
            sums.iter()
                .any(|line| line.starts_with(&whole) || line.starts_with(&manifest))
        };
        for module in required(text) {
            number += 1;
            if !module.contains(' ') {
                findings.push(format!(
                    "{path}: takes a module from {module}: require a version of it"
                ));
            } else if !is_pinned(&module) {
                findings.push(format!(
                    "{path}: {module} has no checksum in go.sum: run `go mod tidy` in {folder}"
                ));
            }
        }
    }
    (number, findings)
}

/// The modules that a `go.mod` requires, each as `path version`, after replacements; one that is replaced by a folder is that alone.
fn required(text: &str) -> Vec<String> {
    let mut replaced = BTreeMap::new();
    let mut required = Vec::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if line == ")" {
            block = "";
            continue;
        }
        if let Some(word) = line.strip_suffix(" (") {
            block = word;
            continue;
        }
        let alone = line.split_once(' ').filter(|_| block.is_empty());
        let (of, rest) = alone.unwrap_or((block, line));
        match (of, rest.split_once(" => ")) {
            ("require", None) => required.push(rest.to_owned()),
            ("replace", Some((from, to))) => {
                let from = from.split(' ').next().unwrap_or_default();
                replaced.insert(from.to_owned(), to.to_owned());
            }
            _ => {}
        }
    }
    let meant = |module: String| {
        let path = module.split(' ').next().unwrap_or_default();
        replaced.get(path).cloned().unwrap_or(module)
    };
    required.into_iter().map(meant).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALLOWED: [&str; 3] = ["Apache-2.0", "Apache-2.0 WITH LLVM-exception", "MIT"];

    fn package(source: Option<&str>, licence: Option<&str>) -> Package {
        Package {
            name: "one 1.0.0".to_owned(),
            source: source.map(str::to_owned),
            licence: licence.map(str::to_owned),
            is_member: false,
        }
    }

    fn found(licence: &str) -> String {
        let package = package(Some(CRATES_IO), Some(licence));
        findings(&[package], &ALLOWED).join("\n")
    }

    #[test]
    fn packages_are_read_with_source_licence_and_membership() {
        let metadata = json!({
            "workspace_members": ["path+file:///x#own@0.1.0"],
            "packages": [
                { "id": "path+file:///x#own@0.1.0", "name": "own", "version": "0.1.0", "source": null, "license": "MIT" },
                { "id": "other", "name": "other", "version": "2.0.0", "source": CRATES_IO, "license": null },
            ],
        });
        let packages = read(&metadata).unwrap();
        assert!(packages[0].is_member && !packages[1].is_member);
        assert_eq!(packages[0].licence.as_deref(), Some("MIT"));
        assert_eq!(packages[1].name, "other 2.0.0");
        assert_eq!(packages[1].source.as_deref(), Some(CRATES_IO));
        assert_eq!(
            findings(&packages, &ALLOWED),
            ["other 2.0.0 names no licence: take another crate"]
        );
        assert_eq!(read(&json!({})), None);
    }

    #[test]
    fn one_of_several_licences_is_enough_and_all_of_several_are_needed() {
        for fine in [
            "MIT",
            "MIT/GPL-2.0",
            "GPL-3.0-only OR (MIT AND Apache-2.0)",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert_eq!(found(fine), "", "{fine}");
        }
        for bad in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "MIT WITH LLVM-exception",
        ] {
            let said = found(bad);
            let expected = format!("one 1.0.0 is under `{bad}`, which is not allowed: ");
            assert!(said.starts_with(&expected), "{said}");
        }
        assert!(found("as you like").contains("no SPDX expression"));
    }

    #[test]
    fn what_the_book_alone_is_built_of_may_be_under_more() {
        let mut one = package(Some(CRATES_IO), Some("CC-BY-4.0 AND MIT"));
        assert_eq!(findings(std::slice::from_ref(&one), &ALLOWED).len(), 1);
        one.name = "font-awesome-as-a-crate 1.0.0".to_owned();
        assert_eq!(findings(&[one], &ALLOWED).len(), 0);
    }

    #[test]
    fn what_comes_from_elsewhere_is_named() {
        let git = "git+https://example.org/one#0";
        let said = findings(&[package(Some(git), Some("MIT"))], &ALLOWED);
        let expected = format!("one 1.0.0 comes from {git}: take a release from crates.io");
        assert_eq!(said, [expected]);
        let mut path = package(None, Some("MIT"));
        let said = findings(&[path.clone()], &ALLOWED);
        assert!(said[0].contains("a path outside the workspace"), "{said:?}");
        path.is_member = true;
        assert!(findings(&[path], &ALLOWED).is_empty());
    }

    #[test]
    fn what_comes_from_elsewhere_without_a_checksum_is_named() {
        let lock = "version = 4\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n\
            [[package]]\nname = \"pinned\"\nsource = \"registry\"\nchecksum = \"00\"\n\n\
            [[package]]\nname = \"loose\"\nsource = \"git\"\n";
        let said = unpinned(lock).unwrap();
        assert_eq!(
            said,
            ["loose has no checksum in Cargo.lock: take a release from crates.io"]
        );
        assert_eq!(unpinned("[[package]]\nversion = \"1\"\n"), None);
    }

    #[test]
    fn modules_of_go_are_pinned_after_replacements() {
        let manifest = "module m\n\ngo 1.26.0\n\ntool a.org/a/cmd\n\nrequire a.org/a v1.0.0 // why\n\
            require (\n\tb.org/b v0.0.0 // indirect\n\tc.org/c v2.0.0\n\td.org/d v1.0.0\n)\n\
            replace (\n\tb.org/b => b.org/b v0.3.0\n)\nreplace d.org/d v1.0.0 => ../d\n";
        let sums = "a.org/a v1.0.0 h1:x\na.org/a v1.0.0/go.mod h1:x\nb.org/b v0.3.0/go.mod h1:x\n";
        let tree = Tree::made_up(&[("t/go.mod", manifest), ("t/go.sum", sums)]);
        let (number, said) = go_modules(&tree);
        assert_eq!(number, 4);
        assert_eq!(
            said,
            [
                "t/go.mod: c.org/c v2.0.0 has no checksum in go.sum: run `go mod tidy` in t/",
                "t/go.mod: takes a module from ../d: require a version of it",
            ]
        );
    }
}
