//! Bill of materials of a program: its crates as CycloneDX, and the texts of their licences. Both follow from `cargo tree`, `cargo metadata` and `Cargo.lock`.
//! Crates that only run while the program is compiled are no part of it.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::inside::run;

/// How the names of files begin that hold licences, in lower case.
const LICENCES: [&str; 6] = [
    "license",
    "licence",
    "copying",
    "copyright",
    "notice",
    "unlicense",
];

/// Name and version of a crate.
type Id = (String, String);

/// A crate of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Crate {
    /// An expression of SPDX.
    licence: String,
    features: BTreeSet<String>,
    needs: BTreeSet<Id>,
}

/// A program with all crates that are compiled into it for one target.
pub(super) struct Bill {
    program: String,
    target: String,
    root: Id,
    crates: BTreeMap<Id, Crate>,
    checksums: BTreeMap<Id, String>,
    /// Folder of each crate, and its authors.
    sources: BTreeMap<Id, (PathBuf, String)>,
}

impl Bill {
    /// Reads the bill of a program, which is part of a package of this workspace, with the features that the package has by default.
    ///
    /// # Errors
    /// Cargo fails, or prints something else than today.
    pub(super) fn read(program: &str, package: &str, target: &str) -> Result<Self> {
        let tree = cargo(&[
            "tree",
            "--locked",
            "--package",
            package,
            "--target",
            target,
            "--edges=normal,no-proc-macro",
            "--prefix=depth",
            "--format=|{p}|{l}|{f}",
        ])?;
        let (root, crates) = parse(&tree).context("cargo tree prints something unknown")?;
        let metadata = cargo(&[
            "metadata",
            "--locked",
            "--format-version=1",
            "--filter-platform",
            target,
        ])?;
        let metadata = serde_json::from_str(&metadata).context("cargo metadata is JSON")?;
        let lock = fs::read_to_string(workspace().join("Cargo.lock")).context("no Cargo.lock")?;
        Ok(Self {
            program: program.to_owned(),
            target: target.to_owned(),
            root,
            crates,
            checksums: checksums(&lock),
            sources: sources(&metadata),
        })
    }

    /// The bill as CycloneDX 1.5. The same sources and the same toolchain give the same bytes.
    ///
    /// # Errors
    /// The toolchain does not name its version.
    pub(super) fn cyclonedx(&self) -> Result<String> {
        let root = self.component(&self.root, "application");
        let others = self.crates.keys().filter(|id| **id != self.root);
        let mut components: Vec<Value> = others.map(|id| self.component(id, "library")).collect();
        let linked = linked()?;
        let edges = self.crates.iter().map(|(id, one)| {
            let mut needs: Vec<String> = one.needs.iter().map(purl).collect();
            if *id == self.root {
                needs.extend(linked.iter().map(|(purl, _)| purl.clone()));
            }
            json!({ "ref": purl(id), "dependsOn": needs })
        });
        let edges: Vec<Value> = edges.collect();
        components.extend(linked.iter().map(|(_, component)| component.clone()));
        let bill = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "component": root,
                "properties": [
                    { "name": "program", "value": self.program },
                    { "name": "target", "value": self.target },
                ],
            },
            "components": components,
            "dependencies": edges,
        });
        let text = serde_json::to_string_pretty(&bill).context("a bill is JSON")?;
        Ok(text + "\n")
    }

    fn component(&self, id: &Id, kind: &str) -> Value {
        let (name, version) = id;
        let found = &self.crates[id];
        let features: Vec<&str> = found.features.iter().map(String::as_str).collect();
        let mut component = json!({
            "type": kind,
            "bom-ref": purl(id),
            "name": name,
            "version": version,
            "purl": purl(id),
            "licenses": [{ "expression": found.licence }],
            "properties": [{ "name": "cargo:features", "value": features.join(",") }],
        });
        if let Some(checksum) = self.checksums.get(id) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        component
    }

    /// The texts of all licences, each once, with the crates that ship it.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn licences(&self) -> Result<String> {
        let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut bare = BTreeSet::new();
        for (id, found) in &self.crates {
            let (folder, authors) = self
                .sources
                .get(id)
                .with_context(|| format!("cargo metadata does not know {} {}", id.0, id.1))?;
            let named = format!("{} {}: {}", id.0, id.1, found.licence);
            let files = licence_files(folder)?;
            if files.is_empty() {
                bare.insert(format!("{named}, by {authors}"));
            }
            for file in files {
                let text = fs::read(&file);
                let text = text.with_context(|| format!("cannot read {}", file.display()))?;
                let text = String::from_utf8_lossy(&text).trim().to_owned();
                texts.entry(text).or_default().insert(named.clone());
            }
        }
        let mut all = format!("Licences of the crates of {}.\n", self.program);
        if !bare.is_empty() {
            all.push_str("\nThese ship no text of their licence, which stands below:\n");
        }
        for one in bare {
            writeln!(all, "  {one}")?;
        }
        for (text, crates) in texts {
            writeln!(all, "\n{}", "=".repeat(80))?;
            for one in crates {
                writeln!(all, "  {one}")?;
            }
            writeln!(all, "\n{text}")?;
        }
        Ok(all)
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn cargo(words: &[&str]) -> Result<String> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(workspace());
    run("ask cargo for the crates of a program", command)
}

/// Parses the root and all crates of a tree in which each line begins with its depth. Returns
/// `None` if the format differs from the one that Cargo prints today.
fn parse(tree: &str) -> Option<(Id, BTreeMap<Id, Crate>)> {
    let mut crates: BTreeMap<Id, Crate> = BTreeMap::new();
    let mut path: Vec<Id> = Vec::new();
    let mut root = None;
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split('|').collect();
        let [depth, named, licence, features] = fields[..] else {
            return None;
        };
        let mut words = named.split(' ');
        let name = words.next()?.to_owned();
        let version = words.next()?.strip_prefix('v')?.to_owned();
        let id = (name, version);
        path.truncate(depth.parse().ok()?);
        if let Some(parent) = path.last() {
            crates.get_mut(parent)?.needs.insert(id.clone());
        } else {
            root = Some(id.clone());
        }
        let found = crates.entry(id.clone()).or_default();
        found.licence = expression(licence);
        // Cargo marks a crate whose dependencies it has already printed.
        let features = features.trim_end_matches("(*)").trim_end();
        let features = features.split(',').filter(|one| !one.is_empty());
        found.features.extend(features.map(str::to_owned));
        path.push(id);
    }
    Some((root?, crates))
}

/// A licence as SPDX writes it. Manifests of before 2019 write `MIT/Apache-2.0`.
fn expression(licence: &str) -> String {
    let parts: Vec<&str> = licence.split('/').map(str::trim).collect();
    parts.join(" OR ")
}

/// The package URL of a crate.
fn purl((name, version): &Id) -> String {
    format!("pkg:cargo/{name}@{}", version.replace('+', "%2B"))
}

/// The checksums in a `Cargo.lock`; crates of the workspace have none.
fn checksums(lock: &str) -> BTreeMap<Id, String> {
    let packages = lock.split("[[package]]\n").skip(1);
    let checksum = |package: &str| {
        let field = |name: &str| {
            let mut lines = package.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
            value.map(|value| value.trim_matches('"').to_owned())
        };
        Some(((field("name")?, field("version")?), field("checksum")?))
    };
    packages.filter_map(checksum).collect()
}

/// Folder and authors of each package.
fn sources(metadata: &Value) -> BTreeMap<Id, (PathBuf, String)> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let source = |package: &Value| {
        let text = |field: &str| Some(package[field].as_str()?.to_owned());
        let manifest = PathBuf::from(text("manifest_path")?);
        let authors = package["authors"].as_array().into_iter().flatten();
        let authors: Vec<&str> = authors.filter_map(Value::as_str).collect();
        let folder = manifest.parent()?.to_owned();
        Some((
            (text("name")?, text("version")?),
            (folder, authors.join(", ")),
        ))
    };
    packages.filter_map(source).collect()
}

/// The files beside a manifest that hold licences, by name.
fn licence_files(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let what = || format!("cannot read {}", folder.display());
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(what)? {
        let path = entry.with_context(what)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_lowercase();
        let is_licence = LICENCES.iter().any(|begin| name.starts_with(begin));
        if is_licence && path.is_file() {
            files.insert(path);
        }
    }
    Ok(files)
}

/// Libraries of Rust and of C, which are linked into a static program as well, each with its package URL.
fn linked() -> Result<Vec<(String, Value)>> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--version", "--verbose"]);
    let rust = run("ask rustc for its version", rustc)?;
    let rust = rust.lines().find_map(|line| line.strip_prefix("release: "));
    let mut getconf = Command::new("getconf");
    getconf.arg("GNU_LIBC_VERSION");
    let libc = run("ask for the version of the C library", getconf)?;
    let libc = libc.trim().strip_prefix("glibc ");
    let rows = [
        ("rust-std", rust, "MIT OR Apache-2.0"),
        ("glibc", libc, "LGPL-2.1-or-later"),
    ];
    let component = |row: (&str, Option<&str>, &str)| -> Result<(String, Value)> {
        let (name, version, licence) = row;
        let version = version.with_context(|| format!("no version of {name}"))?;
        let purl = format!("pkg:generic/{name}@{version}");
        let component = json!({
            "type": "library",
            "bom-ref": purl,
            "name": name,
            "version": version,
            "purl": purl,
            "licenses": [{ "expression": licence }],
        });
        Ok((purl, component))
    };
    rows.into_iter().map(component).collect()
}

#[cfg(test)]
mod tests;
