//! The list of tests that passed only when rerun, `tests/flaky.txt`: one entry a line, `DATE PROGRAM TEST: CAUSE`. It is short, so that causes are removed
//! instead of listed.

use super::WAITS;
use crate::Tree;

/// The list, from the root of the repository.
pub const LIST: &str = "tests/flaky.txt";

/// Upper bound on entries.
const MOST: usize = 5;

/// Returns entries that are malformed, that name something nonexistent, or that are too many.
pub fn findings(tree: &Tree) -> Vec<String> {
    let Some(list) = tree.text(LIST) else {
        return vec![format!("{LIST}: it does not exist")];
    };
    let entries = list.lines().enumerate();
    let entries: Vec<_> = entries
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut found: Vec<String> = entries
        .iter()
        .filter_map(|(at, line)| Some(format!("{LIST}:{}: {}", at + 1, fault(tree, line)?)))
        .collect();
    if entries.len() > MOST {
        let count = entries.len();
        found.push(format!(
            "{LIST}: {count} entries, at most {MOST} are allowed; remove the cause of one"
        ));
    }
    found
}

fn fault(tree: &Tree, line: &str) -> Option<String> {
    let Some((entry, cause)) = line.split_once(": ") else {
        return Some("expected `DATE PROGRAM TEST: CAUSE`".to_owned());
    };
    let words: Vec<&str> = entry.split(' ').collect();
    let [date, program, test] = words[..] else {
        return Some("expected `DATE PROGRAM TEST: CAUSE`".to_owned());
    };
    let shape: String = date
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    if shape != "0000-00-00" {
        return Some(format!("`{date}` is no date such as 2026-01-31"));
    }
    if !WAITS.contains(&program) {
        return Some(format!("`{program}` is no program that waits"));
    }
    let function = test.rsplit("::").next().unwrap_or(test);
    let names = [format!("fn {function}("), format!("\"{function}\"")];
    let mut sources = tree.sources();
    if !sources.any(|(_, text)| names.iter().any(|name| text.contains(name))) {
        return Some(format!("no test is called `{test}`"));
    }
    (cause.trim().len() < 10).then(|| "say what is known about the cause".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(list: &str) -> Vec<String> {
        let test = ("operator/router/tests/link.rs", "fn a_link_heals() {}");
        findings(&Tree::made_up(&[(LIST, list), test]))
    }

    const GOOD: &str =
        "2026-01-31 operator/router/tests/link.rs links::a_link_heals: the port was taken\n";

    #[test]
    fn a_good_entry_is_taken_and_a_sixth_is_not() {
        assert!(found(&format!("# Comment.\n\n{GOOD}")).is_empty());
        assert!(found(&GOOD.repeat(5)).is_empty());
        assert!(found(&GOOD.repeat(6))[0].contains("6 entries, at most 5"));
    }

    #[test]
    fn each_part_of_an_entry_is_checked() {
        for (good, bad, finding) in [
            (": the port", " the port", "expected `DATE"),
            ("2026-01-31", "yesterday", "no date"),
            ("tests/link.rs", "tests/none.rs", "no program that waits"),
            ("a_link_heals", "a_link_breaks", "no test is called"),
            ("the port was taken", "load", "say what is known"),
        ] {
            let found = found(&GOOD.replace(good, bad));
            assert!(found.len() == 1 && found[0].contains(finding), "{found:?}");
        }
        assert!(findings(&Tree::default())[0].contains("does not exist"));
    }
}
