//! Findings about declarations: each on its token, all at once, ordered by position, and none about
//! lost items.

use lifecycle_macros_core::{check, errors::Diagnostic};

const LIFECYCLE: &str = r#"
/// A resource with a part outside the cluster.
resource Thing;
observe {
    class:  Class         by name spec.class_name?;
    nodes:  [Node]        by names of class;
    store:  poll Info     by meta.uid every 30s;
    secret: owned Secret  by name meta.name;
}
facts {
    validity: { Fine, Bad } from class given class else Fine;
    held entry: { No, Taken | Stale, Current } from store given store else Unseen;
    let spot: Spot from nodes, secret;
    near: bool from spot;
}
states {
    Nameless when class == Unnamed => Error wakes self;
    Wrong    when class == Absent || validity == Bad => Error wakes class;
    Unseen   when entry == Unseen => Pending overdue 5min;
    Clash    when entry == Taken => Error wakes store, self;
    Refused_ when refused(put) => Error wakes self;
    Making   when entry in { No, Stale } => Pending;
    Foreign  when secret == Foreign => Error wakes secret;
    Handing  when secret != Current => Pending;
    Far      when !near => Pending wakes nodes;
    goal Ready when near => Ready;
}
effects {
    put:  call store when validity == Fine && entry in { No, Stale } sets { entry = Current } or { entry = Taken } undo drop_ key meta.uid;
    drop_: call store sets { entry = No } key meta.uid;
    apply secret from class when entry == Current;
}
promises { moves: secret == Current && !near sets { near = true }; }
status {
    condition Stored { True when entry == Current; False "Taken" when entry == Taken; Unknown "Working" otherwise; }
    ready from Stored;
    field phase = phase;
    field spots: Vec<Spot> from spot last_reported;
}
"#;

/// `line: code token message` of every finding, where the token is the text under its span.
fn render_findings(found: &[Diagnostic]) -> Vec<String> {
    let lines = found.iter().map(|d| {
        let token = d.span.source_text().unwrap_or_default();
        let line = d.span.start().line;
        format!("{line}: {} [{token}] {}", d.code, d.message)
    });
    lines.collect()
}

/// Findings in names and declarations of the lifecycle with `from` replaced by `to`; the later stages have tests of their own.
fn found_with(changes: &[(&str, &str)]) -> Vec<Diagnostic> {
    let mut text = LIFECYCLE.to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text = text.replace(from, to);
    }
    let later = |d: &Diagnostic| {
        let number: u32 = d.code[2..].parse().expect("a code ends in a number");
        !matches!(number, 11..=13 | 16 | 21..=31 | 40 | 48 | 49 | 51..=54 | 65 | 91 | 163 | 166 | 169)
    };
    let tokens = text.parse().expect("the lifecycle consists of tokens");
    let mut found = check(tokens).diagnostics;
    found.retain(later);
    found
}

#[track_caller]
fn expect(changes: &[(&str, &str)], expected: &[&str]) {
    let found = render_findings(&found_with(changes));
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

#[test]
fn the_lifecycle_itself_has_no_finding() {
    expect(&[], &[]);
}

#[test]
fn a_bad_item_is_reported_once_and_what_mentions_it_is_silent() {
    expect(
        &[(
            "validity: { Fine, Bad } from",
            "validity: { Fine, Bad } form",
        )],
        &["11: LC000 [form] expected `from`, found `form`; did you mean `from`?"],
    );
}

#[test]
fn a_missing_semicolon_costs_no_item() {
    expect(
        &[
            ("wakes class;", "wakes class"),
            ("near => Ready", "nera => Ready"),
        ],
        &[
            "18: LC000 [class] expected `;` after this",
            "26: LC001 [nera] state `Ready`: unknown fact `nera`; did you mean `near`?",
        ],
    );
}

#[test]
fn all_errors_come_at_once_and_in_order() {
    expect(
        &[
            ("from nodes, secret", "from node, secret"),
            ("entry == Taken => Error", "entry == Taken => Eror"),
            ("undo drop_ key meta.uid", "undo drop key meta.uid"),
            ("secret != Current", "secret != Curent"),
        ],
        &[
            "13: LC060 [node] value `spot` reads `node`, which is not observed: nothing would wake the object when it changes; did you mean `nodes`?",
            "20: LC050 [Eror] state `Clash` has phase `Eror`: a phase is `Pending`, `Ready`, `Error`, `Suspended` or `Ignored`",
            "24: LC001 [Curent] state `Handing`: `Curent` is not a value of `secret`; did you mean `Current`?",
            "29: LC001 [drop] effect `put`: unknown effect `drop`; did you mean `drop_`?",
        ],
    );
}

#[test]
fn an_unknown_section_is_read_as_the_one_that_was_meant() {
    expect(
        &[("facts {", "fact {"), ("near => Ready", "nera => Ready")],
        &[
            "10: LC001 [fact] unknown section `fact`; did you mean `facts`?",
            "26: LC001 [nera] state `Ready`: unknown fact `nera`; did you mean `near`?",
        ],
    );
}

#[test]
fn a_section_that_cannot_be_guessed_taints_all_names() {
    expect(
        &[("facts {", "wonders {")],
        &["10: LC001 [wonders] unknown section `wonders`"],
    );
}

#[test]
fn a_section_written_twice_is_refused_and_still_read() {
    expect(
        &[(
            "promises {",
            "facts { far: { Yes, No } from nodes; } promises { x: far == Maybe sets { far = No };",
        )],
        &[
            "33: LC003 [facts] `facts` is declared twice",
            "33: LC001 [Maybe] promise `x`: `Maybe` is not a value of `far`",
        ],
    );
}

#[test]
fn an_infinite_fact_is_refused_at_its_type() {
    expect(
        &[("near: bool", "near: u32")],
        &[
            "14: LC002 [u32] fact `near` has type `u32`: `bool` or a closed set `{ A, B, .. }`, for only finite facts can be checked",
        ],
    );
}

#[test]
fn names_are_declared_once() {
    expect(
        &[
            ("near: bool", "secret: bool"),
            ("!near =>", "secret =>"),
            ("goal Ready when near", "goal Clash when secret"),
            ("!near sets { near = true }", "near sets { near = Current }"),
        ],
        &[
            "14: LC003 [secret] `secret` is declared twice",
            "25: LC001 [secret] state `Far`: `secret` needs a value: `Absent`, `Foreign`, `Terminating`, `Stale`, `Current`",
            "26: LC003 [Clash] `Clash` is declared twice",
            "26: LC001 [secret] state `Clash`: `secret` needs a value: `Absent`, `Foreign`, `Terminating`, `Stale`, `Current`",
            "33: LC001 [near] promise `moves`: unknown fact `near`",
            "33: LC001 [near] promise `moves`: unknown fact `near`",
        ],
    );
}

#[test]
fn names_that_are_always_there_cannot_be_declared() {
    expect(
        &[
            ("Refused_ when", "Refused when"),
            ("Far      when !near", "Far when deleting && !near"),
        ],
        &[
            "21: LC003 [Refused] `Refused` is always there and cannot be declared again",
            "25: LC001 [deleting] state `Far`: `deleting` is not the name of a fact",
        ],
    );
}

#[test]
fn a_method_has_one_name() {
    expect(
        &[("field spots:", "field near:")],
        &["38: LC003 [near] `near` is declared twice"],
    );
    expect(
        &[("field spots:", "field poll_store:")],
        &["38: LC003 [poll_store] `poll_store` is declared twice"],
    );
}

#[test]
fn a_name_of_another_kind_is_explained() {
    let found = found_with(&[("Far      when !near", "Far when !spot")]);
    assert_eq!(
        render_findings(&found),
        ["25: LC001 [spot] state `Far`: `spot` is not the name of a fact"]
    );
    assert_eq!(
        found[0].help.as_deref(),
        Some("`spot` is a `let`, which is not finite: declare a fact `from` it")
    );
}

#[test]
fn facts_do_not_depend_on_themselves() {
    expect(
        &[(
            "let spot: Spot from nodes, secret;",
            "let spot: Spot from nodes, secret given near;",
        )],
        &["14: LC066 [spot] `near` depends on itself: near -> spot -> near"],
    );
}

#[test]
fn a_circle_is_shown_where_it_can_be_broken() {
    let found = found_with(&[
        (
            "class:  Class         by name spec.class_name?;",
            "secret: owned Secret of class by name meta.name; class: Class by name spec.class_name? given secret != Foreign;",
        ),
        ("secret: owned Secret  by name meta.name;", ""),
    ]);
    let circle =
        "5: LC066 [secret != Foreign] `secret` depends on itself: secret -> class -> secret";
    let found = render_findings(&found);
    assert!(found.contains(&circle.to_owned()), "{found:#?}");
}

#[test]
fn a_never_relates_facts_of_one_input() {
    expect(
        &[(
            "near: bool from spot;",
            "near: bool from spot; never entry == Taken && validity == Bad;",
        )],
        &[
            "14: LC015 [never entry == Taken && validity == Bad] `never` relates `validity` and `entry`, which share no input: the environment can bring this about at any time; give these worlds a state",
        ],
    );
    expect(
        &[(
            "near: bool from spot;",
            "near: bool from spot; never near && secret == Absent;",
        )],
        &[],
    );
}

#[test]
fn an_effect_sets_only_what_reads_its_target() {
    expect(
        &[(
            "sets { entry = No }",
            "sets { entry = No, validity = Fine }",
        )],
        &[
            "30: LC017 [validity] effect `drop_` writes `store` but claims to set `validity`, which does not read it",
        ],
    );
    expect(
        &[(
            "when entry == Current;\n}",
            "when entry == Current sets { secret = Current, near = true };\n}",
        )],
        &[],
    );
}

#[test]
fn a_call_says_what_it_establishes_and_under_which_key() {
    expect(
        &[("call store sets { entry = No } key meta.uid", "call store")],
        &[
            "30: LC018 [drop_] effect `drop_` is a `call` but does not declare what it establishes",
            "30: LC045 [drop_] effect `drop_` is a `call` without `key`: a crash after it would repeat or lose it",
        ],
    );
}

#[test]
fn what_is_acquired_has_an_undo() {
    let found = found_with(&[(" undo drop_", "")]);
    assert_eq!(
        render_findings(&found),
        ["29: LC041 [put] effect `put` acquires the held fact `entry` but names no `undo`"]
    );
    let help = "write `undo drop_`, or make that a step of the `teardown` if it has its turn";
    assert_eq!(found[0].help.as_deref(), Some(help));
}

#[test]
fn an_undo_undoes_something_held() {
    expect(
        &[(
            "held entry: { No, Taken | Stale, Current }",
            "entry: { No, Taken, Stale, Current }",
        )],
        &[
            "29: LC044 [drop_] effect `put` names an `undo` but acquires nothing that is `held`: the undo would never run on deletion",
        ],
    );
}

#[test]
fn what_is_unseen_is_not_free() {
    expect(
        &[
            ("given store else Unseen", "given store"),
            ("entry == Unseen", "store == Unknown"),
        ],
        &[
            "12: LC047 [store] held fact `entry` counts as released (`No`) while it is not observed: write `else` with a value that means unknown",
        ],
    );
    expect(
        &[
            ("given store else Unseen", "given store else Taken"),
            ("entry == Unseen", "store == Unknown"),
        ],
        &[
            "12: LC047 [Taken] held fact `entry` counts as released (`Taken`) while it is not observed: write `else` with a value that means unknown",
        ],
    );
    expect(
        &[
            (
                "store:  poll Info     by meta.uid every 30s;",
                "note: record String; store: poll Info by note every 30s given note != Absent;",
            ),
            (
                "given store else Unseen",
                "given note != Absent else No given store else Unseen",
            ),
            ("apply secret", "apply note; apply secret"),
        ],
        &[],
    );
}

#[test]
fn a_state_of_a_resource_has_a_phase() {
    expect(
        &[(
            "Far      when !near => Pending wakes nodes",
            "Far when !near",
        )],
        &[
            "25: LC050 [Far] state `Far` has no phase: write `=> Pending`, `=> Ready`, `=> Error`, `=> Suspended` or `=> Ignored`",
        ],
    );
}

#[test]
fn what_is_observed_is_read() {
    expect(
        &[(
            "store:  poll",
            "idle: Secret by name meta.name; store: poll",
        )],
        &["7: LC064 [idle] `idle` is watched but nothing reads it"],
    );
    expect(
        &[
            (
                "store:  poll",
                "idle: Secret by name meta.name; store: poll",
            ),
            ("from spot last_reported", "from spot, idle last_reported"),
        ],
        &[],
    );
}

#[test]
fn what_is_only_read_is_not_written() {
    expect(
        &[(
            "when entry == Current;\n}",
            "when entry == Current;\n apply class; x: call secret sets { near = true } key meta.uid;}",
        )],
        &[
            "32: LC070 [class] effect `apply_class` may not write `class`: it is only read; write `owned`, `shared` or `part` in `observe`",
            "32: LC070 [secret] effect `x` may not write `secret`: `call` works on a polled or probed input",
        ],
    );
}

#[test]
fn clauses_fit_their_items() {
    expect(
        &[
            (
                "[Node]        by names of class",
                "[Node] by name meta.name",
            ),
            ("Secret  by name meta.name", "Secret every 3s"),
            ("near: bool from", "near: { No | Yes } from"),
            ("sets { near = true }", "sets { near = Yes }"),
            ("when near =>", "when near == Yes =>"),
            ("!near =>", "near == No =>"),
            ("&& !near sets", "&& near == No sets"),
            ("apply secret", "apply each secret"),
        ],
        &[
            "6: LC005 [by name meta.name] input `nodes` cannot be found like this",
            "8: LC005 [secret] input `secret` does not declare how it is found",
            "8: LC005 [every] input `secret` is not polled: its watch reports changes at once",
            "14: LC005 [Yes] fact `near` has a bar but is not `held`",
            "31: LC005 [each] effect `apply_secret` has `each`, but `secret` is one object",
        ],
    );
}

#[test]
fn one_object_that_is_observed_may_own_another() {
    let owned = |of: &str, expected: &[&str]| {
        let line = format!("owned Secret of {of} by name meta.name");
        expect(&[("owned Secret  by name meta.name", &line)], expected);
    };
    owned("class", &[]);
    let cannot = |of: &str| format!("8: LC005 [{of}] input `secret` cannot be owned by `{of}`");
    for of in ["nodes", "store", "secret"] {
        owned(of, &[&cannot(of)]);
    }
    owned(
        "clas",
        &["8: LC001 [clas] input `secret`: unknown input `clas`; did you mean `class`?"],
    );
    expect(
        &[("Class         by name", "Class of secret by name")],
        &["5: LC005 [secret] input `class` has no other owner"],
    );
}

#[test]
fn only_what_is_owned_may_be_without_a_controller() {
    let secret = "owned Secret  by name meta.name";
    for line in [
        "owned Secret of class without controller by name meta.name",
        "owned Secret without controller by name meta.name",
    ] {
        expect(&[(secret, line)], &[]);
    }
    expect(
        &[(
            "Class         by name spec.class_name?",
            "Class without controller by name spec.class_name?",
        )],
        &["5: LC005 [without controller] input `class` has no controller"],
    );
}

#[test]
fn only_lists_of_what_is_owned_are_ours_as_a_whole() {
    expect(
        &[(
            "owned Secret  by name meta.name",
            "owned Secret by name meta.name exclusive data.a, data.b",
        )],
        &[],
    );
    expect(
        &[(
            "Class         by name spec.class_name?",
            "Class by name spec.class_name? exclusive data.a",
        )],
        &["5: LC005 [exclusive data.a] input `class` may have elements of other owners"],
    );
}

#[test]
fn what_is_not_written_has_no_reason_and_what_no_state_says_has_one_place() {
    let last = "Unknown \"Working\" otherwise;";
    expect(&[(last, "Absent \"Pending\" \"soon\" otherwise;")], &[]);
    expect(
        &[(last, "Omit \"Reason\" otherwise;")],
        &["35: LC005 [Omit \"Reason\" otherwise] condition `Stored`: `Omit` writes nothing"],
    );
    expect(
        &[(last, "Absent event \"Gone\" otherwise;")],
        &[
            "35: LC005 [Absent event \"Gone\" otherwise] condition `Stored`: `Absent` writes nothing",
        ],
    );
    let ready = "ready from Stored;";
    expect(
        &[(
            ready,
            "ready \"Ready\" \"OK\" from Stored; implicit in Stored \"Error\";",
        )],
        &[],
    );
    expect(
        &[(ready, "implicit in Stord \"Error\";")],
        &["36: LC001 [Stord] `implicit`: unknown condition `Stord`; did you mean `Stored`?"],
    );
    expect(
        &[(ready, "implicit in Stored \"A\"; implicit in Stored \"B\";")],
        &["36: LC003 [implicit] `implicit` is declared twice"],
    );
    expect(
        &[(ready, "implicit in Stored;")],
        &["36: LC000 [;] expected the reason, a string, found `;`"],
    );
}

#[test]
fn a_fact_has_at_most_64_values() {
    let many = |count: usize| {
        let values: Vec<String> = (0..count).map(|n| format!("V{n}")).collect();
        format!(
            "many: {{ {} }} from class; all = many == V0; never all && class == Absent; near: bool",
            values.join(", ")
        )
    };
    expect(&[("near: bool", &many(64))], &[]);
    expect(
        &[("near: bool", &many(65))],
        &["14: LC006 [many] fact `many` has 65 values, and a fact may have 64"],
    );
}

#[test]
fn a_broken_clause_of_a_condition_leaves_the_others() {
    expect(
        &[
            ("False \"Taken\" when entry", "No \"Taken\" when entry"),
            ("ready from Stored", "ready from Stord"),
        ],
        &[
            "35: LC000 [No] expected `True`, `False`, `Unknown`, `Absent` or `Omit`, found `No`",
            "36: LC001 [Stord] `ready`: unknown condition `Stord`; did you mean `Stored`?",
        ],
    );
}

#[test]
fn the_end_of_a_block_is_said_to_be_found() {
    expect(
        &[("near: bool from spot;", "near: bool from spot given")],
        &["15: LC000 [}] expected a fact, found the end of the block"],
    );
}

#[test]
fn without_a_name_nothing_is_understood() {
    let found = check("resource; facts { }".parse().expect("tokens"));
    assert!(found.ast.is_none() && found.model.is_none());
    assert_eq!(
        render_findings(&found.diagnostics),
        ["1: LC000 [;] expected the name of a type, found `;`"]
    );
    let found = check("volume".parse().expect("tokens"));
    assert_eq!(
        render_findings(&found.diagnostics),
        ["1: LC000 [volume] expected the name of a type, found the end of the block"]
    );
}

#[test]
fn a_half_typed_lifecycle_is_still_shown() {
    let text = LIFECYCLE.split("effects {").next().expect("a first part");
    let found = check(text.parse().expect("tokens"));
    let ast = found.ast.expect("the name is there");
    assert_eq!(
        (ast.inputs.len(), ast.facts.len(), ast.states.len()),
        (4, 3, 10)
    );
    assert_eq!(
        render_findings(&found.diagnostics),
        ["21: LC001 [put] state `Refused_`: unknown effect `put`"]
    );
}
