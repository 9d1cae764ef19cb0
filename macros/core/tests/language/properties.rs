//! Tests that `docs/properties.md` is true: its lifecycle is accepted without a finding, and each
//! edit of it gives exactly the findings below it.

use lifecycle_macros_core::check;

use super::page::blocks;
use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/properties.md");

fn example() -> &'static str {
    blocks(PAGE, "rust")[0].0
}

fn render_findings(text: &str) -> String {
    let found = check(body_of(text)).diagnostics;
    let line = |d: &lifecycle_macros_core::errors::Diagnostic| format!("error: {d}\n");
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the lifecycle after a diff. The added lines replace the removed lines before them;
/// additions without a removal go first in `properties`.
fn edited(diff: &str) -> String {
    let mut text = example().to_owned();
    let mut place = "    properties {\n".to_owned();
    for line in diff.lines() {
        let (mark, line) = line.split_at(1);
        let line = format!("{line}\n");
        match mark {
            "-" => {
                assert!(text.contains(&line), "the lifecycle has this line: {line}");
                text = text.replacen(&line, "        //\n", 1);
                place = "        //\n".to_owned();
            }
            _ => {
                text = text.replacen(&place, &format!("{place}{line}"), 1);
                place = line;
            }
        }
    }
    text
}

#[test]
fn the_example_is_accepted_without_a_finding() {
    assert_eq!(render_findings(example()), "");
}

/// Verifies the findings on the page. `BLESS=1` rewrites them.
#[test]
fn each_edit_gives_the_findings_that_are_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(edits.len() >= 8, "{}", edits.len());
    let mut page = String::new();
    let mut rest = PAGE;
    for (diff, after) in edits {
        let (shown, behind) = blocks(after, "text")[0];
        let text = edited(diff);
        assert_ne!(text, example());
        let before = rest.len() - behind.len() - "```\n".len() - shown.len();
        page += &rest[..before];
        page += &render_findings(&text);
        rest = &rest[before + shown.len()..];
    }
    page += rest;
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/properties.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&file).expect("the page is there");
    assert_eq!(
        written, page,
        "run this test with BLESS=1 and look at what it changes"
    );
}

/// The findings of the example with these lines first in its section, each as `code item [token] message`.
fn found_with(lines: &[&str]) -> Vec<String> {
    let diff: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    let found = check(body_of(&edited(&diff))).diagnostics;
    let line = |d: &lifecycle_macros_core::errors::Diagnostic| {
        let token = d.span.source_text().unwrap_or_default();
        format!("{} {} [{token}] {}", d.code, d.item, d.message)
    };
    found.iter().map(line).collect()
}

#[track_caller]
fn expect(lines: &[&str], expected: &[&str]) {
    let found = found_with(lines);
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

#[test]
fn a_broken_line_hides_no_other_and_says_what_to_write() {
    expect(
        &[
            "always instance == Running when suspended;",
            "never start when !open;",
            "stop after hide;",
            "Starting reaches Ready;",
            "reaches Ready or Taken from Starting;",
            "reaches Ready, Taken from Starting;",
            "always open in Ready at last;",
            "never suspended && open;",
            "eventually open;",
            "alwyas open in Ready;",
            "hide befor stop;",
            "always opn in Ready;",
        ],
        &[
            "LC000 properties [when] expected `&&`, `||`, `in`, `at rest` or `;`, found `when`: name the states after `in`, or write `!(..) || ..`",
            "LC000 lifecycle [when] expected `while`, found `when`: write `while`",
            "LC000 lifecycle [after] expected `before`, found `after`: write it the other way round, `first before then`",
            "LC000 lifecycle [reaches] expected `before`, found `reaches`: write `reaches State from Other`",
            "LC000 lifecycle [or] expected `|` or `from`, found `or`: several states are joined by `|`",
            "LC000 lifecycle [,] expected `|` or `from`, found `,`: several states are joined by `|`",
            "LC000 lifecycle [last] expected `rest`, found `last`",
            "LC000 lifecycle [&] expected `while`, found `&&`",
            "LC000 lifecycle [eventually] expected `always`, `never`, `reaches` or an effect and `before`, found `eventually`",
            "LC000 lifecycle [alwyas] expected `always`, `never`, `reaches` or an effect and `before`, found `alwyas`; did you mean `always`?",
            "LC000 lifecycle [befor] expected `before`, found `befor`; did you mean `before`?",
            "LC001 always [opn] `always`: unknown fact `opn`; did you mean `open`?",
        ],
    );
}

#[test]
fn unknown_names_suggest_the_near_one() {
    expect(
        &[
            "always instance == Runing in Redy;",
            "always opn;",
            "never strat while !open;",
            "hide before stp;",
            "reaches Ready | Takn from Startin;",
            "reaches Refused from Starting;",
            "always instance == Running in Ready, Ready;",
        ],
        &[
            "LC001 always [Runing] `always`: `Runing` is not a value of `instance`; did you mean `Running`?",
            "LC001 always [Redy] `always`: unknown state `Redy`; did you mean `Ready`?",
            "LC001 always [opn] `always`: unknown fact `opn`; did you mean `open`?",
            "LC001 never [strat] `never`: unknown effect `strat`; did you mean `start`?",
            "LC001 before [stp] `before`: unknown effect `stp`; did you mean `stop`?",
            "LC001 reaches [Takn] `reaches`: unknown state `Takn`; did you mean `Taken`?",
            "LC001 reaches [Startin] `reaches`: unknown state `Startin`; did you mean `Starting`?",
            "LC001 reaches [Refused] `reaches`: `Refused` is not the name of a state",
            "LC003 Ready [Ready] `Ready` is declared twice",
        ],
    );
}

#[test]
fn a_set_of_values_and_a_scope_are_told_apart() {
    expect(
        &[
            "always instance in { Running } && !suspended in Ready;",
            "always suspended in Closing, Stopping;",
            "always !open || window in Waiting, Ready at rest;",
            "always (suspended) && instance not in { Starting, Running } in Suspended at rest;",
        ],
        &[],
    );
}

/// The words of the section are words only where they stand first.
#[test]
fn an_effect_may_have_the_name_of_a_form() {
    let text = example().replace("hide", "always").replace("stop", "never");
    assert_eq!(render_findings(&text), "");
}

/// Of a volume, where nothing runs between two calls.
#[test]
fn a_volume_has_properties_of_its_calls_alone() {
    let volume = super::shipped::text("scratch");
    let with = |lines: &str| {
        let section = format!("    properties {{ {lines} }}\n    rpc {{");
        render_findings(&volume.replacen("    rpc {", &section, 1))
    };
    assert_eq!(
        with(
            "always staged in Published; never publish while !staged; never publish while asked == Block; never unstage while published;"
        ),
        ""
    );
    let found = with("never unpublish while found; stage before publish;");
    let lines: Vec<&str> = found.lines().filter(|l| l.starts_with("error")).collect();
    assert_eq!(
        lines,
        [
            "error: LC093: `unpublish` is enabled in `NodeUnpublishVolume` with `found && published && !refused(unpublish)`: 2 worlds",
            "error: LC096: this cannot fail: no quiet run has both: after `stage` only the environment leads to `publish`",
        ]
    );
    let found = with("always staged at rest; reaches Published from Staged;");
    let lines: Vec<&str> = found.lines().filter(|l| l.starts_with("error")).collect();
    assert_eq!(
        lines,
        [
            "error: LC005: `at rest` is not for a volume, which does nothing between its calls",
            "error: LC005: `reaches` is not for a volume, which does nothing between its calls",
        ]
    );
}
