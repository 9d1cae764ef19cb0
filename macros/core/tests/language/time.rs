//! Tests that `docs/time.md` is true. Its lifecycle passes without a finding, and each edit of it
//! gives exactly the findings listed below.

use super::page::{assert_finding, blocks, found, render_findings};

const PAGE: &str = include_str!("../../../../docs/time.md");

fn example() -> &'static str {
    blocks(PAGE, "rust")[0].0
}

/// The lifecycle with a line in the place of another, or first among the facts.
fn edited(diff: &str) -> String {
    let lines = |mark: char| {
        let lines = diff.lines().filter_map(move |line| line.strip_prefix(mark));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (old, new) = (lines('-'), lines('+'));
    let old = if old.is_empty() {
        "    facts {\n"
    } else {
        &old
    };
    assert_eq!(example().matches(old).count(), 1, "{old}");
    let new = match diff.starts_with('-') {
        true => new,
        false => format!("{old}{new}"),
    };
    example().replace(old, &new)
}

#[test]
fn the_preview_of_the_page_is_the_one_that_runs() {
    let text = include_str!("../lifecycles/preview.txt");
    let (_, text) = text.split_once('\n').expect("a comment comes first");
    assert_eq!(example().trim_end(), text.trim_end());
    assert_eq!(found(example()), [""; 0]);
}

#[test]
fn each_edit_gives_the_findings_that_are_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(edits.len() >= 3, "{}", edits.len());
    for (diff, after) in edits {
        let shown = blocks(after, "text")[0].0;
        assert_eq!(render_findings(&edited(diff)).concat(), shown, "{diff}");
    }
}

/// Returns the findings of a lifecycle with another line for its clock.
fn with_clock(line: &str) -> Vec<String> {
    let old = "now:  clock;";
    assert_eq!(example().matches(old).count(), 1);
    found(&example().replace(old, line))
}

#[test]
fn a_slip_in_the_line_of_a_clock_is_told_with_what_to_write() {
    let meant = [
        "LC005",
        "`now` does not declare how it is found",
        "write `now: clock;`",
    ];
    for slip in ["now: Clock;", "now: clok;", "now: Timestamp;", "now: time;"] {
        assert_finding(&with_clock(slip), &meant);
    }
    let more = ["LC005", "takes no clauses", "write `now: clock;`"];
    for slip in [
        "now: clock every 1s;",
        "now: clock by meta.uid;",
        "now: clock given page;",
    ] {
        assert_finding(&with_clock(slip), &more);
    }
    assert_finding(&with_clock("now: clock Timestamp;"), &["LC000"]);
    let twice = with_clock("now: clock; later: clock;");
    assert_finding(
        &twice,
        &["LC005", "`later` is a second clock", "read `now`"],
    );
}

#[test]
fn a_clock_is_asked_through_a_fact() {
    let asked = example().replace("when over && page", "when now && page");
    assert_finding(
        &found(&asked),
        &["LC001", "`now`", "declare a fact `from` it"],
    );
    let written = example().replace("delete page when over;", "delete now when over;");
    assert_finding(&found(&written), &["LC070", "the time cannot be set"]);
}

#[test]
fn a_clock_that_nothing_reads_is_told() {
    let text = example().replace("from self, now;", "from self;");
    let text = text.replace("wakes self, now", "wakes self");
    assert_finding(
        &found(&text),
        &["LC064", "nothing reads it", "declare a fact `from now`"],
    );
}

#[test]
fn a_module_may_be_called_clock() {
    let text = example().replace(
        "now:  clock;",
        "now:  clock; what: clock::Reading by name meta.name;",
    );
    assert_finding(
        &found(&text),
        &["LC064", "`what` is watched but nothing reads it"],
    );
    assert_eq!(found(&text).len(), 1, "{:#?}", found(&text));
}

/// Without the `wakes now` of a state that only time ends, it is a dead end, and the help names the clock.
#[test]
fn where_only_time_helps_it_has_to_be_named() {
    let text = example().replace(" => Pending wakes self, now;", " => Pending;");
    assert_finding(&found(&text), &["LC021", "`Shut`", "wakes now, page, self"]);
}

#[test]
fn a_volume_has_no_clock() {
    let text = include_str!("../lifecycles/provision.txt");
    let text = text.replacen("observe {", "observe { now: clock;", 1);
    assert_finding(&found(&text), &["LC005", "a call happens when it is made"]);
}

#[test]
fn the_cron_line_of_the_page_is_the_one_that_runs() {
    let shown = blocks(PAGE, "rust").into_iter().map(|(block, _)| block);
    let shown = shown
        .filter(|block| block.contains("cron"))
        .collect::<String>();
    let squeezed = |text: &str| {
        text.chars()
            .filter(|c| !c.is_whitespace() && *c != ',')
            .collect::<String>()
    };
    let runs = squeezed(include_str!("../../../../tests/src/lifecycles/schedule.rs"));
    assert!(shown.contains("cron.due(made, now)"));
    assert!(runs.contains(&squeezed(&shown)));
}

const SAID: &str = "lifecycle! {
    resource Canary;
    observe { plan: poll Turn by meta.uid every 5min; }
    facts { turn: { Running, Over } from plan given plan; }
    states {
        Unseen when !plan => Pending overdue 1min;
        Stepping when turn == Running => Pending overdue 15min;
        goal Done when turn == Over => Ready;
    }
    promises { elapses: turn == Running sets { turn = Over }; }
}";

/// Returns the findings after a change of the interval and of the time of `Stepping`.
fn canary_findings(every: &str, overdue: &str) -> Vec<String> {
    let text = SAID.replace("every 5min", every);
    found(&text.replace("overdue 15min", overdue))
}

#[test]
fn what_the_page_says_of_times_that_objects_say_is_found() {
    let shown = |code: &str| {
        let (_, after) = PAGE.split_once(&format!("error: {code}")).unwrap();
        let (text, _) = after.split_once("\n```").unwrap();
        format!("{code}{text}")
    };
    let remote = SAID.replace("plan", "remote");
    let every = "every spec.interval else 1min";
    assert_eq!(
        found(&remote.replace("every 5min", every)),
        [shown("LC103")]
    );
    assert_eq!(
        canary_findings("every 5min", "overdue 1min"),
        [shown("LC104")]
    );
}

#[test]
fn a_state_leaves_time_for_the_poll_that_ends_it() {
    let table = [
        ("every 5min", "overdue 5min", true),
        ("every 5min", "overdue 4min", false),
        ("every 5min", "", true),
        ("every 11min", "", false),
        ("every spec.a else 1min min 10s", "overdue 1min", true),
        ("every spec.a else 1min min 10s", "overdue 59s", false),
        (
            "every spec.a else 1min min 10s",
            "overdue spec.b else 1min min 10s",
            true,
        ),
        (
            "every spec.a else 1min min 10s",
            "overdue spec.b else 1min min 9s",
            false,
        ),
        (
            "every spec.a else 1min min 10s",
            "overdue spec.b else 1min",
            false,
        ),
        ("every 1min", "overdue spec.b else 5min min 1min", true),
    ];
    for (every, overdue, fits) in table {
        let found = canary_findings(every, overdue);
        let codes: Vec<&str> = found.iter().map(|found| &found[..5]).collect();
        let expected: &[&str] = if fits { &[] } else { &["LC104"] };
        assert_eq!(codes, expected, "{every} {overdue} {found:#?}");
    }
}

#[test]
fn a_time_that_the_object_does_not_say_is_told_with_what_to_write() {
    let form = [
        "LC005",
        "not a duration of the object",
        "every spec.interval else 30s min 5s",
    ];
    assert_finding(
        &canary_findings("every plan.interval else 1min min 1s", ""),
        &form,
    );
    assert_finding(&canary_findings("every spec else 1min min 1s", ""), &form);
    assert_finding(
        &canary_findings("every 5min", "overdue turn.much else 15min"),
        &["LC005", "state `Stepping`", "overdue spec.interval"],
    );
    assert_finding(
        &canary_findings("every spec.interval", ""),
        &["LC000", "`else 30s`"],
    );
    assert_finding(
        &canary_findings("every spec.interval else soon", ""),
        &["LC000", "a time such as"],
    );
    assert_finding(
        &canary_findings("every spec.interval else 1s min 5s", ""),
        &["LC103", "`else 1s` is below its own `min 5s`"],
    );
    let volume = include_str!("../lifecycles/volume.txt");
    let probe = "probe Tree              by request.target_path";
    assert!(volume.contains(probe));
    let every = format!("{probe} every spec.a else 1min min 1s");
    assert_finding(
        &found(&volume.replace(probe, &every)),
        &["LC005", "a volume has no object"],
    );
}
