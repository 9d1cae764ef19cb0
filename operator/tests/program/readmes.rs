//! READMEs of published packages: each says what it is, is run, and has only command lines that its
//! program takes.

mod run;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use clap::Parser;
use lifecycle_tidy::packages::manifests::{self, Package};
use lifecycle_tidy::packages::readmes::{command_lines, findings};

/// Each published package, with its README.
static PACKAGES: LazyLock<Vec<(Package, String)>> = LazyLock::new(|| {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version=1"])
        .args(["--offline", "--locked"])
        .output()
        .unwrap();
    let packages = manifests::read(&serde_json::from_slice(&metadata.stdout).unwrap()).unwrap();
    let published = packages.into_iter().filter(|one| one.is_published);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    published
        .map(|one| {
            let readme = fs::read_to_string(root.join(&one.folder).join("README.md"));
            (one, readme.unwrap_or_default())
        })
        .collect()
});

#[test]
fn every_readme_says_what_it_is_and_is_run() {
    let found: Vec<String> = PACKAGES
        .iter()
        .flat_map(|(package, readme)| findings(&package.name, readme))
        .collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
    let mut folders: Vec<&str> = PACKAGES
        .iter()
        .map(|(one, _)| one.folder.as_str())
        .collect();
    folders.sort_unstable();
    let mut run = run::RUN.to_vec();
    run.sort_unstable();
    assert_eq!(folders, run, "`readmes/run.rs` has a line for each README");
}

#[test]
fn command_lines_of_readmes_are_taken_by_their_programs() {
    let mut refused = Vec::new();
    let mut count = 0;
    for (package, readme) in PACKAGES.iter() {
        for words in command_lines(readme) {
            count += 1;
            let why = taken(&words).err();
            refused
                .extend(why.map(|why| format!("{}: `{}`: {why}", package.name, words.join(" "))));
        }
    }
    assert!(count > 10, "{count} command lines were found");
    assert!(refused.is_empty(), "\n{}\n", refused.join("\n"));
    let unknown = ["lifecycle-router", "--no-such-option"];
    assert!(taken(&unknown).is_err(), "the search proves nothing");
}

fn taken(words: &[&str]) -> Result<(), String> {
    match words {
        ["lifecycle-operator", ..] => parsed::<lifecycle_operator::args::Arguments>(words),
        ["lifecycle-router", ..] => parsed::<lifecycle_router::args::Arguments>(words),
        ["listener-operator", ..] => parsed::<lifecycle_listener::args::Arguments>(words),
        ["skupper-operator", ..] => parsed::<lifecycle_skupper::args::Arguments>(words),
        ["cargo", "install", "--locked", packages @ ..] => installed(packages),
        _ => Err("no program of ours is called so".to_owned()),
    }
}

fn parsed<A: Parser>(words: &[&str]) -> Result<(), String> {
    A::try_parse_from(words)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn installed(packages: &[&str]) -> Result<(), String> {
    let is_program = |name: &&str| {
        PACKAGES
            .iter()
            .any(|(one, _)| one.name == *name && one.is_program)
    };
    match packages.iter().find(|name| !is_program(name)) {
        Some(other) => Err(format!("{other} is no program that is published")),
        None => Ok(()),
    }
}
