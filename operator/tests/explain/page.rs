//! `docs/explain.md`, `docs/plan.md` and `docs/replay.md`: every command on them is run, in the
//! order of the page, and prints the text below it. `BLESS=1` rewrites that text.

use std::fs;
use std::time::Duration;

use lifecycle_tests::harness::{Case, Need, blocking};

use crate::sandbox::{Sandbox, root};

/// Time for which a watching command is left running.
const WATCHED: Duration = Duration::from_secs(4);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        blocking(
            "every_command_of_the_page_on_explain_prints_what_stands_there",
            &[Need::Binaries],
            || every_command_prints_what_stands_there("docs/explain.md", 6),
        ),
        blocking(
            "every_command_of_the_page_on_plan_prints_what_stands_there",
            &[Need::Binaries],
            || every_command_prints_what_stands_there("docs/plan.md", 4),
        ),
        blocking(
            "every_command_of_the_page_on_replay_prints_what_stands_there",
            &[Need::Binaries],
            || every_command_prints_what_stands_there("docs/replay.md", 6),
        ),
    ]
}

fn every_command_prints_what_stands_there(page: &str, least: usize) {
    let file = root().join(page);
    let page = fs::read_to_string(&file).unwrap();
    let starts = page
        .lines()
        .find_map(|line| line.strip_prefix("lifecycle-operator sandbox "));
    let manifests: Vec<&str> = starts.unwrap().split_whitespace().collect();
    let sandbox = Sandbox::start(&manifests);
    let mut written = String::new();
    let mut ran = 0;
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("```sh\n") {
        let (commands, after) = after.split_once("```\n").unwrap();
        written += &format!("{before}```sh\n{commands}```\n");
        rest = after;
        let mut printed = String::new();
        for line in commands.lines() {
            // The sandbox runs already.
            if line.contains(" sandbox ") || line.starts_with("export ") {
                continue;
            }
            ran += 1;
            printed += &match line.contains("--watch") {
                true => sandbox.prints_within(line, WATCHED),
                false => sandbox.prints(line),
            };
        }
        if let Some(shown) = rest.strip_prefix("\n```text\n") {
            let (_, after) = shown.split_once("```\n").unwrap();
            rest = after;
            written += &format!("\n```text\n{}```\n", neutral(&printed));
        }
    }
    written += rest;
    assert!(ran >= least, "the commands were not found");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, &written).unwrap();
    }
    let page = fs::read_to_string(&file).unwrap();
    assert!(
        page == written,
        "run this test once with BLESS=1 and look at what it changes; it should be:\n{written}"
    );
}

/// Removes the parts that differ in each run: times and ages.
fn neutral(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = timeless(line);
        let Some((before, after)) = line.split_once(" (since ") else {
            let seconds = line.trim_start().starts_with("\"seconds\": ");
            return match seconds {
                true => line.replace(|c: char| c.is_ascii_digit(), "") + "180",
                false => line,
            };
        };
        match before.rsplit_once(" for ") {
            Some((what, _)) => format!("{what} for 3 min (since {after}"),
            None => line.clone(),
        }
    });
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

fn timeless(line: &str) -> String {
    let shape = "dddd-dd-ddTdd:dd:ddZ";
    let is_time = |at: usize| {
        let part = line.get(at..at + shape.len());
        part.is_some_and(|part| {
            part.chars()
                .zip(shape.chars())
                .all(|(c, wanted)| match wanted {
                    'd' => c.is_ascii_digit(),
                    other => c == other,
                })
        })
    };
    let Some(at) = (0..line.len()).find(|at| is_time(*at)) else {
        return line.to_owned();
    };
    let end = at + shape.len();
    format!(
        "{}2026-11-25T10:31:07Z{}",
        &line[..at],
        timeless(&line[end..])
    )
}
