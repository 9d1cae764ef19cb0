//! Shows that the packages of this workspace can be published, and that they still have everything
//! that they promise. The findings of each check are shown beside it, in
//! `src/packages`. READMEs are checked by `operator/tests/program/readmes.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use lifecycle_tidy::packages::manifests::{self, Package};
use lifecycle_tidy::packages::packed::Packed;
use serde_json::Value;
use tempfile::TempDir;

#[path = "../../src/amount.rs"]
#[allow(unreachable_pub, reason = "in its own package it is public")]
mod amount;
#[path = "packages/api.rs"]
mod api;
#[path = "packages/outside.rs"]
mod outside;

/// Packages that are not published, each with the reason.
const PRIVATE: [(&str, &str); 8] = [
    (
        "lifecycle-book",
        "it makes a site of the pages of this repository",
    ),
    (
        "lifecycle-oracle",
        "a second reading of the language, to be disagreed with; it follows the first one and promises nothing",
    ),
    (
        "lifecycle-random",
        "random lifecycles for the tests of the driver; an author has the generated suite",
    ),
    (
        "lifecycle-tests",
        "it builds the programs of Kubernetes and needs root; nothing of it is of use outside of this workspace",
    ),
    ("lifecycle-tidy", "it looks at this workspace alone"),
    ("lifecycle-ui", "fixtures"),
    (
        "shop-operator",
        "what `lifecycle-operator new --template shop` writes, under the names of a new operator",
    ),
    (
        "website-operator",
        "what `lifecycle-operator new` writes, under the names of a new operator",
    ),
];

static PACKAGES: LazyLock<Vec<Package>> = LazyLock::new(|| {
    let text = cargo(
        &[
            "metadata",
            "--no-deps",
            "--format-version=1",
            "--offline",
            "--locked",
        ],
        root(),
        &[],
    );
    let metadata: Value = serde_json::from_str(&text).expect("cargo metadata is JSON");
    manifests::read(&metadata).expect("the packages can be read")
});

#[test]
fn manifests_say_what_a_stranger_looks_for_and_what_cargo_can_resolve() {
    assert!(PACKAGES.len() > 10, "the packages were not found");
    none(manifests::findings(&PACKAGES, &PRIVATE));
    let published = PACKAGES.iter().filter(|one| one.is_published).count();
    assert_eq!(
        manifests::in_order(&PACKAGES).len(),
        published,
        "they need each other in a circle"
    );
}

#[test]
fn packed_files_are_whole_and_nothing_else() {
    let target = TempDir::new().expect("a folder");
    let packages = manifests::in_order(&PACKAGES);
    pack(&packages, target.path(), &["--no-verify"], &[]);
    let licence = fs::read_to_string(root().join("LICENSE")).expect("there is one");
    let mut findings = Vec::new();
    for package in packages {
        let readme = fs::read_to_string(root().join(&package.folder).join("README.md"));
        let readme =
            readme.unwrap_or_else(|error| panic!("the README of {}: {error}", package.name));
        let folder = unpacked(target.path(), package);
        let packed = Packed::read(&package.name, &folder).expect("it can be read");
        assert!(packed.files.len() > 5, "{} is empty", package.name);
        findings.extend(packed.findings(&licence, &readme));
    }
    none(findings);
}

/// Checks that Cargo builds the checker once. The checker runs inside rustc and in programs. Cargo
/// builds it once if all its dependencies have the same features in both. A second time would be a
/// minute of each build.
#[test]
fn the_checker_is_compiled_once() {
    let tree = |options: &[&str]| {
        let arguments = [&["tree", "--prefix=none", "--offline", "--locked"], options].concat();
        cargo(&arguments, root(), &[])
    };
    let twice = tree(&["--workspace", "--duplicates", "--depth=0"]);
    let of = tree(&["--package=lifecycle-macros-core", "--edges=normal"]);
    let mut lines: Vec<&str> = twice.lines().filter(|line| line.contains(" v")).collect();
    lines.sort_unstable();
    let same = lines.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
    let same: Vec<&str> = same.map(|same| same[0]).collect();
    assert!(!same.is_empty(), "nothing is shown:\n{twice}");
    let built_of = same.into_iter().filter(|one| of.contains(one));
    none(built_of.map(|one| format!("{one} has other features in rustc than in programs: choose the same for `lifecycle-macros-core`")).collect());
}

/// Packs these into a folder that is not in this workspace; without `--no-verify` Cargo builds each from its packed files alone, beside the others.
fn pack(packages: &[&Package], target: &Path, options: &[&str], variables: &[(&str, &str)]) {
    let names = packages
        .iter()
        .flat_map(|one| ["--package", one.name.as_str()]);
    let arguments = ["package", "--allow-dirty", "--locked"];
    let arguments: Vec<&str> = arguments
        .into_iter()
        .chain(options.iter().copied())
        .chain(names)
        .collect();
    let target = target.to_str().expect("a path of text");
    let variables: Vec<_> = variables
        .iter()
        .copied()
        .chain([("CARGO_TARGET_DIR", target)])
        .collect();
    cargo(&arguments, root(), &variables);
}

/// The files of a package that was packed, unpacked beside it.
fn unpacked(target: &Path, package: &Package) -> PathBuf {
    let folder = target.join("package");
    let name = format!("{}-{}", package.name, package.version);
    let archive = format!("{name}.crate");
    let done = Command::new("tar")
        .args(["-xzf", &archive])
        .current_dir(&folder)
        .status();
    assert!(
        done.is_ok_and(|done| done.success()),
        "{archive} cannot be unpacked"
    );
    folder.join(name)
}

/// Returns the output of Cargo.
fn cargo(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(folder);
    // A test gets these from the Cargo that runs it. Build scripts that read them would run again.
    for (name, _) in
        env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
    {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("cargo runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}:\n{error}");
    String::from_utf8(output.stdout).expect("cargo prints text")
}

fn root() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.nth(2).expect("this crate is two folders deep")
}

#[track_caller]
fn none(findings: Vec<String>) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
