//! The rule by which the check judges failed tests. In a program that only computes, a failure is a
//! failure. In a program that waits for servers, processes or nodes, a failed test runs once more,
//! alone, after everything else. Pure: `bin/run-tests.rs` runs Cargo and passes its output in.

pub mod flaky;
mod log;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Tree;
pub use log::{Program, has_passed_one, read};
pub use table::{Time, render, times};

/// Sources of the test programs that wait for servers, processes or nodes. All others only compute.
pub const WAITS: [&str; 13] = [
    "operator/listener/tests/e2e/main.rs",
    "operator/router/tests/adaptor.rs",
    "operator/router/tests/cluster/main.rs",
    "operator/router/tests/link.rs",
    "operator/router/tests/router.rs",
    "operator/skupper/tests/e2e/main.rs",
    "operator/tests/explain/main.rs",
    "operator/tests/program/main.rs",
    "tests/tests/examples/main.rs",
    OTHERS,
    "tests/tests/real/main.rs",
    "tests/tests/runtime/main.rs",
    "tests/tests/simulator/main.rs",
];

/// The suite that runs programs of other projects. Its tests may be ignored unless they are
/// explicitly required.
const OTHERS: &str = "tests/tests/others/main.rs";

/// Upper bound on the number of tests that run once more.
pub const MOST: usize = 5;

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failure {
    /// The source of its program, from the root of the repository.
    pub program: String,
    /// Its full name; `None` if the whole program failed, for example because it was killed.
    pub test: Option<String>,
    /// The last lines that it printed.
    pub output: String,
}

/// Failed tests, by the action of the check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// They fail the check.
    pub failed: Vec<Failure>,
    /// They run once more, each alone.
    pub rerun: Vec<Failure>,
    /// They passed when they ran once more.
    pub passed_when_rerun: Vec<Failure>,
}

impl Verdict {
    /// Judges the programs of one run. More than `MOST` failures in programs that wait are failures all the same.
    pub fn new(programs: &[Program]) -> Self {
        let mut verdict = Self::default();
        for failure in programs.iter().flat_map(Program::failures) {
            let waits = WAITS.contains(&failure.program.as_str()) && failure.test.is_some();
            if waits {
                verdict.rerun.push(failure);
            } else {
                verdict.failed.push(failure);
            }
        }
        if verdict.rerun.len() > MOST {
            verdict.failed.append(&mut verdict.rerun);
        }
        verdict
    }

    /// Runs each candidate once more with `passes`, and files it by the result.
    ///
    /// # Errors
    /// Returns an error if `passes` fails.
    pub fn settle<E>(
        mut self,
        mut passes: impl FnMut(&Failure) -> Result<bool, E>,
    ) -> Result<Self, E> {
        for failure in std::mem::take(&mut self.rerun) {
            if passes(&failure)? {
                self.passed_when_rerun.push(failure);
            } else {
                self.failed.push(failure);
            }
        }
        Ok(self)
    }
}

/// A test program as Cargo built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// The path of its file.
    pub path: PathBuf,
    /// Folder of its package, in which Cargo runs it.
    pub package: PathBuf,
}

/// The source of each test program, by the file name of its executable, from the JSON messages of `cargo test --no-run --message-format=json`.
pub fn sources(messages: &str, root: &Path) -> BTreeMap<String, String> {
    let built = built(messages, root).filter_map(|(source, executable)| {
        let name = executable.path.file_name()?.to_str()?;
        Some((name.to_owned(), source))
    });
    built.collect()
}

/// Each test program by its source, from the same messages.
pub fn executables(messages: &str, root: &Path) -> BTreeMap<String, Executable> {
    built(messages, root).collect()
}

fn built(messages: &str, root: &Path) -> impl Iterator<Item = (String, Executable)> {
    messages.lines().filter_map(move |line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let text = |pointer| message.pointer(pointer).and_then(Value::as_str);
        let source = Path::new(text("/target/src_path")?);
        let source = source.strip_prefix(root).unwrap_or(source);
        let executable = Executable {
            path: text("/executable")?.into(),
            package: Path::new(text("/manifest_path")?).parent()?.to_owned(),
        };
        Some((source.to_str()?.to_owned(), executable))
    })
}

/// Suites in the `tests` folders of the repository that did not run, and programs that left tests out.
/// `required` is the value of `LIFECYCLE_REQUIRE`.
pub fn left_out(tree: &Tree, programs: &[Program], required: &str) -> Vec<String> {
    let suites = tree.under("").filter_map(|(path, _)| {
        let (package, file) = path.rsplit_once("/tests/")?;
        let is_suite = match file.split_once('/') {
            None => file.ends_with(".rs"),
            Some((_, file)) => file == "main.rs",
        };
        (is_suite && tree.has(&format!("{package}/Cargo.toml"))).then_some(path)
    });
    let ran = |suite: &str| {
        let mut programs = programs.iter();
        programs.any(|program| program.source == suite && program.passed > 0)
    };
    let silent = suites.filter(|suite| !ran(suite));
    let mut found: Vec<String> = silent
        .filter(|suite| *suite != OTHERS || required.contains("others"))
        .map(|suite| format!("{suite}: the suite did not run"))
        .collect();
    let partial = programs
        .iter()
        .filter(|program| program.ignored + program.filtered > 0)
        .filter(|program| program.source != OTHERS || required.contains("others"));
    found.extend(partial.map(|program| {
        let count = program.ignored + program.filtered;
        format!("{}: left out {count} tests", program.source)
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(source: &str, failed: &[&str]) -> Program {
        Program {
            source: source.to_owned(),
            passed: 1,
            failed: failed.len(),
            sections: failed
                .iter()
                .map(|test| ((*test).to_owned(), "not within 10 s".to_owned()))
                .collect(),
            has_ended: true,
            ..Program::default()
        }
    }

    fn tests(failures: &[Failure]) -> Vec<&str> {
        let names = failures.iter().map(|failure| failure.test.as_deref());
        names.map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn a_failure_in_a_program_that_only_computes_counts() {
        let verdict = Verdict::new(&[
            program("macros/core/tests/language.rs", &["groups::one"]),
            program(WAITS[0], &["churn::two"]),
        ]);
        assert_eq!(tests(&verdict.failed), ["groups::one"]);
        assert_eq!(tests(&verdict.rerun), ["churn::two"]);
    }

    #[test]
    fn a_program_that_dies_is_not_run_again() {
        let died = Program {
            source: WAITS[0].to_owned(),
            ..Program::default()
        };
        let verdict = Verdict::new(&[died]);
        assert_eq!((verdict.failed.len(), verdict.rerun.len()), (1, 0));
    }

    #[test]
    fn more_than_five_are_too_many() {
        let five = ["a", "b", "c", "d", "e"];
        assert_eq!(Verdict::new(&[program(WAITS[0], &five)]).rerun.len(), 5);
        let six = Verdict::new(&[program(WAITS[0], &five), program(WAITS[1], &["f"])]);
        assert_eq!((six.failed.len(), six.rerun.len()), (6, 0));
    }

    #[test]
    fn what_fails_again_counts() {
        let verdict = Verdict::new(&[program(WAITS[0], &["flaky", "broken"])]);
        let passes = |failure: &Failure| Ok::<_, ()>(failure.test.as_deref() == Some("flaky"));
        let verdict = verdict.settle(passes).unwrap();
        assert_eq!(tests(&verdict.passed_when_rerun), ["flaky"]);
        assert_eq!(tests(&verdict.failed), ["broken"]);
        assert!(verdict.rerun.is_empty());
    }

    #[test]
    fn programs_are_told_apart_by_their_executables() {
        let messages = r#"{"reason":"build-finished","success":true}
{"target":{"name":"e2e","src_path":"/r/operator/tests/e2e/main.rs"},"manifest_path":"/r/operator/Cargo.toml","executable":"/t/e2e-1"}"#;
        let sources = sources(messages, Path::new("/r"));
        assert_eq!(sources["e2e-1"], "operator/tests/e2e/main.rs");
        let executables = executables(messages, Path::new("/r"));
        let expected = Executable {
            path: "/t/e2e-1".into(),
            package: "/r/operator".into(),
        };
        assert_eq!(executables["operator/tests/e2e/main.rs"], expected);
    }

    #[test]
    fn a_suite_that_did_not_run_and_a_test_left_out_are_found() {
        let tree = Tree::made_up(&[
            ("a/Cargo.toml", ""),
            ("a/tests/one.rs", ""),
            ("a/tests/two/main.rs", ""),
            ("a/tests/two/part.rs", ""),
            ("a/src/tests/no.rs", ""),
        ]);
        let one = program("a/tests/one.rs", &[]);
        let two = Program {
            filtered: 3,
            ..program("a/tests/two/main.rs", &[])
        };
        let ran = left_out(&tree, &[one.clone(), two], "");
        assert_eq!(ran, ["a/tests/two/main.rs: left out 3 tests"]);
        let silent = left_out(&tree, &[one], "");
        assert_eq!(silent, ["a/tests/two/main.rs: the suite did not run"]);
        let others = Program {
            ignored: 4,
            ..program(OTHERS, &[])
        };
        let others = [others];
        assert!(left_out(&Tree::default(), &others, "binaries,nodes").is_empty());
        assert_eq!(left_out(&Tree::default(), &others, "root,others").len(), 1);
    }
}
