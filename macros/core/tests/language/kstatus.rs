//! `docs/kstatus.md` is true: its lifecycle is accepted, and each edit of it has the result on the
//! page. The line occurs once, even if a fragment has it.

use lifecycle_macros_core::{check, check_with, expand, find_in};

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/kstatus.md");

/// The lifecycle of the page.
fn page() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("it shows one");
    rest.split("```").next().expect("it ends")
}

fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(|d| format!("error: {d}")).collect()
}

#[test]
fn the_lifecycle_of_the_page_is_accepted() {
    assert_eq!(found(page()), [""; 0]);
}

/// Each block of a finding follows the line of the lifecycle that brings it about.
#[test]
fn each_finding_of_the_page_is_what_one_gets() {
    let mut shown = 0;
    for block in PAGE.split("```diff\n").skip(1) {
        let (edit, rest) = block.split_once("```\n").expect("the edit ends");
        let (_, rest) = rest.split_once("```text\n").expect("its finding follows");
        let said = rest.split("```").next().expect("the finding ends");
        let line = |mark: char| {
            let mut lines = edit.lines().filter_map(|line| line.strip_prefix(mark));
            lines.next().expect("the line is there").trim().to_owned()
        };
        let (from, to) = (line('-'), line('+'));
        assert_eq!(page().matches(&from).count(), 1, "`{from}` occurs once");
        assert_eq!(found(&page().replace(&from, &to)), [said.trim_end()]);
        shown += 1;
    }
    assert_eq!(shown, 2);
}

#[test]
fn the_line_is_in_what_is_generated() {
    let generated = |text: &str| {
        let tokens = expand(body_of(text)).to_string();
        tokens.split_whitespace().collect::<String>()
    };
    assert!(generated(page()).contains("kstatus:true"));
    let without = page().replace("        kstatus;\n", "");
    assert!(generated(&without).contains("kstatus:false"));
}

/// Checks the codes and items of the findings for these lines of a status.
#[track_caller]
fn expect(status: &str, expected: &[&str]) {
    let text = page().replace("        kstatus;\n", status);
    let found = check(body_of(&text)).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected, "{status}");
}

#[test]
fn what_is_called_as_what_it_writes_is_refused() {
    expect(
        "field observed_generation = phase; kstatus;",
        &["LC122 observed_generation"],
    );
    expect("field observed_generation = phase;", &[]);
    expect("kstatus; kstatus;", &["LC003 kstatus"]);
    expect("kstatu;", &["LC000 lifecycle"]);
    expect(
        "condition Stalled { True when paused; False otherwise; } kstatus;",
        &["LC122 Stalled"],
    );
}

/// Tests that a fragment may bring the line, and that the lifecycle may not repeat it.
#[test]
fn a_fragment_brings_the_line() {
    let of = |own: &str| {
        let found = find_in(&format!(
            "fragment! {{ fragment told; observe {{ other: Node by name spec.node; }} states {{ Lost when !other => Error wakes other; }}
                 status {{ kstatus; }} }}
             lifecycle! {{ resource Thing; use told; observe {{ class: Node by name spec.class; }}
                 states {{ use told; NoClass when !class => Error wakes class; goal Ready when class => Ready; }} {own} }}"
        ));
        let found = found.expect("it is Rust");
        let checked = check_with(found.lifecycles[0].clone(), &found.fragments);
        let model = checked.model.as_ref().map(|model| model.kstatus);
        let said = checked
            .diagnostics
            .iter()
            .map(|d| format!("{} {}", d.code, d.item));
        (model, said.collect::<Vec<_>>())
    };
    assert_eq!(of(""), (Some(true), Vec::new()));
    assert_eq!(of("status { kstatus; }").1, ["LC003 kstatus"]);
}
