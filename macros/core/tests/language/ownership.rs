//! `docs/ownership.md` is true: its lifecycle is accepted, each edit of it has the finding on the
//! page, and its statements about effects and verdicts hold.

use lifecycle_macros_core::check;
use lifecycle_macros_core::model::frames::Safety;
use lifecycle_macros_core::model::{Lifecycle, Verb};

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/ownership.md");

/// The lifecycle of the page.
fn account() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("it shows one");
    rest.split("```").next().expect("it ends")
}

/// Checks the codes and items of the findings after one edit of the lifecycle.
#[track_caller]
fn expect(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(account().matches(from).count(), 1, "`{from}` occurs once");
    let found = check(body_of(&account().replace(from, to))).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected);
}

fn model() -> Lifecycle {
    check(body_of(account())).model.expect("it is understood")
}

#[test]
fn the_lifecycle_of_the_page_is_accepted_and_is_the_one_that_runs() {
    let found = check(body_of(account())).diagnostics;
    assert!(found.is_empty(), "{found:?}");
    let runs = include_str!("../lifecycles/account.txt");
    assert_eq!(account().trim(), runs.trim());
}

#[test]
fn an_adoption_is_one_guarded_write_with_a_value_of_its_own() {
    let model = model();
    let adopts = model.effects.iter().find(|e| e.verb == Verb::Adopt);
    let adopts = adopts.expect("it adopts");
    assert_eq!(adopts.name, "adopt_secret");
    assert!(adopts.keeps, "what is adopted stays");
    assert_eq!(adopts.safety(&model), Safety::Guarded);
    let var = model.inputs[adopts.target.0].var.expect("it has a verdict");
    let values = &model.vars[var.0].values;
    assert!(values.contains(&"Adoptable".to_owned()), "{values:?}");
    let sets = adopts.sets.iter().flatten();
    let sets: Vec<&str> = sets.map(|set| values[set.value].as_str()).collect();
    assert_eq!(sets, ["Stale", "Current"]);
}

#[test]
fn a_state_must_say_what_becomes_of_what_can_be_adopted() {
    expect(
        "Adopting   when secret == Adoptable             => Pending;\n",
        "",
        &["LC001 transitions"],
    );
    let without = account().replace(
        "secret == Adoptable && !consent => Error",
        "secret == Stale && !consent => Error",
    );
    let without = without.replace(
        "Adopting   when secret == Adoptable ",
        "Adopting   when secret == Stale && consent ",
    );
    let found = check(body_of(&without)).diagnostics;
    assert!(found.iter().any(|one| one.code == "LC011"), "{found:?}");
}

#[test]
fn what_nobody_is_asked_for_or_takes_back_is_a_warning() {
    expect(
        "adopt secret when consent;",
        "adopt secret;",
        &[
            "LC133 adopt_secret",
            "LC030 Waiting -> Publishing, Waiting -> Ready",
        ],
    );
}

#[test]
fn a_policy_asks_nothing_that_only_the_object_itself_tells() {
    expect(
        "keeps: bool from self;",
        "keeps: bool from secret;",
        &["LC131 secret"],
    );
    expect(
        "consent: bool from self;",
        "consent: bool from secret;",
        &["LC131 adopt_secret"],
    );
    expect(
        "retain when keeps;",
        "retain when secret == Current;",
        &["LC131 secret"],
    );
}

#[test]
fn it_is_said_only_where_it_means_something() {
    let shared = account().replace("owned Secret", "shared Secret");
    let found = check(body_of(&shared)).diagnostics;
    let found: Vec<_> = found.iter().filter(|one| one.code == "LC130").collect();
    assert_eq!(found.len(), 2, "{found:?}");
    expect(
        "adopt secret when",
        "adopt secret from keeps when",
        &["LC060 adopt_secret", "LC130 adopt_secret"],
    );
    expect(
        "adopt secret when",
        "adopt each secret when",
        &["LC130 adopt_secret"],
    );
    let always = account().replace("retain when keeps", "retain");
    let always = always.replace("adopt secret when", "adopt secret without retain when");
    let found = check(body_of(&always)).diagnostics;
    assert_eq!(found.first().map(|one| one.code), Some("LC130"));
}
