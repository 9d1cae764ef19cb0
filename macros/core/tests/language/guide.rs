//! What `docs/language.md` shows whole is true: its lifecycles are accepted, and a finding is what one gets without the lines that it says.

use lifecycle_macros_core::check;

use super::shipped::body_of;

const GUIDE: &str = include_str!("../../../../docs/language.md");

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
