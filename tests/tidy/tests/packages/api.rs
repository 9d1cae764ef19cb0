//! The public API of each library that promises one, pinned in `api/`, one item a line. A line that goes is a breaking change.

use std::path::{Path, PathBuf};
use std::{env, fs};

use lifecycle_tidy::packages::api::essential;
use serde_json::Value;
use tempfile::TempDir;

use super::{PACKAGES, cargo, root};

/// The format of rustdoc's JSON that `public-api` reads. It changes with Rust, without a promise.
const FORMAT: u64 = 57;

/// Libraries with a pinned API, with the modules that are not part of it. `docs/stability.md` has
/// the same list, with the reasons.
const PINNED: [(&str, &[&str]); 9] = [
    (
        "lifecycle-cli",
        &[
            "lifecycle_cli::Object",
            "lifecycle_cli::Program",
            "lifecycle_cli::Surroundings",
            "lifecycle_cli::Verb",
            "lifecycle_cli::cluster",
            "lifecycle_cli::follow",
            "lifecycle_cli::passes",
            "lifecycle_cli::updates",
        ],
    ),
    ("lifecycle-client", &[]),
    ("lifecycle-csi", &[]),
    ("lifecycle-http", &[]),
    ("lifecycle-macros", &[]),
    (
        "lifecycle-macros-core",
        &[
            "lifecycle_macros_core::ast",
            "lifecycle_macros_core::check",
            "lifecycle_macros_core::csi",
            "lifecycle_macros_core::expand",
            "lifecycle_macros_core::model",
            "lifecycle_macros_core::rule",
            "lifecycle_macros_core::space",
        ],
    ),
    ("lifecycle-runtime", &[]),
    ("lifecycle-simulator", &[]),
    ("lifecycle-suite", &[]),
];

/// `BLESS=1` writes it.
#[test]
fn the_public_api_is_the_pinned_one() {
    let folder = documented();
    let mut findings = Vec::new();
    for (package, without) in PINNED {
        let file = folder.join(format!("{}.json", package.replace('-', "_")));
        let now = essential(&read(&file), without);
        assert!(now.lines().count() > 2, "{package} has no public items");
        let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("api/{package}.txt"));
        let then = fs::read_to_string(&pinned).unwrap_or_default();
        if env::var_os("BLESS").is_some() {
            fs::write(&pinned, &now).expect("it can be written");
        } else {
            findings.extend(differences(package, &then, &now));
        }
    }
    assert!(
        findings.is_empty(),
        "{}\nA line with `-` breaks who uses it: docs/stability.md says when that may be. \
         `BLESS=1 cargo test --workspace --test packages api` writes what is public now.",
        findings.join("\n")
    );
}

#[test]
fn what_is_pinned_is_what_the_policy_lists() {
    let policy = fs::read_to_string(root().join("docs/stability.md")).expect("the policy");
    let rows = policy
        .lines()
        .filter(|line| line.starts_with("| `lifecycle-"));
    let mut said: Vec<(&str, bool)> = rows
        .map(|row| {
            (
                row.split('`').nth(1).unwrap_or_default(),
                row.contains("| library"),
            )
        })
        .collect();
    said.sort_unstable();
    let is_pinned = |name: &str| PINNED.iter().any(|(pinned, _)| *pinned == name);
    let published = PACKAGES.iter().filter(|one| one.is_published);
    let mut expected: Vec<(&str, bool)> = published
        .map(|one| (one.name.as_str(), is_pinned(&one.name)))
        .collect();
    expected.sort_unstable();
    assert_eq!(
        said, expected,
        "package, and whether its library is a promise"
    );
    for (_, without) in PINNED {
        for module in without {
            let name = module.rsplit("::").next().unwrap_or(module);
            assert!(
                policy.contains(&format!("`{name}`")),
                "the policy does not name {module}"
            );
        }
    }
}

#[test]
fn a_line_that_goes_and_one_that_comes_are_told() {
    let found = differences(
        "a",
        "pub fn a::b()\npub fn a::c()\n",
        "pub fn a::c()\npub fn a::d()\n",
    );
    assert_eq!(found, ["a: - pub fn a::b()", "a: + pub fn a::d()"]);
}

fn differences(package: &str, then: &str, now: &str) -> Vec<String> {
    let missing = |from: &str, of: &str, sign: &str| -> Vec<String> {
        let others: Vec<&str> = of.lines().collect();
        let lines = from.lines().filter(|line| !others.contains(line));
        lines
            .map(|line| format!("{package}: {sign} {line}"))
            .collect()
    };
    [missing(then, now, "-"), missing(now, then, "+")].concat()
}

/// The public items in a file of rustdoc.
fn read(file: &Path) -> String {
    let file = file.to_str().expect("a path of text");
    let format = format_of(&fs::read_to_string(file).unwrap_or_default());
    assert_eq!(
        format,
        Some(FORMAT),
        "{file}: `public-api` reads another format than this rustdoc writes; they rise together"
    );
    let reader = [
        "run",
        "--quiet",
        "--locked",
        "--package",
        "lifecycle-tidy",
        "--features",
        "reader",
        "--bin",
        "api-reader",
    ];
    cargo(&[&reader[..], &["--", file]].concat(), root(), &[])
}

/// Reads the last field of the file. Parsing all of it as JSON would take longer than the rest.
fn format_of(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once("\"format_version\":")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Returns the folder in which rustdoc wrote the JSON of every library of the workspace. Stable
/// Rust provides this only to users who acknowledge that it may change.
fn documented() -> PathBuf {
    let folder = TempDir::new().expect("a folder");
    let wrapper = folder.path().join("rustdoc");
    let rustdoc = Path::new(env!("CARGO")).with_file_name("rustdoc");
    // Build scripts see the variable too if Cargo has it, and half of all dependencies would be compiled anew.
    let script = format!(
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec '{}' \"$@\"\n",
        rustdoc.display()
    );
    fs::write(&wrapper, script).expect("it can be written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&wrapper, executable).expect("it is ours");
    let wrapper = wrapper.to_str().expect("a path of text");
    let variables = [
        ("RUSTDOC", wrapper),
        (
            "RUSTDOCFLAGS",
            "-Z unstable-options --output-format json --cap-lints allow",
        ),
    ];
    // Of the whole workspace, so that dependencies have the features that they have already.
    cargo(
        &[
            "doc",
            "--workspace",
            "--lib",
            "--no-deps",
            "--offline",
            "--locked",
        ],
        root(),
        &variables,
    );
    let metadata = cargo(
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
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo metadata is JSON");
    Path::new(metadata["target_directory"].as_str().expect("there is one")).join("doc")
}
