//! No text nests the checker without bound: each bound reports an error at its place, and real
//! declarations stay far below it. Without a bound, a stack overflow ends the test process.

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Diagnostic;

use super::shipped::body_of;

/// Returns the findings for a lifecycle with these `observe`, `facts`, `states` and the text behind
/// them.
fn found(observe: &str, facts: &str, states: &str, rest: &str) -> Vec<Diagnostic> {
    let text = format!(
        "lifecycle! {{ resource Thing;
            observe {{ c: ConfigMap by name spec.class; {observe} }}
            facts {{ {facts} }}
            states {{ {states} }}
            {rest}
        }}"
    );
    check(body_of(&text)).diagnostics
}

/// Returns the findings for states that one predicate distinguishes.
fn by(pred: &str) -> Vec<Diagnostic> {
    let states =
        format!("goal On when {pred} => Ready; goal Off when !c => Ready; Odd when c => Pending;");
    found("", "", &states, "")
}

fn nested(open: &str, depth: usize, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

fn codes(found: &[Diagnostic]) -> Vec<&str> {
    found.iter().map(|d| d.code).collect()
}

#[test]
fn predicates_nest_as_deep_as_people_write_them() {
    let pred = |depth| nested("!(", depth, "c", ")");
    let inner = by(&pred(32));
    assert!(!codes(&inner).contains(&"LC000"), "{inner:?}");
    let outer = by(&pred(33));
    assert_eq!(codes(&outer), ["LC000"], "{outer:?}");
    let text = &outer[0].message;
    assert!(text.contains("at most 64 levels of `!` and `(`"), "{text}");
}

#[test]
fn a_predicate_that_nests_deeper_is_an_error_where_it_does() {
    let deep = [
        ("!", nested("!", 20_000, "c", ""), 64),
        ("(", nested("(", 50_000, "c", ")"), 64),
        ("!(", nested("!(", 20_000, "c", ")"), 64),
        ("(c &&", nested("(c&&", 20_000, "c", ")"), 4 * 64),
    ];
    for (what, pred, at) in deep {
        let found = by(&pred);
        assert_eq!(codes(&found), ["LC000"], "{what}");
        let begin = by("c && oddity")[0].span.start().column - "c && ".len();
        assert_eq!(found[0].span.start().column, begin + at, "{what}");
    }
}

#[test]
fn every_place_of_a_predicate_has_the_bound() {
    let deep = nested("!", 20_000, "c", "");
    let promise = format!("promises {{ p: {deep} sets {{ c = Absent }}; }}");
    let condition = format!("status {{ condition A {{ True when {deep}; }} }}");
    let all = [
        found(
            &format!("d: ConfigMap by name meta.name given {deep};"),
            "",
            "",
            "",
        ),
        found("", &format!("f: bool from c given {deep};"), "", ""),
        found("", &format!("never {deep};"), "", ""),
        found("", &format!("let f: Text from c given {deep};"), "", ""),
        found("", "", "", &promise),
        found("", "", "", &condition),
        found(
            "o: owned ConfigMap by name meta.name;",
            "",
            "",
            &format!("effects {{ apply o when {deep}; }}"),
        ),
    ];
    for found in all {
        assert_eq!(codes(&found), ["LC000"], "{found:?}");
    }
    let volume = format!(
        "lifecycle! {{ volume V; observe {{ }} rpc {{ unknown when {deep}; NodeStageVolume -> {deep}; }} }}"
    );
    assert_eq!(
        codes(&check(body_of(&volume)).diagnostics),
        ["LC000", "LC000"]
    );
}

#[test]
fn a_type_that_nests_deeper_is_an_error_at_its_place() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("&", ""),
        ("Vec<", ">"),
        ("*const ", ""),
        ("fn() -> ", ""),
        ("<", " as A>::B"),
        ("Box<[T; (", ")]>"),
        ("Box<[T; ", ".a]>"),
    ] {
        for depth in [6, 30, 40, 50_000] {
            let ty = nested(open, depth, "T", close);
            for found in [
                found(&format!("d: owned {ty} by name meta.name;"), "", "", ""),
                found("", &format!("f: {ty} from c;"), "", ""),
                found("", &format!("let f: {ty} from c;"), "", ""),
                found("", "", "", &format!("status {{ field f: {ty} from c; }}")),
            ] {
                let is_unwieldy = |d: &Diagnostic| d.message.contains("brackets and signs");
                let refused = found.iter().any(is_unwieldy);
                // Between them it depends on how many signs a level takes.
                assert!(
                    depth == 30 || refused == (depth > 30),
                    "{open} {depth} {found:?}"
                );
            }
        }
    }
    for long in ["!", "-", "1+", "1."] {
        let ty = format!("[T; {}1]", long.repeat(20_000));
        let found = found("", &format!("let f: {ty} from c;"), "", "");
        assert_eq!(codes(&found), ["LC000"], "{found:?}");
        assert!(found[0].message.contains("128 tokens"), "{found:?}");
    }
}

#[test]
fn whatever_else_nests_is_an_error() {
    let (round, brace) = (nested("(", 50_000, "c", ")"), nested("{", 50_000, "c", "}"));
    for group in [&round, &brace] {
        for text in [
            format!("#[doc = {group}] A when c => Pending;"),
            format!("#[{group}] A when c => Pending;"),
            format!("A when c in {group} => Pending;"),
            format!("A {group} when c => Pending;"),
            group.clone(),
        ] {
            let found = found("", "", &text, "");
            assert!(codes(&found).contains(&"LC000"), "{found:?}");
        }
        let found = found(
            "",
            "",
            "",
            &format!("status {{ condition A {{ True \"A\" \"{{{group}}}\" otherwise; }} }}"),
        );
        assert!(!found.is_empty());
    }
    let body = check(body_of(&format!("lifecycle! {{ {round} }}")));
    assert_eq!(codes(&body.diagnostics), ["LC000"]);
}

/// `each` for every number but the first, which it may name.
fn chain(count: usize, first: &str, each: impl Fn(usize, usize) -> String) -> String {
    let rest = (1..count).map(|at| each(at, at - 1));
    std::iter::once(first.to_owned()).chain(rest).collect()
}

#[test]
fn declarations_that_need_one_another_in_a_row_are_bounded() {
    let facts = |count| {
        let each = |at, before| format!("f{at}: {{ A, B }} from c given f{before} == A else B;");
        found("", &chain(count, "f0: { A, B } from c;", each), "", "")
    };
    assert!(!codes(&facts(100)).contains(&"LC091"));
    let values = |count| {
        let each = |at, before| format!("let v{at}: Text from v{before};");
        found("", &chain(count, "let v0: Text from c;", each), "", "")
    };
    assert!(!codes(&values(100)).contains(&"LC091"));
    let inputs = |count| {
        let each = |at, before| format!("i{at}: ConfigMap by ref from i{before};");
        found(&chain(count, "i0: ConfigMap by ref;", each), "", "", "")
    };
    for count in [200, 20_000] {
        for found in [facts(count), values(count), inputs(count)] {
            assert_eq!(codes(&found), ["LC091"], "{count}");
            assert!(
                found[0]
                    .message
                    .contains("a chain of more than 128 declarations"),
                "{found:?}"
            );
        }
    }
}

#[test]
fn circles_may_be_as_long_as_a_text() {
    for count in [100, 20_000] {
        let each = |at, before| format!("let v{at}: Text from v{before};");
        let first = format!("let v0: Text from v{};", count - 1);
        let found = found("", &chain(count, &first, each), "", "");
        assert!(codes(&found).contains(&"LC066"), "{found:?}");
    }
}

#[test]
fn questions_are_bounded() {
    let facts: String = (0..2_100)
        .map(|at| format!("f{at}: bool from c given f0;"))
        .collect();
    let found = found("", &facts, "", "");
    assert!(
        found
            .iter()
            .any(|d| d.code == "LC091" && d.message.contains("exceed the limit of 2 048")),
        "{:?}",
        codes(&found)
    );
}
