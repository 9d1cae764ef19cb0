//! Tests of the fixes in real files, and that nothing else in them changes.

use std::path::{Path, PathBuf};

use super::*;
use crate::args::{self, Output};
use crate::check::tests::{GOOD, check_of, with_replacement};
use crate::check::{Verdict, run};

/// Fixes one file of this content. Returns its new content, the verdict, and the output of both
/// streams.
fn fix_in(content: &str, dry_run: bool) -> (String, Verdict, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.rs");
    std::fs::write(&path, content).unwrap();
    let options = args::Check {
        fix: true,
        dry_run,
        ..check_of(vec![path.clone()], Output::Text)
    };
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let verdict = run(&options, &mut out, &mut complaints).unwrap();
    let place = format!("{}/", directory.path().display());
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&place, "");
    let after = std::fs::read_to_string(&path).unwrap();
    (after, verdict, text(out), text(complaints))
}

const CLEAN: &str = "checked 1 lifecycle in 1 file: 0 errors, 0 warnings\n";

#[test]
fn the_section_of_transitions_is_written_as_deep_as_it_stood() {
    let bad = with_replacement(
        "transitions { Making -> Made; }",
        "transitions {}\n    // kept",
    );
    let (after, verdict, out, complaints) = fix_in(&bad, false);
    let good = "transitions {\n        Making -> Made;\n    }\n    // kept";
    assert_eq!(
        after,
        with_replacement("transitions { Making -> Made; }", good)
    );
    assert_eq!((verdict, out.as_str()), (Verdict::Clean, CLEAN));
    assert_eq!(complaints, "a.rs: fixed LC030\n");
}

#[test]
fn a_section_with_comments_keeps_them_and_gets_what_it_lacks() {
    let bad = "transitions {\n        // from the start\n        Made -> Making; // never\n    }";
    let bad = with_replacement("transitions { Making -> Made; }", bad);
    let (after, verdict, out, _) = fix_in(&bad, false);
    let more = "Made -> Making; // never\n        Making -> Made;\n    }";
    assert_eq!(after, bad.replace("Made -> Making; // never\n    }", more));
    assert_eq!(verdict, Verdict::Errors);
    assert!(
        out.starts_with("error[LC031]: nothing causes `Made -> Making`"),
        "{out}"
    );
}

#[test]
fn a_name_is_written_as_it_was_meant_wherever_it_stands_and_what_then_shows_is_fixed_too() {
    let bad = GOOD.replace("child == Foreign", "chidl == Foreign");
    let bad = bad.replace("transitions { Making -> Made; }", "transitions {}");
    let (after, verdict, out, complaints) = fix_in(&bad, false);
    let good = "transitions {\n        Making -> Made;\n    }";
    assert_eq!(
        after,
        with_replacement("transitions { Making -> Made; }", good)
    );
    assert_eq!((verdict, out.as_str()), (Verdict::Clean, CLEAN));
    assert_eq!(complaints, "a.rs: fixed LC001, LC001, LC030\n");
}

#[test]
fn a_dry_run_shows_a_diff_and_writes_nothing() {
    let bad = with_replacement("transitions { Making -> Made; }", "transitions {}");
    let (after, verdict, out, complaints) = fix_in(&bad, true);
    assert_eq!(after, bad);
    assert_eq!((verdict, complaints.as_str()), (Verdict::Errors, ""));
    let diff = "--- a.rs\n+++ a.rs\n@@ -8,7 +8,9 @@\n         goal Made when child == Current => Ready;\n     }\n     effects { apply child; }\n\
                -    transitions {}\n+    transitions {\n+        Making -> Made;\n+    }\n     status {\n         condition Made {\n             True when child == Current;\n";
    assert_eq!(out, format!("{diff}{CLEAN}"));
}

#[test]
fn line_ends_and_a_byte_order_mark_stay() {
    let bad =
        with_replacement("transitions { Making -> Made; }", "transitions {}").replace('\n', "\r\n");
    let (after, verdict, ..) = fix_in(&format!("\u{feff}{bad}"), false);
    let good = bad.replace(
        "transitions {}",
        "transitions {\r\n        Making -> Made;\r\n    }",
    );
    assert_eq!(after, format!("\u{feff}{good}"));
    assert_eq!(verdict, Verdict::Clean);
}

#[test]
fn what_cannot_be_fixed_is_left_to_the_byte() {
    for (good, bad) in [
        (
            "goal Made when child == Current => Ready;",
            "goal Made when child == Current => Ready",
        ),
        ("when child == Foreign =>", "when xyzzy == Foreign =>"),
        ("resource Thing;", "resource Thing; }"),
    ] {
        let bad = with_replacement(good, bad);
        let (after, verdict, _, complaints) = fix_in(&bad, false);
        assert_eq!(after, bad);
        assert!(verdict > Verdict::Clean);
        assert!(!complaints.contains("fixed"), "{complaints}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.rs");
    std::fs::write(
        &path,
        with_replacement("transitions { Making -> Made; }", "transitions {}"),
    )
    .unwrap();
    let mut sources = vec![Source::read(&path)];
    let changed = fixed(&mut sources);
    std::fs::remove_dir_all(directory.path()).unwrap();
    let mut complaints = Vec::new();
    write(&changed, &mut sources, &mut complaints).unwrap();
    let Source::Failed(error) = &sources[0] else {
        panic!("it was written to nowhere");
    };
    assert_eq!(
        error.in_one_line().split(": ").next(),
        Some(&*format!("{} cannot be written", path.display()))
    );
}

#[test]
fn a_file_keeps_its_mode_and_its_link_and_nothing_is_left_beside_it() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let directory = tempfile::tempdir().unwrap();
    let (path, link) = (directory.path().join("a.rs"), directory.path().join("b.rs"));
    let bad = with_replacement("transitions { Making -> Made; }", "transitions {}");
    std::fs::write(&path, &bad).unwrap();
    let mode = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(&path, mode).unwrap();
    symlink("a.rs", &link).unwrap();
    let mut sources = vec![Source::read(&link)];
    let changed = fixed(&mut sources);
    write(&changed, &mut sources, &mut Vec::new()).unwrap();
    assert!(link.is_symlink());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_ne!(std::fs::read_to_string(&path).unwrap(), bad);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_somebody_changed_meanwhile_is_left_and_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.rs");
    let bad = with_replacement("transitions { Making -> Made; }", "transitions {}");
    std::fs::write(&path, &bad).unwrap();
    let mut sources = vec![Source::read(&path)];
    let changed = fixed(&mut sources);
    let saved = format!("{bad}// more\n");
    std::fs::write(&path, &saved).unwrap();
    let mut complaints = Vec::new();
    write(&changed, &mut sources, &mut complaints).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), saved);
    let Source::Failed(error) = &sources[0] else {
        panic!("it was written over");
    };
    let said = error.in_one_line();
    assert!(said.contains("has changed since it was read"), "{said}");
    assert!(complaints.is_empty());
}

/// Returns the lifecycles of the documentation, without the code that rustc needs around them.
fn lifecycles() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../macros/core/tests/lifecycles");
    let files = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let is_text = |path: &PathBuf| path.extension().is_some_and(|end| end == "txt");
    let texts = paths.into_iter().filter(is_text);
    texts
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

fn codes(source: &Source) -> Vec<&'static str> {
    let looked = check_files(std::slice::from_ref(source));
    let codes = files(&looked).flat_map(|(_, file)| &file.findings);
    codes.map(|found| found.code).collect()
}

fn text_of(source: &Source) -> &str {
    match source {
        Source::Read { text, .. } => text,
        Source::Failed(_) => panic!("it is in memory"),
    }
}

#[test]
fn every_lifecycle_of_the_documentation_gets_back_its_transitions() {
    let mut emptied = 0;
    for whole in lifecycles() {
        let of = |text: &str| Source::parse(PathBuf::from("/nowhere/a.rs"), text.to_owned(), false);
        let Some(start) = whole.find("transitions {") else {
            continue;
        };
        let end = start + whole[start..].find('}').unwrap();
        let (before, after) = (&whole[..start], &whole[end..]);
        let mut sources = [of(&format!("{before}transitions {{{after}"))];
        if !codes(&sources[0]).contains(&"LC030") {
            continue;
        }
        emptied += 1;
        assert_eq!(fixed(&mut sources).len(), 1, "{whole}");
        let text = text_of(&sources[0]);
        assert!(text.starts_with(before) && text.ends_with(after), "{text}");
        assert_eq!(codes(&sources[0]), codes(&of(&whole)), "{text}");
    }
    assert!(emptied > 8, "{emptied} lifecycles");
}

/// The fixtures of the rules are mistakes of every sort.
#[test]
fn no_fix_makes_another_mistake() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui/rules");
    let mut changes = 0;
    for rule in std::fs::read_dir(folder).unwrap() {
        let path = rule.unwrap().path().join("fails.rs");
        if !path.exists() {
            continue;
        }
        let mut sources = [Source::read(&path)];
        let before = codes(&sources[0]);
        for one in fixed(&mut sources) {
            let after = codes(&sources[0]);
            let errors = "LC000";
            assert!(
                !after.contains(&errors) || before.contains(&errors),
                "{}",
                one.after
            );
            assert!(
                after.len() <= before.len() || before.contains(&"LC001"),
                "{}: {before:?} {after:?}",
                path.display()
            );
            assert!(one.after.parse::<TokenStream>().is_ok());
            changes += 1;
        }
    }
    assert!(changes >= 3, "{changes} files");
}
