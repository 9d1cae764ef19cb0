//! No test asserts how much time passed by the clock: other load on the machine changes that. Tests on paused time may.

use crate::Tree;

/// Macros that fail a test if something does not hold.
const ASSERTIONS: [&str; 4] = ["assert!", "assert_eq!", "assert_ne!", "ensure!"];

/// Files with exact times: path and reason. The need for an entry shows that the search finds
/// something.
pub const PAUSED: [(&str, &str); 1] = [(
    "tests/tests/runtime/csi_services/limits.rs",
    "the tests that measure are on paused time",
)];

/// Returns assertions of test sources with `elapsed()` among their arguments, or with a comparison
/// of a name that holds its value. Skips files whose measurements are on paused time: path and
/// reason. An unneeded entry is a finding too.
pub fn findings(tree: &Tree, paused: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources().filter(|(path, _)| is_test(path)) {
        let excused = paused.iter().any(|(excused, _)| *excused == path);
        let found = asserted(text);
        if excused && found.is_empty() {
            findings.push(format!("{path}: asserts no time, remove its exception"));
        }
        for arguments in found.iter().filter(|_| !excused) {
            let first = arguments
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty());
            let first = first.unwrap_or_default();
            findings.push(format!(
                "{path}: asserts a time of the clock at `{first}`; wait through `eventually` or `within`, and print it"
            ));
        }
    }
    for (path, reason) in paused {
        if tree.text(path).is_none() || reason.is_empty() {
            findings.push(format!("{path}: an exception needs a file and a reason"));
        }
    }
    findings
}

/// Returns true for a source in a folder `tests` of a package. Unit tests do not count, because
/// they are in `src`.
fn is_test(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.find(|folder| matches!(*folder, "tests" | "src")) == Some("tests")
}

/// Returns the arguments of assertions on elapsed clock time.
fn asserted(text: &str) -> Vec<&str> {
    let names: Vec<&str> = text.lines().filter_map(measured).collect();
    let on_clock = |arguments: &&str| {
        let compared = |name: &&str| {
            let mut at = arguments.match_indices(*name).map(|(start, _)| start);
            at.any(|start| is_compared(arguments, start, name))
        };
        arguments.contains("elapsed()") || names.iter().any(compared)
    };
    let calls = ASSERTIONS.iter().flat_map(|assertion| {
        let starts = text.match_indices(assertion);
        let rest =
            starts.filter_map(|(start, _)| text[start + assertion.len()..].strip_prefix('('));
        rest.map(|rest| {
            rest.split_once(");")
                .map_or(rest, |(arguments, _)| arguments)
        })
    });
    calls.filter(on_clock).collect()
}

/// The name of `let took = began.elapsed();`.
fn measured(line: &str) -> Option<&str> {
    let (name, value) = line.trim().strip_prefix("let ")?.split_once(" = ")?;
    value.ends_with(".elapsed();").then_some(name)
}

fn is_compared(arguments: &str, start: usize, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '{');
    let (before, after) = (&arguments[..start], &arguments[start + name.len()..]);
    !before.ends_with(is_part) && after.trim_start().starts_with(['<', '>'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `PASSED` is `elapsed()`, for these are sources of tests too.
    const ASSERTS: &str = "ensure!(\n    began.PASSED < SOON,\n    \"late\"\n);";
    const NAMED: &str = "let took = began.PASSED;\nensure!(took <= SOON, \"{took:?}\");";
    const PRINTS: &str = "ensure!(a == b, \"x\");\nlet took = began.PASSED;\neprintln!(\"{took:?}\");
        ensure!(status.success(), \"{status} after {took:?}\");\nlet is_over = || began.PASSED > lasts;";

    fn found(path: &str, text: &str, paused: &[(&str, &str)]) -> usize {
        let text = text.replace("PASSED", "elapsed()");
        findings(&Tree::made_up(&[(path, &text)]), paused).len()
    }

    #[test]
    fn an_assertion_on_elapsed_time_is_found() {
        assert_eq!(found("a/tests/b.rs", ASSERTS, &[]), 1);
        assert_eq!(found("tests/src/b.rs", NAMED, &[]), 1);
    }

    #[test]
    fn a_time_that_is_printed_and_a_unit_test_are_not() {
        assert_eq!(found("a/tests/b.rs", PRINTS, &[]), 0);
        assert_eq!(found("a/src/b/tests/c.rs", ASSERTS, &[]), 0);
    }

    #[test]
    fn a_file_on_paused_time_is_excused_while_it_needs_that() {
        let paused = [("a/tests/b.rs", "each test is on paused time")];
        assert_eq!(found("a/tests/b.rs", ASSERTS, &paused), 0);
        assert_eq!(found("a/tests/b.rs", PRINTS, &paused), 1);
        assert_eq!(found("a/tests/c.rs", PRINTS, &paused), 1);
    }
}
