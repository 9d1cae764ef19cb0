//! Requirements on every source file: a header that names its responsibility, and a readable size.

use crate::Tree;

/// The most lines that a source file may have.
pub const LINES: usize = 600;

/// The most lines that a header may have.
const HEADER_LINES: usize = 9;

/// Returns sources that do not begin with `//!`, or whose header is too long. The header of a rule
/// is its documentation and may be long.
pub fn headers(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        let lines = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .count();
        if lines == 0 {
            findings.push(format!(
                "{path}: begin it with a `//!` that says what it owns"
            ));
        } else if lines > HEADER_LINES && !path.starts_with(crate::rules::FOLDER) {
            findings.push(format!(
                "{path}: its header has {lines} lines; {HEADER_LINES} are enough"
            ));
        }
    }
    findings
}

/// Sources that are too long, but for the exceptions: path and reason. An exception that is not needed is a finding as well.
pub fn sizes(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        let lines = text.lines().count();
        let excused = exceptions.iter().any(|(excused, _)| *excused == path);
        if lines > LINES && !excused {
            findings.push(format!("{path}: {lines} lines; split it below {LINES}"));
        }
        if lines <= LINES && excused {
            findings.push(format!("{path}: short enough, remove its exception"));
        }
    }
    for (path, reason) in exceptions {
        if tree.text(path).is_none() {
            findings.push(format!("{path}: has an exception and does not exist"));
        }
        if reason.is_empty() {
            findings.push(format!("{path}: has an exception without a reason"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_header_is_found() {
        let tree = Tree::made_up(&[
            ("a.rs", "use x;\n//! late"),
            ("b.rs", "//! b"),
            ("c.rs", ""),
        ]);
        assert_eq!(headers(&tree).len(), 2);
    }

    #[test]
    fn an_essay_is_found_but_for_the_documentation_of_a_rule() {
        let essay = "//! line\n".repeat(HEADER_LINES + 1);
        let rule = format!("{}some_rule.rs", crate::rules::FOLDER);
        let tree = Tree::made_up(&[("a.rs", &essay), (&rule, &essay)]);
        let found = headers(&tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs"), "{found:?}");
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_excused() {
        let long = "x\n".repeat(LINES + 1);
        let tree = Tree::made_up(&[("long.rs", &long), ("fits.rs", &"x\n".repeat(LINES))]);
        assert_eq!(sizes(&tree, &[]).len(), 1);
        assert!(sizes(&tree, &[("long.rs", "a table")]).is_empty());
    }

    #[test]
    fn an_exception_that_is_not_needed_is_found() {
        let tree = Tree::made_up(&[("short.rs", "x")]);
        assert_eq!(sizes(&tree, &[("short.rs", "was long")]).len(), 1);
        assert_eq!(sizes(&tree, &[("gone.rs", "was long")]).len(), 1);
        assert_eq!(sizes(&tree, &[("gone.rs", "")]).len(), 2);
    }
}
