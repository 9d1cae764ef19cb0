//! Map from the rows of the contract with the replaced operator of Listeners to the tests that
//! cover them. A page of the documentation is generated from the names of tests. A test begins with
//! its rows, `b25_b36_a_deleted_listener`, in any package. This module knows names, and not the
//! content of a test.

use std::collections::{BTreeMap, BTreeSet};

use crate::Tree;

/// The list of the rows with their titles.
pub const ROWS: &str = "operator/listener/tests/rows.txt";

/// The page that is made of them.
pub const PAGE: &str = "docs/contract.md";

/// Maximum number of tests named for a row.
const MOST: usize = 3;

/// How a note begins on a row that no test shows, and on one that tests show in part.
const OPEN: &str = "open: ";
const PART: &str = "part: ";

const HEAD: &str = "# What of the contract is shown by which test

The [Listener operator](install.md) replaces another one. A row M says what stays as it was, a row B what becomes better, and a row F a figure to beat.
A test that shows a row has the number in front of its name. *In part* says what of a row no test shows, and an *open* row has no test at all.
The titles and notes stand in [`operator/listener/tests/rows.txt`](../operator/listener/tests/rows.txt). A test makes this page of them and of the names.

| row | what | shown by |
| --- | --- | --- |
";

/// A line of the list.
struct Row<'a> {
    number: &'a str,
    title: &'a str,
    note: &'a str,
}

impl<'a> Row<'a> {
    /// None if the line has another form.
    fn read(line: &'a str) -> Option<Self> {
        let mut columns = line.split(" | ");
        let (number, title) = (columns.next()?, columns.next()?);
        let note = columns.next().unwrap_or_default();
        let marked = [OPEN, PART].iter().any(|mark| {
            let rest = note.strip_prefix(mark);
            rest.is_some_and(|why| !why.is_empty())
        });
        let is_plain = columns.next().is_none() && !title.is_empty() && !title.contains('|');
        let fits = is_number(number) && is_plain && (note.is_empty() || marked);
        fits.then_some(Self {
            number,
            title,
            note,
        })
    }

    fn is_open(&self) -> bool {
        self.note.starts_with(OPEN)
    }

    /// The row of the page, with the tests that carry its number.
    fn line(&self, tests: Option<&BTreeSet<String>>) -> String {
        let (number, title) = (self.number, self.title);
        let tests: Vec<&str> = tests.into_iter().flatten().map(String::as_str).collect();
        let tests = tests.join(", ");
        let shown = match self.note.strip_prefix(PART) {
            Some(missing) => format!("{tests}; *in part*: {missing}"),
            None => match self.note.strip_prefix(OPEN) {
                Some(why) => format!("*open*: {why}"),
                None => tests,
            },
        };
        format!("| {number} | {title} | {shown} |\n")
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// A letter and the number behind it: `M14`.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['M', 'B', 'F']);
    digits.is_some_and(|digits| {
        let is_digit = digits.chars().all(|c| c.is_ascii_digit());
        is_digit && !digits.is_empty() && !digits.starts_with('0')
    })
}

/// The rows at the beginning of a name.
fn numbers(name: &str) -> Vec<String> {
    let is_lower = |part: &&str| !part.contains(|c: char| c.is_ascii_uppercase());
    let parts = name.split('_').take_while(is_lower);
    let numbers = parts.map(str::to_uppercase);
    numbers.take_while(|number| is_number(number)).collect()
}

/// The part of a source that is about tests.
fn tested<'a>(path: &str, text: &'a str) -> &'a str {
    let is_test = |part: &str| part == "tests" || part == "tests.rs";
    if path.split('/').any(is_test) {
        return text;
    }
    let marks = ["#[cfg(test)]", "#[test]", "#[tokio::test"];
    let begins = marks.iter().filter_map(|mark| text.find(mark)).min();
    begins.map_or("", |begins| &text[begins..])
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the names in a line: of a function, or in quotes, as in suites with our harness.
fn names(line: &str) -> Vec<&str> {
    let word = |text: &'static str| line.split_once(text).map(|(_, rest)| rest);
    let function = word("fn ").map(|rest| rest.split(|c| !is_word(c)).next().unwrap_or_default());
    let quoted = line.split('"').skip(1).step_by(2);
    let quoted = quoted.filter(|name| name.chars().all(is_word));
    function.into_iter().chain(quoted).collect()
}

/// The tests of each row, by name and file.
fn tests(tree: &Tree) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in tree.sources().filter(|(path, _)| !path.contains("/tidy/")) {
        let code = tested(path, text).lines();
        let code = code.filter(|line| !line.trim_start().starts_with("//"));
        for name in code.flat_map(names) {
            for number in numbers(name) {
                let test = format!("`{name}` in `{path}`");
                found.entry(number).or_default().insert(test);
            }
        }
    }
    found
}

/// Rows without a test that are not open, open rows with one, and tests of rows that do not exist.
pub fn findings(tree: &Tree) -> Vec<String> {
    let Some(text) = tree.text(ROWS) else {
        return vec![format!("{ROWS}: it is not there")];
    };
    let tests = tests(tree);
    let mut findings = Vec::new();
    let mut known = BTreeSet::new();
    for line in lines(text) {
        let Some(row) = Row::read(line) else {
            let form =
                "write `M14 | title`, and behind it ` | open: why` or ` | part: what is missing`";
            findings.push(format!("{ROWS}: {form}: {line}"));
            continue;
        };
        let number = row.number;
        let many = tests.get(number).map_or(0, BTreeSet::len);
        if !known.insert(number) {
            findings.push(format!("{ROWS}: {number} is there twice"));
        }
        if many == 0 && !row.is_open() {
            findings.push(format!(
                "{ROWS}: {number} has no test: begin the name of one with it, or write ` | open: why`"
            ));
        }
        if many > 0 && row.is_open() {
            findings.push(format!("{ROWS}: {number} has a test and is not open"));
        }
        if many > MOST {
            findings.push(format!(
                "{ROWS}: {number} has {many} tests; the best {MOST} are enough"
            ));
        }
    }
    let unknown = tests
        .iter()
        .filter(|(row, _)| !known.contains(row.as_str()));
    let named = unknown.flat_map(|(row, tests)| tests.iter().map(move |test| (row, test)));
    findings.extend(named.map(|(row, test)| format!("{test}: {ROWS} has no row {row}")));
    findings
}

/// The page as it should be, if it is not so.
pub fn outdated(tree: &Tree) -> Option<String> {
    let tests = tests(tree);
    let rows = lines(tree.text(ROWS)?).filter_map(Row::read);
    let rows = rows.map(|row| row.line(tests.get(row.number)));
    let wanted = format!("{HEAD}{}", rows.collect::<String>());
    (tree.text(PAGE) != Some(wanted.as_str())).then_some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        "# what they are\nM14 | it stays\nB25 | it goes\nB54 | a name | open: it is not there\n";
    const FOREIGN: (&str, &str) = ("operator/tests/a.rs", "case(\n    \"m14_b25_it_stays\",");

    fn found(list: &str, sources: &[(&str, &str)]) -> Vec<String> {
        let files = [vec![(ROWS, list)], sources.to_vec()].concat();
        findings(&Tree::made_up(&files))
    }

    #[test]
    fn a_row_without_a_test_is_found() {
        assert_eq!(found(LIST, &[FOREIGN]), [""; 0]);
        let one = [("operator/tests/a.rs", "fn m14_it_stays() {}")];
        let expected = "operator/listener/tests/rows.txt: B25 has no test: begin the name of one with it, or write ` | open: why`";
        assert_eq!(found(LIST, &one), [expected]);
        assert_eq!(found("M14 | it stays | part: in a dream", &[]).len(), 1);
    }

    #[test]
    fn an_open_row_with_a_test_is_found() {
        let second = (
            "a/src/b.rs",
            "fn b25_x() {}\n#[cfg(test)]\nmod tests {\n    fn b54_x() {}",
        );
        let expected = "operator/listener/tests/rows.txt: B54 has a test and is not open";
        assert_eq!(found(LIST, &[FOREIGN, second]), [expected]);
    }

    #[test]
    fn a_test_of_no_row_is_found() {
        let second = ("a/src/b/tests.rs", "async fn m14_f9_x()\n-> Result<()> {");
        let expected =
            "`m14_f9_x` in `a/src/b/tests.rs`: operator/listener/tests/rows.txt has no row F9";
        assert_eq!(found(LIST, &[FOREIGN, second]), [expected]);
    }

    #[test]
    fn too_many_tests_of_a_row_and_lines_of_no_form_are_found() {
        let more = (
            "a/tests/b.rs",
            "fn m14_a() {}\nfn m14_b() {}\nfn m14_c() {}",
        );
        assert_eq!(found(LIST, &[FOREIGN, more]).len(), 1);
        for line in [
            "M14 | twice",
            "X1 | it stays",
            "M01 | it stays",
            "B26",
            "B26 | ",
            "B54 | a name | soon",
            "B54 | a name | open: ",
            "B54 | a | name | open: x",
        ] {
            let list = format!("{LIST}{line}\n");
            assert_eq!(found(&list, &[FOREIGN]).len(), 1, "{line}");
        }
    }

    #[test]
    fn only_tests_have_numbers() {
        let others = [
            ("a/src/b.rs", "fn m1_x() {}"),
            (
                "a/tests/b.rs",
                "// \"m1_x\"\nlet m1_x = \"m1 x\";\nfn x_m1() {}",
            ),
            ("tests/tidy/src/b/tests.rs", "fn m1_x() {}"),
        ];
        assert!(tests(&Tree::made_up(&others)).is_empty());
        assert_eq!(numbers("m1_b25_f3_x_m2"), ["M1", "B25", "F3"]);
        assert_eq!(numbers("M1_x"), [""; 0]);
    }

    #[test]
    fn the_page_is_outdated_until_it_names_every_test() {
        let list = "M14 | it stays\nB25 | it goes | part: at night\nB54 | a name | open: later\n";
        let tree = Tree::made_up(&[(ROWS, list), FOREIGN]);
        let wanted = outdated(&tree).expect("there is no page");
        let test = "`m14_b25_it_stays` in `operator/tests/a.rs`";
        let rows = format!(
            "| M14 | it stays | {test} |\n| B25 | it goes | {test}; *in part*: at night |\n| B54 | a name | *open*: later |\n"
        );
        assert!(wanted.ends_with(&rows), "{wanted}");
        assert_eq!(outdated(&tree.with_file(PAGE, &wanted)), None);
    }
}
