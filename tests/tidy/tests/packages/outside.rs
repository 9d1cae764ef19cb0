//! Builds packages under the conditions of a user: outside this workspace, from the packed files
//! alone, and each by itself. Then builds with the oldest dependencies that they declare, and
//! libraries with the newest available version of Kubernetes. `PACKAGES` sets the number of
//! packages. The default shows that the method works, and takes seconds.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use lifecycle_tidy::packages::manifests::{self, Package};
use serde_json::Value;
use tempfile::TempDir;

use super::amount::amount;
use super::{PACKAGES, cargo, pack, root, unpacked};

/// The crate that has a feature for each version of Kubernetes.
const KUBERNETES: &str = "k8s-openapi";

/// Variable that selects the version with which a library is built, as a program would.
const CHOICE: &str = "K8S_OPENAPI_ENABLED_VERSION";

/// Version that our programs select.
const OURS: &str = "1.33";

/// Builds each package with Cargo, by itself. A feature or file that only another package of the
/// workspace requests is missing here.
#[test]
fn each_package_builds_from_its_packed_files() {
    let target = TempDir::new().expect("a folder");
    // It is built once and thrown away.
    let variables = [
        (CHOICE, OURS),
        ("CARGO_PROFILE_DEV_DEBUG", "0"),
        ("CARGO_INCREMENTAL", "0"),
    ];
    pack(&chosen(), target.path(), &[], &variables);
}

#[test]
fn the_oldest_dependencies_that_are_permitted_are_enough() {
    let workspace = workspace();
    let folder = workspace.path();
    // Cargo enables this only for users who acknowledge that it may change.
    let unstable = [("RUSTC_BOOTSTRAP", "1")];
    cargo(
        &["update", "-Z", "direct-minimal-versions"],
        folder,
        &unstable,
    );
    check(folder, OURS, &chosen());
}

#[test]
fn libraries_build_with_the_newest_kubernetes() {
    let packages = chosen();
    let libraries: Vec<&Package> = packages.into_iter().filter(|one| !one.is_program).collect();
    let workspace = workspace();
    fs::copy(
        root().join("Cargo.lock"),
        workspace.path().join("Cargo.lock"),
    )
    .expect("the lock can be copied");
    check(workspace.path(), &newest(), &libraries);
}

/// The packages that are built: the macros first, which need little.
fn chosen() -> Vec<&'static Package> {
    let mut all = manifests::in_order(&PACKAGES);
    all.sort_by_key(|one| !one.name.starts_with("lifecycle-macros"));
    let number = amount("PACKAGES", 2, all.len() as u64);
    all.truncate(usize::try_from(number).unwrap_or(usize::MAX));
    all
}

/// A workspace of unpacked packages, which find each other there and all else on crates.io.
fn workspace() -> TempDir {
    let packages = chosen();
    let target = TempDir::new().expect("a folder");
    pack(&packages, target.path(), &["--no-verify"], &[]);
    let mut members = String::new();
    let mut patches = String::new();
    for package in packages {
        let folder = unpacked(target.path(), package);
        let folder = folder.display();
        write!(members, "\"{folder}\", ").expect("text takes text");
        writeln!(patches, "{} = {{ path = \"{folder}\" }}", package.name).expect("text takes text");
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{members}]\n\n[patch.crates-io]\n{patches}"
    );
    fs::write(target.path().join("Cargo.toml"), manifest).expect("it can be written");
    target
}

fn check(folder: &Path, kubernetes: &str, packages: &[&Package]) {
    let names = packages
        .iter()
        .flat_map(|one| ["--package", one.name.as_str()]);
    let arguments: Vec<&str> = ["check", "--lib"].into_iter().chain(names).collect();
    cargo(
        &arguments,
        folder,
        &[(CHOICE, kubernetes), ("CARGO_INCREMENTAL", "0")],
    );
}

/// Returns the newest version of Kubernetes with available types, such as `1.37`.
fn newest() -> String {
    let text = cargo(&["metadata", "--format-version=1", "--locked"], root(), &[]);
    let metadata: Value = serde_json::from_str(&text).expect("cargo metadata is JSON");
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let found = packages
        .find(|one| one["name"] == KUBERNETES)
        .expect("it is a dependency");
    let feature = found["features"]["latest"][0]
        .as_str()
        .expect("it has a newest version");
    feature.trim_start_matches('v').replace('_', ".")
}
