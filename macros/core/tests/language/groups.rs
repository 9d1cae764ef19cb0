//! Groups: the meaning of their members in the language, and the code that is generated for them.

use lifecycle_macros_core::check;
use lifecycle_macros_core::model::frames::{Dependency, Frames, Safety};
use lifecycle_macros_core::model::{InputId, Lifecycle, VarId};
use lifecycle_macros_core::space::summary::Summary;

use super::shipped::body_of;

const FRONT: &str = include_str!("../lifecycles/front.txt");

/// Checks the codes and items of the findings after one edit of the lifecycle.
#[track_caller]
fn expect(from: &str, to: &str, expected: &[&str]) {
    assert_eq!(FRONT.matches(from).count(), 1, "`{from}` occurs once");
    let found = check(body_of(&FRONT.replace(from, to))).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}", d.code, d.item))
        .collect();
    assert_eq!(found, expected);
}

fn model() -> Lifecycle {
    check(body_of(FRONT)).model.expect("it is understood")
}

fn input(model: &Lifecycle, name: &str) -> InputId {
    let mut inputs = model.inputs.iter();
    let at = inputs.position(|input| input.name == name);
    InputId(at.expect("it is declared"))
}

#[test]
fn the_lifecycle_of_the_page_is_the_one_that_runs() {
    let page = include_str!("../../../../docs/groups.md");
    let (_, rest) = page.split_once("```rust\n").expect("it shows one");
    let shown = rest.split("```").next().expect("it ends");
    assert_eq!(shown.trim(), FRONT.trim());
}

#[test]
fn five_objects_have_the_worlds_of_one() {
    let found = check(body_of(FRONT)).diagnostics;
    assert!(found.is_empty(), "{found:?}");
    let worlds = Summary::explore(&model()).expect("it is explored").worlds;
    assert_eq!(worlds, 9);
}

#[test]
fn objects_by_themselves_are_too_many_and_are_told_so() {
    let names = ["account", "config", "web", "server", "budget", "route"];
    let each = |of: fn(&str) -> String| names.map(of).concat();
    let inputs = each(|name| format!("{name}: owned ConfigMap by ref;"));
    let effects = each(|name| format!("apply {name};"));
    let any = |value: &str| format!("any({}) == {value}", names.join(", "));
    let text = format!(
        "lifecycle! {{ resource Front; observe {{ {inputs} }} states {{
            Taken when {} => Error wakes {}; Going when {} => Pending; Building when {} || {} => Pending;
            goal Ready when all({}) == Current => Ready;
        }} effects {{ {effects} }} }}",
        any("Foreign"),
        names.join(", "),
        any("Terminating"),
        any("Absent"),
        any("Stale"),
        names.join(", "),
    );
    let found = check(body_of(&text)).diagnostics;
    let codes: Vec<_> = found.iter().map(|found| found.code).collect();
    assert_eq!(codes, ["LC091"], "{found:?}");
    let help = found[0].help.as_deref().unwrap_or_default();
    let group =
        "`parts: owned { account: ..; config: ..; web: ..; server: ..; budget: ..; route: ..; };`";
    assert!(help.contains(group), "{help}");
    assert!(help.contains("neither observed nor repaired"), "{help}");
}

#[test]
fn objects_of_which_one_is_built_from_another_may_be_a_group_as_well() {
    let names = ["account", "config", "web", "server", "budget", "route"];
    let inputs = names.map(|name| format!("{name}: owned ConfigMap by ref;"));
    let effects = names.map(|name| match name {
        "web" => "apply web from account;".to_owned(),
        _ => format!("apply {name};"),
    });
    let all = names.join(", ");
    let text = format!(
        "lifecycle! {{ resource Front; observe {{ {} }} states {{
            Building when any({all}) in {{ Absent, Stale, Foreign, Terminating }} => Pending;
            goal Ready when all({all}) == Current => Ready;
        }} effects {{ {} }} }}",
        inputs.concat(),
        effects.concat(),
    );
    let found = check(body_of(&text)).diagnostics;
    let found = found.iter().find(|found| found.code == "LC091");
    let help = found.and_then(|found| found.help.as_deref());
    let group = "`parts: owned { account: ..; config: ..; web: ..; server: ..; budget: ..; route: ..; };` and `apply each parts`, if `apply_web` can build without `from` another of them; or";
    assert!(help.is_some_and(|help| help.contains(group)), "{help:?}");
}

#[test]
fn a_group_that_deletes_no_member_is_asked_to() {
    let text = FRONT
        .replace("delete each parts;", "")
        .replace("optional", "");
    let found = check(body_of(&text)).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.code, found.help.as_deref().unwrap_or_default()))
        .collect();
    let help = "no effect deletes members of `parts` that are not wanted any more: declare `delete each parts;`; or mark it `wakes parts, self` if only a change of these can help";
    assert_eq!(found, [("LC021", help)]);
}

#[test]
fn a_front_is_not_ready_while_a_name_of_its_group_is_taken() {
    let edits = [
        (
            "Taken      when parts == Foreign             => Error wakes parts;",
            "",
        ),
        ("False \"NameTaken\"   when parts == Foreign;", ""),
        ("else Going;", "else Done;"),
    ];
    let text = edits.iter().fold(FRONT.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text.replace(from, to)
    });
    let found = check(body_of(&text)).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.code, found.message.as_str()))
        .collect();
    let message = "state `Ready` is Ready with `parts == Foreign`, although another controller or user holds a name in `parts` and `apply_parts` cannot write it";
    assert_eq!(found, [("LC163", message)]);
}

#[test]
fn a_group_has_one_verdict_and_its_members_have_none() {
    let model = model();
    let group = input(&model, "parts");
    let members: Vec<_> = model.members(group).map(|(_, one)| one).collect();
    let names: Vec<String> = members.iter().map(|one| one.name.to_string()).collect();
    assert_eq!(names, ["account", "config", "web", "server", "budget"]);
    let optional: Vec<bool> = members.iter().map(|one| one.optional).collect();
    assert_eq!(optional, [false, false, false, false, true]);
    assert!(members.iter().all(|one| one.var.is_none()));
    let var = model.inputs[group.0].var.expect("it has a verdict");
    let values = ["Behind", "Surplus", "Draining", "Foreign", "Current"];
    assert_eq!(model.vars[var.0].values, values);
    assert_eq!(model.effects[0].safety(&model), Safety::Create);
}

#[test]
fn a_write_of_a_group_changes_what_reads_one_of_its_members() {
    let model = model();
    let frames = Frames::new(&model);
    let var = |name: &str| {
        let mut vars = model.vars.iter();
        VarId(vars.position(|var| var.name == name).expect("it is asked"))
    };
    let reads = |name: &str, of: &str| {
        let reads = frames.reads(var(name));
        reads.contains(&Dependency::Input(input(&model, of)))
    };
    assert!(reads("parts", "budget") && reads("served", "server"));
    let affected = frames.affected(lifecycle_macros_core::model::EffectId(0));
    assert!(affected.contains(&var("parts")) && affected.contains(&var("served")));
}

#[test]
fn a_group_is_looked_at_as_a_whole_or_not_at_all() {
    let given = FRONT.replace(
        "        };\n    }\n    facts {",
        "        } given wanted;\n    }\n    facts {\n        wanted: bool from self;",
    );
    let model = check(body_of(&given)).model.expect("it is understood");
    let asked = model.inputs.iter().filter(|input| input.given.is_some());
    assert_eq!(asked.count(), 6);
}

#[test]
fn what_is_no_member_is_refused() {
    let config = "config:  ConfigMap                    by name meta.name;";
    let with = |line: &str| line.to_owned();
    expect(
        config,
        &with("config: owned ConfigMap by name meta.name;"),
        &["LC105 config"],
    );
    expect(
        config,
        &with("config: shared ConfigMap by name meta.name;"),
        &["LC105 config"],
    );
    expect(
        config,
        &with("config: [ConfigMap] by owner;"),
        &["LC105 config"],
    );
    expect(
        config,
        &with("config: ConfigMap by name meta.name retain;"),
        &["LC105 config"],
    );
    expect(
        config,
        &with("config: ConfigMap by name meta.name given served == Done;"),
        &["LC105 config"],
    );
    expect(config, "config: ConfigMap;", &["LC005 config"]);
    expect(
        config,
        "config: ConfigMap by name spec.config;",
        &["LC162 config"],
    );
}

#[test]
fn one_of_a_group_is_not_written_alone_and_not_needed() {
    expect(
        "apply each parts;",
        "apply each parts; apply config;",
        &["LC105 apply_config"],
    );
    expect("apply each parts;", "apply parts;", &["LC005 apply_parts"]);
    expect("from server given", "from parts given", &["LC105 parts"]);
    expect(
        "apply each parts;",
        "apply each parts from config;",
        &["LC105 config"],
    );
    expect(
        "apply each parts;",
        "create each parts;",
        &["LC155 create_parts", "LC156 create_parts"],
    );
    expect(
        "apply each parts;",
        "apply each parts; adopt parts;",
        &["LC130 adopt_parts"],
    );
}

#[test]
fn builders_are_methods_of_their_own() {
    let fact = "served: { Going, Failed, Done } from server given parts == Current else Going;";
    expect(
        fact,
        &format!("{fact} apply_parts_web: bool from self;"),
        &["LC003 apply_parts_web"],
    );
}
