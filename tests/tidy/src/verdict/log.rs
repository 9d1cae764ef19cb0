//! Parser of the output of `cargo test --no-fail-fast`: one `Program` for each test program, with
//! the section of each failed test.

use std::collections::BTreeMap;

use super::Failure;

/// Upper bound on the number of output lines kept for a failed test.
const LINES: usize = 40;

/// One run of a test program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Its source from the root of the repository, or `documentation:PACKAGE`.
    pub source: String,
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that were ignored.
    pub ignored: usize,
    /// Tests that were filtered out.
    pub filtered: usize,
    /// Names of failed tests, each with the last lines of its section.
    pub sections: Vec<(String, String)>,
    /// True if it printed a result.
    pub has_ended: bool,
}

impl Program {
    /// Returns its failed tests. A program that ended without a result, or whose failures cannot be
    /// distinguished, fails as a whole.
    pub(super) fn failures(&self) -> Vec<Failure> {
        let failure = |test: Option<String>, output: String| Failure {
            program: self.source.clone(),
            test,
            output,
        };
        if !self.has_ended {
            let output = "it ended without a result: killed, or out of memory".to_owned();
            return vec![failure(None, output)];
        }
        if self.sections.len() != self.failed {
            let (failed, found) = (self.failed, self.sections.len());
            let output = format!("{failed} tests failed, and it printed sections of {found}");
            return vec![failure(None, output)];
        }
        let sections = self.sections.iter();
        sections
            .map(|(test, output)| failure(Some(test.clone()), output.clone()))
            .collect()
    }
}

/// Reads a log; `sources` names the source of each executable.
pub fn read(log: &str, sources: &BTreeMap<String, String>) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    let mut is_in_failures = false;
    for line in log.lines() {
        if let Some(source) = begins(line, sources) {
            programs.push(Program {
                source,
                ..Program::default()
            });
            is_in_failures = false;
            continue;
        }
        let Some(program) = programs.last_mut().filter(|program| !program.has_ended) else {
            continue;
        };
        if let Some((_, result)) = line.split_once("test result: ") {
            program.passed = count(result, "passed");
            program.failed = count(result, "failed");
            program.ignored = count(result, "ignored");
            program.filtered = count(result, "filtered");
            program.has_ended = true;
        } else if line == "failures:" {
            // The second heading begins the list of names.
            is_in_failures = program.sections.is_empty();
        } else if is_in_failures {
            match section(line) {
                Some(test) => program.sections.push((test.to_owned(), String::new())),
                None => keep(program, line),
            }
        }
    }
    for (_, output) in programs.iter_mut().flat_map(|p| &mut p.sections) {
        *output = last_lines(output);
    }
    programs
}

/// Returns true if the log of a program that was to run one test reports that it passed.
pub fn has_passed_one(log: &str) -> bool {
    let result = log
        .lines()
        .rev()
        .find_map(|line| line.split_once("test result: "));
    result.is_some_and(|(_, result)| count(result, "passed") == 1)
}

/// The source of the program that this line announces.
fn begins(line: &str, sources: &BTreeMap<String, String>) -> Option<String> {
    if let Some(package) = line.trim_start().strip_prefix("Doc-tests ") {
        return line
            .starts_with(' ')
            .then(|| format!("documentation:{package}"));
    }
    let (_, rest) = line.split_once("  Running ")?;
    let executable = rest.strip_suffix(')')?.rsplit_once('(')?.1;
    let name = executable.rsplit('/').next().unwrap_or(executable);
    Some(
        sources
            .get(name)
            .map_or(executable, String::as_str)
            .to_owned(),
    )
}

/// The number before a word of a result.
fn count(result: &str, word: &str) -> usize {
    let words: Vec<&str> = result.split([' ', ';']).filter(|w| !w.is_empty()).collect();
    let place = words.iter().position(|found| *found == word);
    place
        .and_then(|place| words.get(place.checked_sub(1)?)?.parse().ok())
        .unwrap_or_default()
}

/// Returns the test whose section this line begins: `---- NAME stdout ----` of libtest, `---- NAME
/// ----` of harnesses like it.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    Some(name.strip_suffix(" stdout").unwrap_or(name))
}

fn keep(program: &mut Program, line: &str) {
    if let Some((_, output)) = program.sections.last_mut() {
        output.push_str(line);
        output.push('\n');
    }
}

fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.trim().lines().collect();
    let before = lines.len().saturating_sub(LINES);
    let kept = lines[before..].join("\n");
    if before == 0 {
        return kept;
    }
    format!("({before} lines before)\n{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "
     Running unittests src/lib.rs (target/debug/deps/lifecycle_tidy-1)

running 2 tests
test a ... ok
test b::c ... FAILED

failures:

---- b::c stdout ----

thread 'b::c' panicked at src/lib.rs:1:1:
left == right


failures:
    b::c

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.01s

     Running tests/e2e/main.rs (/r/target/debug/deps/e2e-2)
test churn::x  ... FAILED

failures:

---- churn::x ----
not within 10 s: an address


failures:
    churn::x

test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.00s
     Running tests/killed.rs (target/debug/deps/killed-3)
running 5 tests
error: test failed, to rerun pass `-p x --test killed`
   Doc-tests lifecycle_runtime
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    fn programs() -> Vec<Program> {
        let sources = [
            ("lifecycle_tidy-1", "tests/tidy/src/lib.rs"),
            ("e2e-2", "operator/e2e/main.rs"),
            ("killed-3", "operator/tests/killed.rs"),
        ];
        let sources = sources.map(|(name, source)| (name.to_owned(), source.to_owned()));
        read(LOG, &sources.into())
    }

    #[test]
    fn each_program_has_its_counts() {
        let counts: Vec<_> = programs()
            .into_iter()
            .map(|p| (p.source, p.passed, p.failed, p.ignored, p.filtered))
            .collect();
        let expected = [
            ("tests/tidy/src/lib.rs", 1, 1, 0, 2),
            ("operator/e2e/main.rs", 3, 1, 1, 0),
            ("operator/tests/killed.rs", 0, 0, 0, 0),
            ("documentation:lifecycle_runtime", 7, 0, 0, 0),
        ];
        assert_eq!(
            counts,
            expected.map(|(s, p, f, i, o)| (s.to_owned(), p, f, i, o))
        );
    }

    #[test]
    fn failures_have_their_names_and_their_last_lines() {
        let failures: Vec<_> = programs().iter().flat_map(Program::failures).collect();
        let tests: Vec<_> = failures.iter().map(|f| f.test.as_deref()).collect();
        assert_eq!(tests, [Some("b::c"), Some("churn::x"), None]);
        assert!(failures[0].output.ends_with("left == right"));
        assert_eq!(failures[1].output, "not within 10 s: an address");
        assert!(failures[2].output.contains("without a result"));
    }

    #[test]
    fn failures_that_cannot_be_told_apart_fail_the_program() {
        let log = LOG.replace("---- churn::x ----\n", "");
        let sources = [("e2e-2".to_owned(), "operator/e2e/main.rs".to_owned())];
        let programs = read(&log, &sources.into());
        let failures = programs[1].failures();
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].test, None);
    }

    #[test]
    fn only_the_last_lines_are_kept() {
        let long: String = (0..50).map(|line| format!("{line}\n")).collect();
        let kept = last_lines(&long);
        assert!(kept.starts_with("(10 lines before)\n10\n") && kept.ends_with("\n49"));
    }
}
