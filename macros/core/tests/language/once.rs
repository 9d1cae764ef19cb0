//! Tests that `docs/once.md` is true: its lifecycle is the one that runs, and each edit of it gives
//! the findings below it.

use lifecycle_macros_core::{check, check_fragment};

use super::page::{assert_finding, blocks, render_findings};
use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/once.md");
const APP: &str = include_str!("../lifecycles/app.txt");

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
    assert_eq!(render_findings(APP), [""; 0]);
}

#[test]
fn each_edit_gives_the_finding_that_is_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(!edits.is_empty());
    for (diff, after) in edits {
        let told = blocks(after, "text")[0].0;
        let mut found = render_findings(&edited(diff));
        // Which edges change with it is left out on the page.
        found.retain(|one| !one.contains("LC030"));
        assert_eq!(found.join("\n"), told, "{diff}");
    }
}

/// Tests that the tables of verdicts list exactly the words that a predicate may query.
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

#[test]
fn a_slip_in_the_line_of_a_record_is_told_with_what_to_write() {
    const LINE: &str = "made:       record of migration;";
    let with = |line: &str| render_findings(&APP.replace(LINE, line));
    assert_finding(
        &with("made: record of migraton;"),
        &["LC001", "`migration`"],
    );
    assert_finding(
        &with("made: record of migration by meta.name;"),
        &["LC005", "write `made: record of migration;`"],
    );
    assert_finding(
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
    let said = render_findings(&given);
    assert!(!said.iter().any(|one| one.contains("LC024")), "{said:#?}");
}

#[test]
fn a_fragment_may_observe_what_the_lifecycle_creates() {
    let with = "fragment jobs; observe { job: owned Job by name meta.name; made: record of job; }";
    let alone = check_fragment(with.parse().expect("tokens")).diagnostics;
    let alone: Vec<String> = alone.iter().map(ToString::to_string).collect();
    assert_finding(&alone, &["LC156", "leave the record out"]);
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
    assert_finding(
        &render_findings(both),
        &["LC168", "`first` and `second` are one object", "never made"],
    );
    let two = both.replace(
        "second: owned Job by name meta.name",
        "second: owned Job by ref",
    );
    assert_eq!(render_findings(&two), [""; 0]);
}
