//! `docs/teardown.md` is true: its lifecycle is accepted, each edit of it has the result on the
//! page, and its statements about stages of the teardown and the finalizer hold. `BLESS=1` writes
//! the findings into the page.

use std::path::Path;

use lifecycle_macros_core::check;
use lifecycle_macros_core::model::frames::Frames;
use lifecycle_macros_core::model::{EffectId, Lifecycle, VarId};
use lifecycle_macros_core::space::Space;
use lifecycle_macros_core::space::permission::Permissions;
use lifecycle_macros_core::space::policy::Choice;
use lifecycle_macros_core::space::world::World;

use super::shipped::body_of;

const PAGE: &str = include_str!("../../../../docs/teardown.md");

/// The lifecycle of the page.
fn machine() -> &'static str {
    let (_, rest) = PAGE.split_once("```rust\n").expect("it shows one");
    rest.split("```").next().expect("it ends")
}

fn found(text: &str) -> Vec<String> {
    let found = check(body_of(text)).diagnostics;
    found.iter().map(|d| format!("error: {d}")).collect()
}

/// Checks the codes and items of the findings after one edit of the lifecycle.
#[track_caller]
fn expect(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(machine().matches(from).count(), 1, "`{from}` occurs once");
    let found = check(body_of(&machine().replace(from, to))).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_lifecycle_of_the_page_is_accepted() {
    assert_eq!(found(machine()), [""; 0]);
}

/// Each block of a finding follows the line of the lifecycle that brings it about.
#[test]
fn each_finding_of_the_page_is_what_one_gets() {
    let mut parts = PAGE.split("```diff\n");
    let mut now = parts.next().expect("it begins").to_owned();
    let mut shown = 0;
    for block in parts {
        let (edit, rest) = block.split_once("```\n").expect("the edit ends");
        let (between, rest) = rest.split_once("```text\n").expect("its finding follows");
        let (_, after) = rest.split_once("```").expect("the finding ends");
        let line = |mark: char| {
            let mut lines = edit.lines().filter_map(|line| line.strip_prefix(mark));
            lines.next().expect("the line is there").trim().to_owned()
        };
        let (from, to) = (line('-'), line('+'));
        assert_eq!(machine().matches(&from).count(), 1, "`{from}` occurs once");
        let said = found(&machine().replace(&from, &to)).join("\n");
        now += &format!("```diff\n{edit}```\n{between}```text\n{said}\n```{after}");
        shown += 1;
    }
    assert_eq!(shown, 3);
    if std::env::var_os("BLESS").is_some() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/teardown.md");
        std::fs::write(page, &now).expect("the page is writable");
        return;
    }
    assert!(
        now == PAGE,
        "another finding; bless the page and review it:\n{now}"
    );
}

const DRAIN: &str = "drain  until served == Drained || infra not in { Stale, Current };";
const ABANDONED: &str = "abandoned when token == Absent \"";

#[test]
fn what_cannot_be_said_is_told_by_name() {
    expect(DRAIN, &format!("{DRAIN} {DRAIN}"), &["LC140 drain"]);
    expect(DRAIN, "drain until refused(drain);", &["LC140 drain"]);
    expect(DRAIN, "drian until served == Drained;", &["LC001 teardown"]);
    expect(DRAIN, "make until infra == Current;", &["LC142 make"]);
}

#[test]
fn giving_up_goes_by_what_is_asked() {
    let when = |when: &str| format!("abandoned when {when} \"");
    expect(
        ABANDONED,
        &when("token == Absent || served == No"),
        &["LC144 abandoned"],
    );
    let always = when("token in { Absent, Present }");
    let found = check(body_of(&machine().replace(ABANDONED, &always))).diagnostics;
    assert!(found.iter().any(|d| d.code == "LC145"), "{found:?}");
    expect(ABANDONED, &when("token == Absent || refused(drain)"), &[]);
}

#[test]
fn what_is_held_is_given_back_by_a_step_or_an_undo() {
    let held = |text: &str| {
        let held = "held entry: { No | Yes, Going } from node given node else Unseen;";
        let facts = machine().replace("disks:  {", &format!("{held}\n disks:  {{"));
        let effects = "take: call node when entry == No && served == Yes sets { entry = Yes } key meta.uid; give: call node sets { entry = Going } key meta.uid;";
        let effects = facts.replace("unmake: delete", &format!("{effects}\n unmake: delete"));
        let promises = effects.replace(
            "leaves: ",
            "goes: entry == Going sets { entry = No }; leaves: ",
        );
        let found = check(body_of(&promises.replace(DRAIN, text))).diagnostics;
        found.iter().map(|d| d.code).collect::<Vec<_>>()
    };
    assert!(held(DRAIN).contains(&"LC041"));
    let given = held(&format!("{DRAIN} give until entry == No;"));
    assert!(!given.contains(&"LC041"), "{given:?}");
}

/// Calls `look` with each world of the lifecycle on the page.
fn in_each_world(look: impl Fn(&Lifecycle, &Space<'_>, World<'_>, Choice)) {
    let model = check(body_of(machine())).model.expect("it is understood");
    let frames = Frames::new(&model);
    let permissions = Permissions::new(&model);
    let space = Space::build(&model, &frames, &permissions).expect("it is small");
    for index in space.worlds.indexes() {
        look(
            &model,
            &space,
            space.worlds.get(index),
            space.choices[index],
        );
    }
}

fn var(model: &Lifecycle, name: &str) -> VarId {
    let found = model.vars.iter().position(|var| var.name == name);
    VarId(found.expect("there is such a fact"))
}

fn value<'a>(model: &'a Lifecycle, world: World<'_>, name: &str) -> &'a str {
    let var = var(model, name);
    &model.vars[var.0].values[world.value(var)]
}

#[test]
fn nothing_is_unmade_before_it_is_drained_and_detached() {
    in_each_world(|model, _, world, choice| {
        let Choice::Effect(EffectId(effect)) = choice else {
            return;
        };
        let name = model.effects[effect].name.to_string();
        let value = |name| value(model, world, name);
        if name == "unmake" {
            assert_eq!((value("served"), value("disks")), ("Drained", "Detached"));
        }
        if name == "detach" {
            assert_eq!(value("served"), "Drained");
        }
        assert_eq!(value("deleting") == "true", name != "make", "{name}");
    });
}

#[test]
fn the_finalizer_comes_first_and_goes_last() {
    in_each_world(|model, space, world, choice| {
        let value = |name| value(model, world, name);
        let deleting = value("deleting") == "true";
        if !deleting && value("claimed") == "false" {
            assert!(
                !matches!(choice, Choice::Effect(_)),
                "nothing is made without it"
            );
            let there = ["Stale", "Current", "Terminating"].contains(&value("infra"));
            assert_eq!(choice == Choice::Seize, there);
        }
        if choice == Choice::Release {
            let is_over = !space.policy.is_left(world);
            assert!(is_over || value("token") == "Absent");
        }
    });
}

/// Tests the help for a lifecycle that abandons nothing: without the token nothing can be drained,
/// and the help shows how to abandon it.
#[test]
fn who_gives_nothing_up_is_told_how() {
    let mut lines = machine().lines();
    let gives_up = lines.find(|line| line.contains(ABANDONED));
    let without = machine().replace(gives_up.expect("it is given up"), "");
    let how = "to give up what is left there, add to `teardown`: `abandoned when token == Absent \"why it is left\";`";
    let said = found(&without);
    assert!(!said.is_empty());
    assert!(said.iter().all(|said| said.contains("LC040")), "{said:#?}");
    assert!(said.iter().any(|said| said.contains(how)), "{said:#?}");
    // Who gives something up knows how.
    let elsewhere = machine().replace("when token == Absent \"", "when refused(drain) \"");
    let said = found(&elsewhere);
    assert!(
        !said.is_empty() && !said.concat().contains(how),
        "{said:#?}"
    );
}
