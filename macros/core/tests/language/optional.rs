//! Objects that exist only sometimes: their meaning, the code that is generated for their readers,
//! and the clauses and items that do not fit them.

use lifecycle_macros_core::model::frames::{Dependency, Frames};
use lifecycle_macros_core::model::{Lifecycle, VarId};
use lifecycle_macros_core::space::summary::Summary;
use lifecycle_macros_core::{check, expand};

use super::shipped::body_of;

/// Returns the lifecycle of the recipe.
fn page() -> &'static str {
    let page = include_str!("../../../../docs/recipes.md");
    let (_, rest) = page
        .split_once("## An object that exists only sometimes")
        .expect("there is a recipe");
    let (_, rest) = rest.split_once("```text\n").expect("it shows one");
    rest.split("```").next().expect("it ends")
}

fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(page().to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text.replace(from, to)
    })
}

/// Checks the codes and items of the findings after some edits of the lifecycle.
#[track_caller]
fn expect(edits: &[(&str, &str)], expected: &[&str]) {
    let found = check(body_of(&edited(edits))).diagnostics;
    let found: Vec<_> = found
        .iter()
        .map(|d| format!("{} {}: {}", d.code, d.item, d.message))
        .collect();
    assert_eq!(found, expected);
}

fn model() -> Lifecycle {
    check(body_of(page())).model.expect("it is understood")
}

const INGRESS: &str = "owned Ingress by name meta.name if spec.host;";

#[test]
fn an_optional_object_has_the_worlds_of_any_other() {
    expect(&[], &[]);
    let worlds = |text: &str| {
        let model = check(body_of(text)).model.expect("it is understood");
        Summary::explore(&model).expect("it is explored").worlds
    };
    let always = edited(&[(" if spec.host", "")]);
    assert_eq!(worlds(page()), worlds(&always));
}

#[test]
fn its_verdict_reads_the_field_of_the_object() {
    let model = model();
    let var = model.vars.iter().position(|var| var.name == "ingress");
    let frames = Frames::new(&model);
    let reads = frames.reads(VarId(var.expect("it has a verdict")));
    assert!(reads.contains(&Dependency::Path("spec.host".to_owned())));
}

#[test]
fn its_apply_may_begin_a_deletion() {
    let model = model();
    let effect = model.effects.iter().find(|e| e.name == "apply_ingress");
    let effect = effect.expect("it is declared");
    let sets = effect.sets.iter().flatten();
    let values = sets.map(|one| model.vars[one.var.0].values[one.value].as_str());
    assert_eq!(Vec::from_iter(values), ["Current", "Terminating"]);
    // Without a state for that, the world has none.
    let mut lines = page().lines();
    let state = lines.find(|line| line.trim_start().starts_with("Removing "));
    expect(
        &[
            (state.expect("there is such a state"), ""),
            ("|| ingress != Current", "|| ingress in { Absent, Stale }"),
        ],
        &[
            "LC011 Page: 1 of 41 worlds match no state, for example `web == Current && ingress == Terminating`",
        ],
    );
}

#[test]
fn an_effect_that_is_forgotten_is_named() {
    let text = edited(&[("apply ingress from web;", "")]);
    let found = check(body_of(&text)).diagnostics;
    let found: Vec<_> = found.iter().map(|d| (d.code, d.message.as_str())).collect();
    let message = "dead end: in state `Making` with `web == Current && ingress == Absent` no effect is enabled and nothing is promised";
    assert_eq!(found, [("LC021", message)]);
    let found = check(body_of(&text)).diagnostics;
    let help = "no effect writes `ingress`: declare `apply ingress;`; or mark it `wakes web, ingress, self` if only a change of these can help";
    assert_eq!(found[0].help.as_deref(), Some(help));
}

#[test]
fn readers_get_it_only_if_it_exists() {
    let text = edited(&[
        (
            "taken = any",
            "open: bool from ingress given ingress == Current; live: bool from ingress given ingress == Stale; taken = any",
        ),
        ("=> Ready;", "&& !open && !live => Ready;"),
        ("apply web;", "apply web from ingress;"),
    ]);
    let code = expand(body_of(&text)).to_string().replace(' ', "");
    let option = "::std::option::Option<&Ingress>";
    assert!(code.contains(&format!(
        "ingress:{option})->::lifecycle_runtime::__private::Because<bool>"
    )));
    assert!(code.contains(
        "fnlive(&self,this:::lifecycle_runtime::__private::This<'_,Page>,ingress:&Ingress)"
    ));
    assert!(code.contains("pubingress:::std::option::Option<&'aIngress>,_proved"));
}

#[test]
fn the_clause_fits_one_owned_object_of_a_resource() {
    let cannot = "LC005 ingress: input `ingress` cannot have an `if`: only one `owned` object can";
    let other = |to: &'static str| [(INGRESS, to)];
    expect(
        &[
            (INGRESS, "shared Ingress by name meta.name if spec.host;"),
            ("any(web, ingress) == Foreign", "web == Foreign"),
        ],
        &[cannot],
    );
    expect(
        &[
            (
                INGRESS,
                "owned [Ingress] by labels { KEY = meta.name } if spec.host;",
            ),
            ("apply ingress from web", "apply each ingress from web"),
            ("ingress == Terminating", "ingress == Draining"),
        ],
        &[cannot],
    );
    expect(
        &other("owned Ingress by name meta.name if web;"),
        &["LC005 ingress: input `ingress`: `web` is no field of the object"],
    );
    expect(
        &other("owned Ingress by name spec.host if spec.host;"),
        &[
            "LC005 ingress: input `ingress` is named by `spec.host`, and would not be found where `spec.host` is not set",
        ],
    );
    expect(
        &other("owned Ingress by name spec.host.name if spec.host;"),
        &[
            "LC005 ingress: input `ingress` is named by `spec.host.name`, and would not be found where `spec.host` is not set",
        ],
    );
    expect(
        &other("owned Ingress by name meta.name if spec.host retain;"),
        &[
            "LC005 ingress: input `ingress` exists only if `spec.host` has a value, and a retained object is never deleted",
        ],
    );
    expect(
        &other("owned Ingress by name meta.name given web == Current if spec.host;"),
        &[
            "LC000 ingress: expected `&&`, `||` or the `;` of the input, found `if`: `given` comes after everything else of an input",
        ],
    );
}

#[test]
fn no_other_item_may_delete_it_or_need_it() {
    let web = "apply web;";
    expect(
        &[("apply ingress from web;", "delete ingress when taken;")],
        &[
            "LC005 delete_ingress: effect `delete_ingress`: `ingress` exists only if `spec.host` has a value, and only an `apply ingress` would make it, and delete it where it is not wanted",
        ],
    );
    let recorded = format!("{INGRESS} made: record of ingress;");
    expect(
        &[(INGRESS, recorded.as_str())],
        &["LC156 made: `made` is the record of `ingress`, which no effect creates"],
    );
    expect(
        &[(web, "apply web; delete ingress when taken;")],
        &[
            "LC005 delete_ingress: effect `delete_ingress`: `ingress` exists only if `spec.host` has a value, and `apply ingress` deletes it where it is not wanted",
        ],
    );
    expect(
        &[(web, "apply web; adopt ingress when taken;")],
        &[
            "LC005 adopt_ingress: effect `adopt_ingress`: `ingress` exists only if `spec.host` has a value, and an adopted object is not deleted",
        ],
    );
    expect(
        &[
            (
                "web:     owned Service by",
                "web: owned Service of ingress by",
            ),
            ("apply ingress from web", "apply ingress"),
        ],
        &[
            "LC005 web: input `web` cannot be owned by `ingress`, which exists only if `spec.host` has a value",
        ],
    );
    expect(
        &[
            ("taken = any", "mint key: Key in ingress; taken = any"),
            ("apply ingress from web", "apply ingress from web, key"),
        ],
        &["LC150 key: `key` is minted in `ingress`, which exists only sometimes"],
    );
}

#[test]
fn an_object_is_not_ready_while_one_that_it_writes_has_no_place() {
    let removing = "        Removing   when ingress == Terminating               => Pending;\n";
    let forgotten = [
        ("any(web, ingress) == Foreign", "web == Foreign"),
        (removing, ""),
        ("|| ingress != Current", "|| ingress in { Absent, Stale }"),
        ("all(web, ingress) == Current", "web == Current"),
    ];
    let ready = |value: &str, why: &str| {
        format!(
            "LC163 Ready: state `Ready` is Ready with `ingress == {value}`, although {why} and `apply_ingress` cannot write it"
        )
    };
    let taken = ready(
        "Foreign",
        "another controller or user holds the name of `ingress`",
    );
    let going = ready("Terminating", "`ingress` is still being deleted");
    expect(&forgotten, &[&taken, &going]);
    // Likewise for an object that always exists.
    let always = [forgotten.as_slice(), &[(" if spec.host", "")]].concat();
    expect(&always, &[&taken, &going]);
    // An object that nothing would write may have any owner.
    let unwritten = [
        always.as_slice(),
        &[
            ("facts {", "facts { open: bool from self;"),
            ("|| ingress in { Absent, Stale }", "|| open && ingress in { Absent, Stale }"),
            ("=> Ready;", "&& !open => Ready; goal Open when all(web, ingress) == Current => Ready; Lost when ingress == Foreign => Error wakes ingress, self; Going when ingress == Terminating => Pending;"),
            ("apply ingress from web;", "apply ingress from web when open;"),
        ],
    ]
    .concat();
    expect(&unwritten, &[]);
    // A goal that asks for the object accepts it.
    let asked = [
        &forgotten[..3],
        &[(
            "all(web, ingress) == Current",
            "web == Current && ingress not in { Absent, Stale }",
        )],
    ]
    .concat();
    expect(&asked, &[]);
}
