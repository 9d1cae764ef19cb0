//! Tests that the complete examples on the pages of the language (`docs/language.md`,
//! `docs/language/`) are true. Their lifecycles are accepted, and a finding on a page appears if
//! the lines that it mentions are left out.

use lifecycle_macros_core::check;

use super::shipped::body_of;

/// The pages, one after the other.
const GUIDE: &str = concat!(
    include_str!("../../../../docs/language.md"),
    "\n## the next page\n",
    include_str!("../../../../docs/language/facts.md"),
    "\n## the next page\n",
    include_str!("../../../../docs/language/transitions.md"),
    "\n## the next page\n",
    include_str!("../../../../docs/language/unasked.md"),
);

/// The blocks of a language in a section, in their order.
fn blocks(section: &str, language: &str) -> Vec<&'static str> {
    let heading = format!("\n## {section}\n");
    let (_, rest) = GUIDE.split_once(&heading).expect("the section is there");
    let section = rest.split("\n## ").next().expect("it has a text");
    let start = format!("```{language}\n");
    let after = section.split(&start).skip(1);
    after
        .map(|rest| rest.split("```").next().expect("the block ends"))
        .collect()
}

fn findings(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics.into_iter();
    found.map(|found| found.to_string()).collect()
}

#[test]
fn every_whole_lifecycle_is_accepted_without_a_finding() {
    let whole = GUIDE.split("```rust\n").skip(1);
    let whole: Vec<&str> = whole
        .map(|rest| rest.split("```").next().expect("the block ends"))
        .filter(|block| block.contains("lifecycle! {"))
        .collect();
    assert!(!whole.is_empty());
    for block in whole {
        assert_eq!(findings(block), [""; 0], "{block}");
    }
}

#[test]
fn an_edge_that_is_left_out_gives_the_finding_that_is_shown() {
    let [lifecycle] = blocks("Transitions", "rust")[..] else {
        panic!("the section shows one lifecycle");
    };
    let line = "        RollingOut -> Ready;\n";
    assert_eq!(lifecycle.matches(line).count(), 1);
    let shown = blocks("Transitions", "text");
    let last = shown.last().expect("the finding is shown");
    let said = last.trim_end().strip_prefix("error: ").expect("an error");
    assert_eq!(findings(&lifecycle.replace(line, "")), [said]);
}

/// Tests that without the lines with `Silent` the finding is the one in the text, and that both
/// alternatives of the text remove it.
#[test]
fn what_is_decided_by_what_is_not_asked_gives_the_finding_that_is_shown() {
    let [lifecycle] = blocks("What is not asked", "rust")[..] else {
        panic!("the section shows one lifecycle");
    };
    let [shown] = blocks("What is not asked", "text")[..] else {
        panic!("the section shows one finding");
    };
    let lines = lifecycle.lines().filter(|line| !line.contains("Silent"));
    let without: Vec<&str> = lines.collect();
    assert_eq!(without.len() + 2, lifecycle.lines().count());
    let without = without.join("\n");
    assert_eq!(findings(&without), [shown.trim_end()]);
    let said = without.replace("given report;", "given report else false;");
    assert_eq!(findings(&said), [""; 0]);
}

/// Tests that the warning that the line allows is found without the line.
#[test]
fn the_warning_that_is_allowed_is_found_without_the_line() {
    let [line] = blocks("Warnings", "text")[..] else {
        panic!("the section shows one line");
    };
    let [lifecycle] = blocks("Transitions", "rust")[..] else {
        panic!("the section shows one lifecycle");
    };
    let nodes = "observe {\n        nodes: [Node] by names of content;";
    let unread = lifecycle.replace("observe {", nodes);
    let found = findings(&unread);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("LC064: `nodes`"), "{found:?}");
    let at = unread.rfind('}').expect("it ends");
    let allowed = format!("{}{line}}}", &unread[..at]);
    assert_eq!(findings(&allowed), [""; 0]);
}
