//! Checks `docs/mistakes.md`: each of its lifecycles is rejected with the message that stands below
//! it. With its correction applied, it is accepted without a finding. `BLESS=1 cargo test
//! --workspace --test program mistakes` writes the messages anew; review the difference like code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mistake from the page: the Rust code that makes it, the compiler's message, and the lines that
/// fix it.
struct Mistake<'a> {
    title: &'a str,
    thread: &'a str,
    rust: &'a str,
    said: &'a str,
    diff: &'a str,
}

/// Returns the fixture in `tests/ui/rules` that pins the rustc message.
fn fixture(said: &str) -> Option<PathBuf> {
    let (_, rest) = said.split_once("--> rules/")?;
    let (rule, _) = rest.split_once('/')?;
    Some(root().join("tests/ui/rules").join(rule))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/mistakes.md")).unwrap()
}

/// Returns the text between the first occurrence of `start` and the next occurrence of `end`.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no `{start}` in:\n{text}"));
    rest.split_once(end)
        .unwrap_or_else(|| panic!("no `{end}` in:\n{rest}"))
        .0
}

fn mistakes(page: &str) -> Vec<Mistake<'_>> {
    let entries = page.split("\n### ").skip(1);
    let block = |entry, language: &str| between(entry, &format!("```{language}\n"), "```\n");
    entries
        .map(|entry| Mistake {
            title: entry.lines().next().unwrap(),
            thread: between(entry, "](https://github.com/", ")"),
            rust: block(entry, "rust"),
            said: block(entry, "text"),
            diff: block(entry, "diff"),
        })
        .collect()
}

/// Returns the output of `check` for a text, without the summary line, and whether it found
/// anything.
fn check(folder: &Path, text: &str) -> (String, bool) {
    fs::write(folder.join("mistake.rs"), text).unwrap();
    let checked = Command::new(env!("CARGO_BIN_EXE_lifecycle-operator"))
        .args(["check", "mistake.rs"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    let (words, count) = said.rsplit_once("checked 1 lifecycle in 1 file: ").unwrap();
    assert_eq!(
        checked.status.success(),
        count.starts_with("0 errors"),
        "{said}"
    );
    (
        format!("{}\n", words.trim_end()),
        count != "0 errors, 0 warnings\n",
    )
}

/// The text with the lines of a diff taken away, and those that follow each put in its place.
fn mended(mistake: &Mistake<'_>) -> String {
    let mut lines: Vec<&str> = mistake.rust.lines().collect();
    let mut place = None;
    for line in mistake.diff.lines() {
        let (mark, line) = line.split_at(1);
        let at = match mark {
            "-" => {
                let found = lines.iter().position(|one| *one == line);
                let at = found.unwrap_or_else(|| panic!("{}: no line {line}", mistake.title));
                lines.remove(at);
                at
            }
            _ => {
                let at = place.expect("a line is taken away first");
                lines.insert(at, line);
                at + 1
            }
        };
        place = Some(at);
    }
    lines.join("\n")
}

#[test]
fn each_is_refused_in_the_words_that_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let page = page();
    let mut written = page.clone();
    for mistake in mistakes(&page) {
        if fixture(mistake.said).is_some() {
            continue;
        }
        let (said, _) = check(folder.path(), mistake.rust);
        assert!(said.starts_with("error"), "{}: {said}", mistake.title);
        written = written.replace(
            &format!("{}```\n```text\n{}", mistake.rust, mistake.said),
            &format!("{}```\n```text\n{said}", mistake.rust),
        );
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(root().join("docs/mistakes.md"), &written).unwrap();
    }
    let shown = self::page();
    assert_eq!(
        shown, written,
        "run this test with BLESS=1 and look at what it changes"
    );
}

#[test]
fn each_is_accepted_once_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    for mistake in mistakes(&page()) {
        if fixture(mistake.said).is_some() {
            continue;
        }
        let (said, found) = check(folder.path(), &mended(&mistake));
        assert!(!found, "{}: {said}", mistake.title);
    }
}

/// `tests/ui` compiles both fixtures. This test only checks that they match the page.
#[test]
fn what_rustc_says_is_what_its_fixture_pins() {
    let mut found = 0;
    for mistake in mistakes(&page()) {
        let Some(folder) = fixture(mistake.said) else {
            continue;
        };
        found += 1;
        let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let has = |text: &str, line: &str| text.lines().any(|one| one.trim() == line.trim());
        let (fails, passes) = (file("fails.rs"), file("passes.rs"));
        assert!(
            file("fails.stderr").contains(mistake.said.trim_end()),
            "{}",
            mistake.title
        );
        for line in mistake.rust.lines() {
            assert!(has(&fails, line), "{}: {line}", mistake.title);
        }
        for line in mended(&mistake).lines() {
            assert!(has(&passes, line), "{}: {line}", mistake.title);
        }
    }
    assert!((1..=4).contains(&found), "{found} are rustc's");
}

#[test]
fn there_are_thirty_each_from_a_thread_of_its_own() {
    let page = page();
    let mistakes = mistakes(&page);
    assert!(mistakes.len() >= 30, "{}", mistakes.len());
    let threads: BTreeSet<&str> = mistakes.iter().map(|mistake| mistake.thread).collect();
    assert_eq!(threads.len(), mistakes.len());
    assert_eq!(
        between(&page, "This page collects ", " mistakes "),
        mistakes.len().to_string()
    );
}
