//! What `docs/once.md` shows is true: its lifecycle is the one that runs, and each edit of it gives the findings that stand below.

use lifecycle_macros_core::errors::Severity;
use lifecycle_macros_core::{check, check_fragment};

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/once.md");
const APP: &str = include_str!("../lifecycles/app.txt");

/// The blocks of a language, each with what follows it.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<(&'a str, &'a str)> {
    let start = format!("```{language}\n");
    let mut rest = text;
    let mut all = Vec::new();
    while let Some((_, after)) = rest.split_once(&start) {
        let (block, after) = after.split_once("```\n").expect("the block ends");
        all.push((block, after));
        rest = after;
    }
    all
}

/// Each finding as the page shows it.
fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    found
        .iter()
        .map(|found| format!("{}: {found}\n", word(found.severity)))
        .collect()
}

/// The App with lines in the place of others: each `-` with the `+` that follow it.
fn edited(diff: &str) -> String {
    let mut text = APP.to_owned();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let old = line.strip_prefix('-').expect("a line goes first");
        let mut new = String::new();
        while let Some(more) = lines.next_if(|line| line.starts_with('+')) {
            new += &format!("{}\n", &more[1..]);
        }
        let old = format!("{old}\n");
        assert_eq!(text.matches(&old).count(), 1, "{old}");
        text = text.replace(&old, &new);
    }
    text
}

#[test]
fn the_app_of_the_page_is_the_one_that_runs() {
    assert_eq!(blocks(PAGE, "rust")[0].0.trim_end(), APP.trim_end());
    assert_eq!(found(APP), [""; 0]);
}

#[test]
fn each_edit_gives_the_finding_that_is_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(!edits.is_empty());
    for (diff, after) in edits {
        let shown = blocks(after, "text")[0].0;
        let said = found(&edited(diff));
        assert!(said.iter().any(|one| one == shown), "{diff}\n{said:#?}");
    }
}

/// The tables of verdicts have the words that may be asked for, and no others.
#[test]
fn the_tables_have_every_verdict() {
    let listed = |head: &str| {
        let (_, table) = PAGE.split_once(head).expect("there is a table");
        let rows = table.lines().skip(1);
        let rows = rows.take_while(|line| line.starts_with("| `"));
        let words = rows.filter_map(|line| line.split('`').nth(1));
        words.collect::<Vec<_>>()
    };
    let values = |text: &str, input: &str| {
        let model = check(body_of(text)).model.expect("it resolves");
        let mut vars = model.vars.into_iter();
        let var = vars.find(|var| var.name == input);
        let mut values = var.expect("it has a verdict").values;
        values.sort();
        values
    };
    let sorted = |mut words: Vec<&str>| {
        words.sort_unstable();
        words.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let one = listed("| of one object | |\n");
    assert_eq!(sorted(one), values(APP, "migration"));
    let set = listed("| of a set: the first that is true of any member | |\n");
    let passes = include_str!("../../../../tests/ui/rules/misplaced_create/passes.rs");
    let begin = passes.find("lifecycle! {").expect("a lifecycle");
    let end = passes.find("\n}\n").expect("it ends") + 2;
    assert_eq!(sorted(set), values(&passes[begin..end], "jobs"));
}

fn says(found: &[String], parts: &[&str]) {
    let has = |found: &String| parts.iter().all(|part| found.contains(part));
    assert!(found.iter().any(has), "{parts:?}\n{found:#?}");
}

#[test]
fn a_slip_in_the_line_of_a_record_is_told_with_what_to_write() {
    const LINE: &str = "made:       record of migration;";
    let with = |line: &str| found(&APP.replace(LINE, line));
    says(
        &with("made: record of migraton;"),
        &["LC001", "`migration`"],
    );
    says(
        &with("made: record of migration by meta.name;"),
        &["LC005", "write `made: record of migration;`"],
    );
    says(
        &with("made: record of migration; more: record of migration;"),
        &["LC156", "second record"],
    );
}

#[test]
fn what_is_only_looked_at_sometimes_is_noted_only_then() {
    let given = APP.replace(
        "migration:  owned Job        by ref;",
        "migration:  owned Job by ref given done != Current;",
    );
    let said = found(&given);
    assert!(!said.iter().any(|one| one.contains("LC024")), "{said:#?}");
}

#[test]
fn a_fragment_may_observe_what_the_lifecycle_creates() {
    let with = "fragment jobs; observe { job: owned Job by name meta.name; made: record of job; }";
    let alone = check_fragment(with.parse().expect("tokens")).diagnostics;
    let alone: Vec<String> = alone.iter().map(ToString::to_string).collect();
    says(&alone, &["LC156", "leave the record out"]);
    let fragment = "fragment jobs; observe { job: owned Job by name meta.name; }";
    let body = "resource Thing; use jobs;
        observe { made: record of job; }
        states {
            Taken when job == Foreign => Error wakes job, self;
            Making when job in { Absent, New } => Pending;
            goal Ready when job in { Made, Terminating, Gone } => Ready;
        }
        effects { create job; }";
    let checked = lifecycle_macros_core::check_with(
        body.parse().expect("tokens"),
        &[fragment.parse().expect("tokens")],
    );
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let model = checked.model.expect("it resolves");
    assert_eq!(model.effects[0].name.to_string(), "note_job");
}

#[test]
fn two_that_are_created_under_one_name_are_one() {
    let both = "lifecycle! {
        resource Thing;
        observe {
            first: owned Job by name meta.name; made: record of first;
            second: owned Job by name meta.name; too: record of second;
        }
        states {
            Taken when any(first, second) == Foreign => Error wakes first, second, self;
            Making when any(first, second) in { Absent, New } => Pending;
            goal Ready when all(first, second) in { Made, Terminating, Gone } => Ready;
        }
        effects { create first; create second; }
    }\n";
    says(
        &found(both),
        &["LC168", "`first` and `second` are one object", "never made"],
    );
    let two = both.replace(
        "second: owned Job by name meta.name",
        "second: owned Job by ref",
    );
    assert_eq!(found(&two), [""; 0]);
}
