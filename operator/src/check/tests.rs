//! Tests of the command on real files: its output, and its verdict.

use serde_json::Value;

use super::*;
use crate::args::Output;

/// A lifecycle without a finding.
pub(super) const GOOD: &str = "
lifecycle! {
    resource Thing;
    observe { child: owned Child by name meta.name; }
    states {
        Taken when child == Foreign => Error wakes child;
        Making when child != Current => Pending;
        goal Made when child == Current => Ready;
    }
    effects { apply child; }
    transitions { Making -> Made; }
    status {
        condition Made {
            True when child == Current;
            False \"Taken\" when child == Foreign;
            Unknown \"Making\" otherwise;
        }
        ready from Made;
    }
}
";

pub(super) fn with_replacement(good: &str, bad: &str) -> String {
    assert!(GOOD.contains(good));
    GOOD.replacen(good, bad, 1)
}

pub(super) fn check_of(paths: Vec<PathBuf>, output: Output) -> args::Check {
    args::Check {
        paths,
        output,
        explain: None,
        fix: false,
        dry_run: false,
    }
}

/// Checks files of these contents, named `a.rs`, `b.rs`, ..; no content, no file.
fn run_on(contents: &[Option<&str>], output: Output) -> (Verdict, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let names = ('a'..='z').map(|letter| directory.path().join(format!("{letter}.rs")));
    let mut files = Vec::new();
    for (path, content) in names.zip(contents) {
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        files.push(path);
    }
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let verdict = run(&check_of(files, output), &mut out, &mut complaints).unwrap();
    let place = format!("{}/", directory.path().display());
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&place, "");
    (verdict, text(out), text(complaints))
}

#[test]
fn a_lifecycle_without_a_finding_is_clean() {
    let (verdict, out, complaints) = run_on(&[Some(GOOD)], Output::Text);
    assert_eq!(out, "checked 1 lifecycle in 1 file: 0 errors, 0 warnings\n");
    assert_eq!((verdict, complaints.as_str()), (Verdict::Clean, ""));
}

#[test]
fn an_error_shows_code_text_excerpt_and_help() {
    let bad = with_replacement(
        "Taken when child == Foreign => Error wakes child;",
        "Taken when chidl == Foreign => Error wakes child;",
    );
    let (verdict, out, _) = run_on(&[Some(&bad)], Output::Text);
    assert_eq!(verdict, Verdict::Errors);
    assert!(out.starts_with("error[LC001]: "), "{out}");
    assert!(out.contains("a.rs:6:20"), "{out}");
    assert!(
        out.contains("        Taken when chidl == Foreign => Error wakes child;"),
        "{out}"
    );
    assert!(out.contains("^^^^^"), "{out}");
    assert!(
        out.ends_with("checked 1 lifecycle in 1 file: 1 error, 0 warnings\n"),
        "{out}"
    );
}

#[test]
fn findings_of_all_files_come_in_order_and_places_are_those_of_each_file() {
    let shifted = format!(
        "// über\n\n{}",
        with_replacement("=> Pending", "=> Pendign")
    );
    let files = [Some(GOOD), Some(shifted.as_str()), Some(GOOD)];
    let (verdict, out, _) = run_on(&files, Output::Json);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (verdict, found.as_array().unwrap().len()),
        (Verdict::Errors, 1),
        "{out}"
    );
    assert_eq!(
        (&found[0]["file"], &found[0]["severity"]),
        (&"b.rs".into(), &"error".into())
    );
    let start = &found[0]["span"]["start"];
    assert_eq!(
        (start["line"].as_u64(), start["column"].as_u64()),
        (Some(9), Some(41)),
        "{out}"
    );
    let bytes =
        |end: &str| usize::try_from(found[0]["span"][end]["byte"].as_u64().unwrap()).unwrap();
    assert_eq!(&shifted[bytes("start")..bytes("end")], "Pendign");
}

#[test]
fn json_of_nothing_is_an_empty_array() {
    let (verdict, out, _) = run_on(&[Some(GOOD)], Output::Json);
    assert_eq!((verdict, out.as_str()), (Verdict::Clean, "[]\n"));
}

#[test]
fn an_unreadable_file_is_named_with_its_cause_and_the_others_are_checked() {
    let bad = with_replacement("=> Pending", "=> Pendign");
    let (verdict, out, complaints) = run_on(&[None, Some(&bad), Some("fn main( {}")], Output::Text);
    assert_eq!(verdict, Verdict::Unreadable);
    assert_eq!(
        complaints,
        "a.rs cannot be read: No such file or directory (os error 2)\n\
         for an explanation with a corrected example, run: lifecycle-operator check --explain LC000 (or LC050)\n"
    );
    assert!(out.contains("error[LC000]: this is no Rust"), "{out}");
    assert!(out.contains("c.rs:1:"), "{out}");
    assert!(
        out.ends_with("checked 1 lifecycle in 2 files: 2 errors, 0 warnings\n"),
        "{out}"
    );
}

/// Returns the only finding of `check` in one file, in the machine-readable output.
fn only_finding(content: Option<&str>) -> (Verdict, Value) {
    let (verdict, out, complaints) = run_on(&[content], Output::Json);
    let found: Value = serde_json::from_str(&out).unwrap();
    let [finding] = found.as_array().unwrap().as_slice() else {
        panic!("{out}");
    };
    assert_eq!(complaints, "", "programs read one stream");
    (verdict, finding.clone())
}

#[test]
fn brackets_that_do_not_match_are_an_error_at_their_place() {
    let unclosed = with_replacement("effects { apply child; }", "effects { apply child; ");
    let unopened = with_replacement("effects { apply child; }", "effects { apply child; ) }");
    let unquoted = with_replacement("\"Taken\"", "\"Taken");
    let keys = |finding: &Value| {
        let keys = finding.as_object().unwrap().keys();
        keys.cloned().collect::<Vec<_>>()
    };
    let (_, usual) = only_finding(Some(&with_replacement("=> Pending", "=> Pendign")));
    for (bad, line) in [(&unclosed, 2), (&unopened, 10), (&unquoted, 16)] {
        let (verdict, finding) = only_finding(Some(bad));
        assert_eq!(verdict, Verdict::Unreadable);
        assert_eq!(keys(&finding), keys(&usual));
        assert_eq!(finding["file"], "a.rs");
        assert_eq!(
            (&finding["code"], &finding["severity"]),
            (&"LC000".into(), &"error".into())
        );
        assert_eq!(finding["span"]["start"]["line"], line, "{finding}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_without_a_place() {
    let (verdict, finding) = only_finding(None);
    assert_eq!(verdict, Verdict::Unreadable);
    assert_eq!(
        (&finding["file"], &finding["span"]),
        (&"a.rs".into(), &Value::Null)
    );
    let message = "a.rs cannot be read: No such file or directory (os error 2)";
    assert_eq!(finding["message"], message);
}

#[test]
fn a_damaged_file_does_not_hide_what_is_wrong_with_others() {
    let bad = with_replacement("=> Pending", "=> Pendign");
    let (verdict, out, _) = run_on(&[Some("fn main( {}"), Some(&bad)], Output::Json);
    let found: Value = serde_json::from_str(&out).unwrap();
    let files: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["file"])
        .collect();
    assert_eq!(
        (verdict, files),
        (
            Verdict::Unreadable,
            vec![&Value::from("a.rs"), &"b.rs".into()]
        )
    );
}

#[test]
fn a_predicate_that_nests_too_deep_is_an_error_at_its_place() {
    for (open, close) in [("!", ""), ("(", ")"), ("!(", ")")] {
        let deep = format!(
            "{}child == Foreign{}",
            open.repeat(50_000),
            close.repeat(50_000)
        );
        let bad = with_replacement("child == Foreign => Error", &format!("{deep} => Error"));
        let (verdict, finding) = only_finding(Some(&bad));
        assert_eq!(verdict, Verdict::Errors);
        assert_eq!(finding["code"], "LC000");
        let start = &finding["span"]["start"];
        assert_eq!(
            (&start["line"], &start["column"]),
            (&6.into(), &(20 + 64).into())
        );
    }
}

#[test]
fn a_byte_order_mark_does_not_shift_places() {
    let bad = format!("\u{feff}{}", with_replacement("=> Pending", "=> Pendign"));
    let (_, out, _) = run_on(&[Some(&bad)], Output::Text);
    assert!(out.contains("a.rs:7:41"), "{out}");
}

/// A fragment that `GOOD` may use.
const SHARED: &str = "
fragment! {
    fragment named;
    observe { class: ConfigMap by name spec.class; }
    states { NoClass when !class => Error wakes class, self; }
    status { condition Classed { False \"NoClass\" when !class; True otherwise; } }
}
";

/// `GOOD` with it.
fn using() -> String {
    let good = with_replacement("resource Thing;", "resource Thing; use named;");
    let good = good.replace("goal Made", "use named;\n        goal Made");
    let good = good.replace("Making -> Made;", "Making -> Made | NoClass;");
    good.replace("ready from Made", "ready from Classed, Made")
}

#[test]
fn a_fragment_is_found_in_any_file_that_is_given() {
    let using = using();
    let (_, out, _) = run_on(&[Some(&using), Some(SHARED)], Output::Text);
    assert_eq!(
        out,
        "checked 1 lifecycle in 2 files: 0 errors, 0 warnings\n"
    );
    let (verdict, out, _) = run_on(&[Some(&using)], Output::Text);
    assert_eq!(verdict, Verdict::Errors);
    let missing = "no file that is checked declares fragment `named`";
    assert!(out.contains(missing), "{out}");
    let help = "check it together with the file that has `fragment! { fragment named; .. }`";
    assert!(out.contains(help), "{out}");
}

#[test]
fn what_is_found_in_a_fragment_is_told_in_its_file() {
    let shared = SHARED.replace("=> Error wakes class, self", "");
    let (verdict, out, _) = run_on(&[Some(&using()), Some(&shared)], Output::Text);
    assert_eq!(verdict, Verdict::Errors);
    assert!(out.contains("b.rs:5:14"), "{out}");
    assert!(!out.contains("a.rs:"), "{out}");
    let note = "in lifecycle `Thing`, which uses fragment `named`";
    assert!(out.contains(note), "{out}");
}

/// Runs `lock` on a file with a lock beside it. Returns the verdict, the output, and the content of
/// the lock.
fn locked(source: &str, lock: Option<&str>, check: bool) -> (Verdict, String, Option<String>) {
    let directory = tempfile::tempdir().unwrap();
    let (file, beside) = (
        directory.path().join("a.rs"),
        directory.path().join("thing.lock"),
    );
    std::fs::write(&file, source).unwrap();
    if let Some(text) = lock {
        std::fs::write(&beside, text).unwrap();
    }
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let options = args::Lock {
        paths: vec![file],
        check,
    };
    let verdict = super::lock(&options, &mut out, &mut complaints).unwrap();
    let place = format!("{}/", directory.path().display());
    let said = [out, complaints]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .concat();
    (
        verdict,
        said.replace(&place, ""),
        std::fs::read_to_string(beside).ok(),
    )
}

fn with_lock() -> String {
    with_replacement("resource Thing;", "resource Thing; lock \"thing.lock\";")
}

const LOCK: &str = "# What `Thing` leaves in a cluster. Written by `lifecycle-operator lock`, read by the compiler.
condition Made: Made Making Taken
condition Ready: Ready
owned Child by name meta.name
resource Thing
state Made: Ready
state Making: Pending
state Taken: Error
";

#[test]
fn a_lock_is_written_and_then_current() {
    let (verdict, said, lock) = locked(&with_lock(), None, false);
    assert_eq!(
        (verdict, said.as_str()),
        (Verdict::Clean, "thing.lock is written\n")
    );
    assert_eq!(lock.as_deref(), Some(LOCK));
    let (verdict, said, _) = locked(&with_lock(), Some(LOCK), false);
    assert_eq!(
        (verdict, said.as_str()),
        (Verdict::Clean, "thing.lock is current\n")
    );
    let (verdict, out, _) = run_on(&[Some(&with_lock())], Output::Text);
    assert_eq!(verdict, Verdict::Errors);
    assert!(
        out.contains("LC172") && out.contains("cannot be read"),
        "{out}"
    );
}

#[test]
fn a_lock_that_is_behind_is_written_unless_it_is_only_checked() {
    let behind = LOCK.replace("state Making: Pending\n", "");
    let (verdict, said, lock) = locked(&with_lock(), Some(&behind), true);
    assert_eq!(
        (verdict, said.as_str()),
        (Verdict::Errors, "thing.lock is behind\n")
    );
    assert_eq!(lock, Some(behind.clone()));
    let (verdict, _, lock) = locked(&with_lock(), Some(&behind), false);
    assert_eq!((verdict, lock.as_deref()), (Verdict::Clean, Some(LOCK)));
}

/// A concurrent reader of a lock, such as a build, sees either the old or the new content.
#[test]
fn a_lock_takes_the_place_of_the_one_before_as_a_whole() {
    use std::io::Read as _;

    let directory = tempfile::tempdir().unwrap();
    let [file, beside] = ["a.rs", "thing.lock"].map(|name| directory.path().join(name));
    let behind = LOCK.replace("state Making: Pending\n", "");
    std::fs::write(&file, with_lock()).unwrap();
    std::fs::write(&beside, &behind).unwrap();
    let mut open = std::fs::File::open(&beside).unwrap();
    let options = args::Lock {
        paths: vec![file],
        check: false,
    };
    super::lock(&options, &mut Vec::new(), &mut Vec::new()).unwrap();
    let mut read = String::new();
    open.read_to_string(&mut read).unwrap();
    assert_eq!(read, behind);
    assert_eq!(std::fs::read_to_string(&beside).unwrap(), LOCK);
}

#[test]
fn a_lock_loses_nothing_that_is_not_retired() {
    let before = LOCK.replace("resource", "record number: u32\nresource");
    let (verdict, said, lock) = locked(&with_lock(), Some(&before), false);
    assert_eq!(verdict, Verdict::Errors);
    assert!(
        said.contains("LC090") && said.contains("`record number;`"),
        "{said}"
    );
    assert_eq!(lock, Some(before.clone()));
    let retired = with_lock().replace("transitions", "retired { record number; } transitions");
    let (verdict, said, lock) = locked(&retired, Some(&before), false);
    assert_eq!(
        (verdict, said.as_str()),
        (Verdict::Clean, "thing.lock is written\n")
    );
    assert!(lock.unwrap().contains("\nretired record number\n"));
}

#[test]
fn what_has_no_lock_and_what_is_no_lock_is_said() {
    let (verdict, said, _) = locked(GOOD, None, false);
    assert_eq!(verdict, Verdict::Errors);
    assert!(
        said.contains("no lifecycle of these files has a lock"),
        "{said}"
    );
    let (verdict, said, _) = locked(&with_lock(), Some("<<<<<<< ours\n"), false);
    assert_eq!(verdict, Verdict::Errors);
    assert!(said.contains("LC172") && said.contains("line 1"), "{said}");
}
