//! Tests that `docs/change.md` is true: its lifecycle and its lock are those that run, and each
//! edit gives exactly the findings below it. Also tests the findings of a lock in general. `BLESS=1
//! cargo test --workspace --test language change` rewrites the compiler messages for the edits.

use std::path::Path;

use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::{LockText, check, check_locked, is_behind, lock};

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/change.md");
const LODGE: &str = include_str!("../lifecycles/lodge.txt");
const LOCK: &str = include_str!("../lifecycles/lodge.lock");

fn block<'a>(text: &'a str, language: &str) -> (&'a str, &'a str) {
    let start = format!("```{language}\n");
    let (_, after) = text.split_once(&start).expect("there is a block");
    after.split_once("```\n").expect("the block ends")
}

fn against(text: &str, lock: &str) -> Vec<Diagnostic> {
    check_locked(body_of(text), &[], LockText::Read(lock.to_owned())).diagnostics
}

fn messages(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

/// The lodge with a text in the place of another.
fn edited(old: &str, new: &str) -> String {
    assert_eq!(LODGE.matches(old).count(), 1, "{old}");
    LODGE.replace(old, new)
}

#[track_caller]
fn assert_finding(found: &[Diagnostic], parts: &[&str]) {
    let has = |found: &Diagnostic| {
        let said = found.to_string();
        parts.iter().all(|part| said.contains(part))
    };
    assert!(found.iter().any(has), "{parts:?}\n{:#?}", messages(found));
}

#[test]
fn the_lodge_of_the_page_is_the_one_that_runs_with_its_lock() {
    assert_eq!(block(PAGE, "rust").0.trim_end(), LODGE.trim_end());
    assert_eq!(block(PAGE, "lock").0, LOCK);
    assert_eq!(messages(&against(LODGE, LOCK)), [""; 0]);
    let ast = check(body_of(LODGE)).ast.expect("it can be read");
    assert_eq!(lock::text(&ast), LOCK);
    let (path, _) = lock::named(&body_of(LODGE)).expect("it names its lock");
    assert_eq!(path, "lodge.lock");
}

#[test]
fn each_edit_gives_the_findings_that_are_shown() {
    let (mut now, mut rest, mut edits) = (String::new(), PAGE, 0);
    while let Some((before, _)) = rest.split_once("```diff\n") {
        let (diff, after) = block(rest, "diff");
        let lines = |mark| diff.lines().filter_map(move |line| line.strip_prefix(mark));
        let mut text = LODGE.to_owned();
        for (old, new) in lines('-').zip(lines('+')) {
            assert_eq!(text.matches(old.trim()).count(), 1, "{old}");
            text = text.replace(old.trim(), new.trim());
        }
        let found = messages(&against(&text, LOCK));
        assert!(!found.is_empty(), "{diff}");
        let found: Vec<String> = found.iter().map(|one| format!("error: {one}\n")).collect();
        let (_, end) = block(after, "text");
        now += &format!(
            "{before}```diff\n{diff}```\n\n```text\n{}```\n",
            found.concat()
        );
        rest = end;
        edits += 1;
    }
    now += rest;
    assert!(edits > 1, "{edits}");
    if std::env::var_os("BLESS").is_some() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/change.md");
        std::fs::write(page, &now).expect("the page is writable");
    } else {
        assert!(
            now == PAGE,
            "bless the page, and review the difference:\n{now}"
        );
    }
}

/// Tests that each line of the lock is reported as missing if the lifecycle loses its item.
#[test]
fn whatever_is_dropped_is_missed() {
    for (more, parts) in [
        ("finalizer", ["`finalizer`", "never ends", "`finalizer;`"]),
        (
            "state Old: Pending",
            [
                "`state Old`",
                "no longer find its name",
                "`state Old now Other;`",
            ],
        ),
        (
            "condition Old: Old",
            ["`condition Old`", "wait forever", "`condition Old;`"],
        ),
        ("field old", ["`field old`", "may stay", "`field old;`"]),
        (
            "record old: u32",
            ["`record old`", "forgotten", "`record old now other;`"],
        ),
        (
            "value disk.Full: held",
            [
                "`value disk.Full`",
                "is left behind",
                "`value disk.Full now Other;`",
            ],
        ),
        (
            "owned Secret by name spec.old",
            [
                "`owned Secret by name spec.old`",
                "no longer managed",
                "deleted;`",
            ],
        ),
        (
            "part Node by name spec.old",
            [
                "`part Node by name spec.old`",
                "no longer managed",
                "deleted;`",
            ],
        ),
    ] {
        let (lodge, lock) = match more {
            "finalizer" => (
                edited("        finalizer;\n", ""),
                LOCK.replace("retired finalizer\n", ""),
            ),
            _ => (LODGE.to_owned(), LOCK.to_owned()),
        };
        let found = against(&lodge, &format!("{lock}{more}\n"));
        assert_eq!(found.len(), 1, "{more}: {:#?}", messages(&found));
        assert_finding(&found, &["LC090"]);
        assert_finding(&found, &parts);
        assert!(!is_behind(&found[0]), "{more}");
        let item = more.split(": ").next().expect("it has an item");
        // Once `retired` declares it, only the lock has to be updated.
        let line = match item.split_once(' ') {
            Some(("owned" | "part", _)) => format!("gone: {item} deleted;"),
            Some(_) => format!("{item};"),
            None => continue,
        };
        let retired = edited("state Painting;", &format!("state Painting; {line}"));
        let found = against(&retired, &format!("{LOCK}{more}\n"));
        assert_eq!(found.len(), 1, "{more}: {:#?}", messages(&found));
        assert!(is_behind(&found[0]), "{more}: {:#?}", messages(&found));
    }
}

/// Tests that a lock without one of its lines is stale, for any line.
#[test]
fn whatever_is_new_is_to_be_locked() {
    let lines: Vec<&str> = LOCK.lines().filter(|line| !line.starts_with('#')).collect();
    for line in &lines {
        let lock: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|other| other != line)
            .collect();
        let found = against(LODGE, &lock.join("\n"));
        assert_eq!(found.len(), 1, "{line}: {:#?}", messages(&found));
        assert!(is_behind(&found[0]), "{line}");
    }
    let other = LOCK.replace("Open: Ready", "Open: Error");
    assert_finding(
        &against(LODGE, &other),
        &["`state Open` was `Error` and is `Ready`"],
    );
}

#[test]
fn a_lock_is_looked_at_where_nothing_else_is_found() {
    let broken = edited("=> Ready;", "=> Raedy;");
    let found = against(&broken, "");
    assert!(
        found.iter().all(|found| found.code != "LC090"),
        "{:#?}",
        messages(&found)
    );
    assert!(!found.is_empty());
}

#[test]
fn what_cannot_be_a_lock_is_said() {
    assert_finding(
        &against(LODGE, "<<<<<<< ours\n"),
        &["LC172", "line 1", "`<<<<<<< ours`"],
    );
    assert_finding(
        &against(LODGE, "resource Hut\n"),
        &["LC090", "the lock of `resource Hut`"],
    );
    let unreadable = LockText::Unreadable("no such file".to_owned());
    let found = check_locked(body_of(LODGE), &[], unreadable).diagnostics;
    assert_finding(
        &found,
        &["LC172", "no such file", "lifecycle-operator lock"],
    );
    // A caller that does not look up the file gets no finding about it.
    assert_eq!(messages(&check(body_of(LODGE)).diagnostics), [""; 0]);
}

#[test]
fn a_slip_in_retired_is_told_with_what_to_write() {
    let retired = |line: &str| check(body_of(&edited("state Painting;", line))).diagnostics;
    for (line, parts) in [
        ("stat Painting;", &["LC000", "`state`"][..]),
        ("value disk;", &["LC000"]),
        (
            "hut: owned ConfigMap by name spec.hut;",
            &["LC000", "`deleted`"],
        ),
        ("state Cutting;", &["LC171", "`state Cutting`"]),
        ("condition Cut;", &["LC171", "`condition Cut`"]),
        ("condition Signed;", &["LC171", "twice"]),
        ("record place;", &["LC171", "`record place`"]),
        ("old: owned Secret by name meta.name kept;", &["LC171"]),
        (
            "state Painting now Cuting;",
            &["LC173", "`Cuting`", "Cutting"],
        ),
        ("record number now plaec;", &["LC173", "`plaec`", "place"]),
        ("finalizer \"old\" now Cut;", &["LC173", "qualified"]),
        (
            "finalizer \"example.com/old\" now Cut;",
            &["LC173", "becomes nothing"],
        ),
        (
            "class: Class by name spec.class deleted;",
            &["LC173", "never wrote"],
        ),
        (
            "old: part Node by name spec.node released;",
            &["LC173", "`deleted`"],
        ),
        (
            "old: owned Node by name spec.node given place == Absent deleted;",
            &["LC173", "given"],
        ),
    ] {
        assert_finding(&retired(line), parts);
    }
    // Nothing reads a retired input.
    let read = edited("apply keys;", "apply keys from sign;");
    assert_finding(&check(body_of(&read)).diagnostics, &["LC060", "`sign`"]);
}
