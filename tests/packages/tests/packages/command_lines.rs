//! Every command line of a README is one that its program takes.

use std::fs;

use clap::Parser;
use lifecycle_packages::readmes::command_lines;

use super::{PACKAGES, none, root};

#[test]
fn command_lines_of_readmes_are_taken_by_their_programs() {
    let mut findings = Vec::new();
    let mut count = 0;
    for package in PACKAGES.iter().filter(|one| one.is_published) {
        let readme = fs::read_to_string(root().join(&package.folder).join("README.md"));
        let readme = readme.expect("there is a README");
        for words in command_lines(&readme) {
            count += 1;
            findings.extend(
                taken(&words)
                    .err()
                    .map(|why| format!("{}: `{}`: {why}", package.name, words.join(" "))),
            );
        }
    }
    assert!(count > 10, "{count} command lines were found");
    none(findings);
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
            .any(|one| one.name == *name && one.is_published && one.is_program)
    };
    match packages.iter().find(|name| !is_program(name)) {
        Some(other) => Err(format!("{other} is no program that is published")),
        None => Ok(()),
    }
}
