//! Failures around the operator of Listeners: edits by users, refusals by the cluster, and
//! processes that stop.

mod enforced;
mod fire;
mod input;
mod leaders;
mod overrides;
mod permission;
mod quiet;
mod refusals;
mod server;
mod silence;
mod start;
mod stop;
mod way;

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use lifecycle_tests::audit::{Cost, Log};
use lifecycle_tests::harness::{Case, Need};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        fire::cases(),
        enforced::cases(),
        input::cases(),
        leaders::cases(),
        overrides::cases(),
        permission::cases(),
        quiet::cases(),
        refusals::cases(),
        server::cases(),
        silence::cases(),
        start::cases(),
        stop::cases(),
    ];
    cases.into_iter().flatten().collect()
}

/// The warnings and errors of a log that was written under this level, each without its time.
///
/// # Errors
/// A line is no line of its own, or more than `most` of them were written.
fn warnings(log: &str, most: usize) -> Result<Vec<&str>> {
    let broken = log.lines().find(|line| !line.starts_with("20"));
    ensure!(broken.is_none(), "not a line of its own: {broken:?}");
    let words = [" WARN ", " ERROR "];
    let told: Vec<&str> = log
        .lines()
        .filter(|line| words.iter().any(|word| line.contains(word)))
        .filter_map(|line| line.split_once("Z ").map(|(_, rest)| rest.trim()))
        .collect();
    ensure!(told.len() <= most, "more than {most} warnings: {told:#?}");
    Ok(told)
}

/// Checks that no warning is repeated.
fn once_each(warnings: &[&str]) -> Result<()> {
    let different: BTreeSet<_> = warnings.iter().collect();
    ensure!(
        different.len() == warnings.len(),
        "said again: {warnings:#?}"
    );
    Ok(())
}

/// The writes of a resource by the name of the object.
fn writes_to<'a>(log: &'a Log, resource: &'a str, name: &'a str) -> Log {
    log.only(|e| e.resource == resource && e.name == name && e.cost() == Cost::Write)
}
