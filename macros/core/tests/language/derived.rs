//! Names for predicates, and one question to several facts: their expansion, and the findings about
//! them.

use lifecycle_macros_core::check;

use super::settling::{assert_single_finding, found, help, service};

/// Returns the meaning of each fact of a lifecycle, written out: its generated description.
fn expanded(text: &str) -> String {
    let checked = check(text.parse().expect("it consists of tokens"));
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    lifecycle_macros_core::expand(text.parse().expect("it consists of tokens")).to_string()
}

/// Returns a lifecycle with a second object, and a fact whose method only evaluates it.
fn pair(change: &[(&str, &str)]) -> String {
    let mut text = r#"
        resource Thing;
        observe {
            class: Class by name spec.class;
            secret: owned Secret by name meta.name;
            service: owned Service by name meta.name;
        }
        facts {
            health: { Up, Down } from service given service == Current;
        }
        states {
            Missing when !class => Error wakes class;
            Taken when secret == Foreign || service == Foreign => Error wakes secret, service;
            Leaving when secret == Terminating || service == Terminating => Pending;
            Keeping when secret != Current => Pending;
            Making when service != Current => Pending;
            Failed when health == Down => Error wakes service;
            goal Ready when secret == Current && service == Current => Ready;
        }
        effects { apply secret from class; apply service from class; }
        status {
            condition Right {
                False "Taken" when secret == Foreign || service == Foreign;
                True when secret == Current && service == Current;
                Unknown otherwise;
            }
        }
    "#
    .to_owned();
    for (from, to) in change {
        assert!(text.contains(from), "`{from}` occurs");
        text = text.replace(from, to);
    }
    text
}

const TAKEN: &str = "secret == Foreign || service == Foreign";
const READY: &str = "secret == Current && service == Current";

#[test]
fn a_name_means_what_it_stands_for() {
    let plain = expanded(&pair(&[]));
    let facts = |facts: &str| format!("facts {{ {facts} ");
    let same: [(&str, &[(&str, &str)]); 6] = [
        (&format!("taken = {TAKEN};"), &[(TAKEN, "taken")]),
        (&format!("taken = {TAKEN};"), &[(TAKEN, "taken == true")]),
        (
            "taken = mine || theirs; mine = secret == Foreign; theirs = service == Foreign;",
            &[(TAKEN, "taken")],
        ),
        (&format!("right = {READY};"), &[(READY, "right")]),
        ("", &[(TAKEN, "any(secret, service) == Foreign")]),
        ("", &[(READY, "all(secret, service,) == Current")]),
    ];
    for (declared, change) in same {
        let declared = facts(declared);
        let mut change = change.to_vec();
        change.push(("facts {", &declared));
        assert_eq!(expanded(&pair(&change)), plain, "{change:?}");
    }
}

#[test]
fn a_name_is_false_where_what_it_stands_for_does_not_hold() {
    let written = expanded(&pair(&[("secret != Current", "!(secret == Current)")]));
    for negated in [
        "!right",
        "right == false",
        "right != true",
        "right not in { true }",
    ] {
        let named = pair(&[
            ("facts {", "facts { right = secret == Current; "),
            ("secret != Current", negated),
        ]);
        assert_eq!(expanded(&named), written, "{negated}");
    }
}

#[test]
fn each_of_several_is_asked_by_itself() {
    let by = |pred: &str| expanded(&pair(&[("secret == Current && service == Current", pred)]));
    let all = by("secret not in { Absent, Foreign } && service not in { Absent, Foreign }");
    assert_eq!(by("all(secret, service) not in { Absent, Foreign }"), all);
    let any = by("!(secret != Current || service != Current)");
    assert_eq!(by("!any(secret, service) != Current"), any);
    assert_ne!(any, all);
}

#[test]
fn a_name_does_not_stand_for_itself() {
    let around = service(&[
        (
            "facts {",
            "facts { taken = foreign; foreign = taken || service == Foreign; ",
        ),
        ("when service == Foreign", "when taken"),
    ]);
    let finding = "LC066 taken [taken] `taken` is defined by itself: taken -> foreign -> taken";
    assert_single_finding(&around, finding, "foreign = taken ||", "foreign =");
    let alone = service(&[("facts {", "facts { taken = !taken; ")]);
    assert_eq!(
        found(&alone),
        ["LC066 taken [taken] `taken` is defined by itself: taken -> taken"]
    );
}

#[test]
fn what_a_name_stands_for_is_told_where_it_is_wrong() {
    let unknown = service(&[
        ("facts {", "facts { taken = servic == Foreign; "),
        ("Taken when service == Foreign", "Taken when taken"),
    ]);
    let finding =
        "LC001 taken [servic] fact `taken`: unknown fact `servic`; did you mean `service`?";
    assert_single_finding(&unknown, finding, "servic ==", "service ==");
    let value = service(&[(
        "facts {",
        "facts { taken = any(class, service) == Foreign; ",
    )]);
    assert_eq!(
        found(&value),
        ["LC001 taken [Foreign] fact `taken`: `Foreign` is not a value of `class`"]
    );
    let no_truth = service(&[
        ("facts {", "facts { taken = service == Foreign; "),
        (
            "Taken when service == Foreign",
            "Taken when taken == Foreign",
        ),
    ]);
    assert_eq!(
        found(&no_truth),
        ["LC001 Taken [Foreign] state `Taken`: `Foreign` is not a value of `taken`"]
    );
    let near = service(&[
        ("facts {", "facts { taken = service == Foreign; "),
        ("Taken when service == Foreign", "Taken when takn"),
    ]);
    assert_eq!(
        found(&near),
        ["LC001 Taken [takn] state `Taken`: unknown fact `takn`; did you mean `taken`?"]
    );
}

#[test]
fn a_name_is_declared_once_and_neither_set_nor_read() {
    let twice = service(&[("facts {", "facts { ready = service == Foreign; ")]);
    assert_eq!(
        found(&twice),
        ["LC003 ready [ready] `ready` is declared twice"]
    );
    let set = service(&[
        ("facts {", "facts { done = ready; "),
        ("sets { ready = true }", "sets { done = true }"),
    ]);
    assert_eq!(
        found(&set),
        ["LC001 starts [done] promise `starts`: `done` is not the name of a fact"]
    );
    assert_eq!(help(&set), "`done` is decided by other facts: name those");
    let read = service(&[
        ("facts {", "facts { done = ready; "),
        ("from class when", "from class, done when"),
    ]);
    assert_eq!(found(&read).len(), 1);
    assert!(
        found(&read)[0].starts_with("LC060 apply_service [done]"),
        "{:?}",
        found(&read)
    );
    assert_eq!(
        help(&read),
        "it is decided by other facts: read what those are made from"
    );
}

#[test]
fn a_finding_at_a_name_says_what_it_stands_for() {
    let circle = service(&[
        ("facts {", "facts { made = ready && service == Current; "),
        (
            "ready: bool from service given service == Current",
            "ready: bool from service given made",
        ),
    ]);
    let tokens = circle.parse().expect("it consists of tokens");
    let found = check(tokens).diagnostics;
    let [circle] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!(circle.code, "LC066");
    let (_, note) = circle.notes.last().expect("there is a note");
    assert_eq!(note, "`made` stands for `ready && service == Current`");
}

#[test]
fn what_asks_others_has_neither_from_nor_given_nor_a_type() {
    let says = |facts: &str, message: &str| {
        let text = service(&[("facts {", &format!("facts {{ {facts} "))]);
        let found = found(&text);
        assert!(
            found.iter().any(|line| line.ends_with(message)),
            "{found:?}"
        );
    };
    let others =
        "`taken` is decided by other facts: it reads no input, and is known where they are";
    says("taken = service == Foreign given class;", others);
    says("taken = service == Foreign from service;", others);
    says(
        "taken: bool = service == Foreign;",
        "expected `from`, found `=`: a fact that others decide has no type, `name = predicate;`",
    );
    says("taken == service;", "expected `=`, found `==`: write `=`");
    says(
        "taken = any() == Foreign;",
        "expected a fact, found the end of the block",
    );
    says(
        "taken = one(service) == Foreign;",
        "found `one(`: write `any(a, b)`, `all(a, b)` or `refused(effect)`",
    );
}

#[test]
fn a_name_stands_for_what_can_be_read() {
    let doubled: String = (1..12)
        .map(|n| format!("n{n} = n{0} || !n{0}; ", n - 1))
        .collect();
    let text = service(&[(
        "facts {",
        &format!("facts {{ n0 = service == Foreign; {doubled}"),
    )]);
    let found = found(&text);
    assert_eq!(
        found,
        ["LC000 n7 [n7] `n7` consists of more than 100 questions"]
    );
    let deep: String = (1..20).map(|n| format!("n{n} = !n{}; ", n - 1)).collect();
    let text = service(&[(
        "facts {",
        &format!("facts {{ n0 = service == Foreign; {deep}"),
    )]);
    let found = super::settling::found(&text);
    assert_eq!(
        found,
        ["LC000 n17 [n17] `n17` consists of questions that nest more than 16 levels"]
    );
}

/// Thousands of names one after the other, and around: nothing of it walks down a stack.
#[test]
fn names_stand_for_names_as_often_as_a_text_is_long() {
    let chain: String = (1..5_000).map(|n| format!("n{n} = n{}; ", n - 1)).collect();
    let text = service(&[
        (
            "facts {",
            &format!("facts {{ n0 = service == Foreign; {chain}"),
        ),
        ("Taken when service == Foreign", "Taken when n4999"),
    ]);
    assert_eq!(found(&text), [""; 0]);
    let around = text.replace("n0 = service == Foreign;", "n0 = n4999;");
    assert_eq!(found(&around).len(), 1);
    let ignored = text.replace(
        "Missing when class == Absent",
        "Other when n4999 => Ignored; Missing when class == Absent",
    );
    assert!(
        found(&ignored)
            .iter()
            .all(|line| !line.starts_with("LC055"))
    );
    let refused = ignored.replace("n0 = service == Foreign;", "n0 = refused(apply_service);");
    assert!(
        found(&refused)
            .iter()
            .any(|line| line.starts_with("LC055 Other [n4999]"))
    );
}
