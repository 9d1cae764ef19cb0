//! Tests that `docs/minting.md` is true: its lifecycle is the one that runs, and each edit of it
//! gives exactly the findings below it.

use super::page::{assert_finding, blocks, found};

const PAGE: &str = include_str!("../../../../docs/minting.md");
const LOGIN: &str = include_str!("../lifecycles/login.txt");
const LEAF: &str = include_str!("../lifecycles/leaf.txt");

/// A lifecycle with a text in the place of another.
fn edited(text: &str, old: &str, new: &str) -> Vec<String> {
    assert_eq!(text.matches(old).count(), 1, "{old}");
    found(&text.replace(old, new))
}

#[test]
fn the_login_of_the_page_is_the_one_that_runs() {
    assert_eq!(blocks(PAGE, "rust")[0].0.trim_end(), LOGIN.trim_end());
    assert_eq!(found(LOGIN), [""; 0]);
}

#[test]
fn each_edit_gives_the_findings_that_are_shown() {
    let edits = blocks(PAGE, "diff");
    assert!(!edits.is_empty());
    for (diff, after) in edits {
        let shown = blocks(after, "text")[0].0;
        let line = |mark| diff.lines().find_map(|line| line.strip_prefix(mark));
        let (old, new) = (
            line('-').expect("a line goes"),
            line('+').expect("one comes"),
        );
        let said = edited(LOGIN, old, new).join("\n");
        assert_eq!(format!("error: {said}\n"), shown, "{diff}");
    }
}

const MINT: &str = "mint password: Password in secret from now until due == Yes;";

#[test]
fn a_slip_in_the_line_of_a_mint_is_told_with_what_to_write() {
    for slip in [
        "mint password: Password;",
        "mint password in secret;",
        "mint password: Password from now in secret;",
    ] {
        assert_finding(&edited(LOGIN, MINT, slip), &["LC000"]);
    }
    assert_finding(
        &edited(LOGIN, MINT, "mint password: Password in secrt;"),
        &["LC060", "`secrt`", "`secret`"],
    );
    assert_finding(
        &edited(
            LOGIN,
            MINT,
            "mint password: Password in secret until du == Yes;",
        ),
        &["LC001", "`du`", "`due`"],
    );
}

#[test]
fn a_fact_may_be_called_mint() {
    let text = LOGIN.replace("due: { No, Yes }", "mint: { No, Yes }");
    assert_eq!(found(&text.replace("due == Yes", "mint == Yes")), [""; 0]);
}

#[test]
fn what_keeps_a_value_is_no_part_of_what_it_is_made_from() {
    let own = MINT.replace("from now", "from secret");
    assert_finding(
        &edited(LOGIN, MINT, &own),
        &["LC153", "`secret` from `secret`"],
    );
}

#[test]
fn what_would_need_the_verdict_on_its_keeper_depends_on_itself() {
    let until = MINT.replace("due == Yes", "secret == Stale");
    assert_finding(&edited(LOGIN, MINT, &until), &["LC066", "`secret`"]);
    let given = "due: { No, Yes } from secret, now given secret == Current;";
    let given = edited(LOGIN, "due: { No, Yes } from secret, now;", given);
    assert_finding(&given, &["LC066"]);
}

#[test]
fn a_rotation_ends_in_every_world() {
    let asks_self = "due:    { No, Soon } from self, now;";
    let without = LEAF.replace("due:    { No, Soon } from tls, now;", asks_self);
    assert_finding(&found(&without), &["LC154", "due == Soon", "`apply_tls`"]);
}

#[test]
fn only_what_builds_the_keeper_is_given_what_is_kept() {
    let copied = edited(
        LOGIN,
        "apply each copies from secret;",
        "apply each copies from password;",
    );
    assert_finding(&copied, &["LC152", "read `secret`"]);
    let told = edited(
        LOGIN,
        "ready from Made;",
        "ready from Made; field at: String from password;",
    );
    assert_finding(&told, &["LC152", "field `at`"]);
}

#[test]
fn neither_a_volume_nor_a_fragment_mints() {
    let text = include_str!("../lifecycles/provision.txt");
    let text = text.replacen("facts {", "facts { mint key: Key in claim;", 1);
    assert_finding(
        &found(&text),
        &["LC150", "a call of a volume mints nothing"],
    );
    let fragment = "fragment room; observe { home: owned Secret by name meta.name; } facts { mint key: Key in home; }";
    let tokens = fragment.parse().expect("tokens");
    let said = lifecycle_macros_core::check_fragment(tokens).diagnostics;
    let said: Vec<String> = said.iter().map(ToString::to_string).collect();
    assert_finding(&said, &["LC150", "in a fragment"]);
}
