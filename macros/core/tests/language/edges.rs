//! Edges between states: by groups, from every state, and the findings about them with the block to paste.

use lifecycle_macros_core::check;

use super::settling::{assert_single_finding, found, help, service};

#[test]
fn edges_are_exactly_those_that_are_caused() {
    let text = service(&[("Making -> Starting | Ready;", "Making -> Starting;")]);
    assert_single_finding(
        &text,
        "LC030 Making -> Ready [transitions] `Making -> Ready` is caused by effect `apply_service` with `service == Absent` and not declared",
        "Making -> Starting;",
        "Making -> Starting | Ready;",
    );
    let block = "transitions {\n    Leaving -> Making;\n    Making -> Starting | Ready;\n    Starting -> Ready;\n}";
    assert!(help(&text).ends_with(block), "{}", help(&text));
    assert_single_finding(
        &service(&[("Starting -> Ready;", "Starting -> Ready | Making;")]),
        "LC031 Starting -> Making [Making] nothing causes `Starting -> Making`",
        "Starting -> Ready | Making;",
        "Starting -> Ready;",
    );
}

#[test]
fn all_edges_that_are_missing_are_one_finding() {
    let text = service(&[
        ("Leaving -> Making;", ""),
        ("Making -> Starting | Ready;", ""),
        (
            "Starting -> Ready;",
            "Starting -> Leaving; Ready -> Leaving;",
        ),
    ]);
    let block = "transitions {\n    Leaving -> Making;\n    Making -> Starting | Ready;\n    Starting -> Ready;\n}";
    let help = help(&text);
    assert!(help.ends_with(block), "{help}");
    let one = "LC030 Leaving -> Making, Making -> Starting, Making -> Ready, Starting -> Ready [transitions] `Leaving -> Making` is caused by the built-in promise that what is deleted of `service` goes with `service == Terminating` and not declared, nor are 3 more edges";
    let other = "LC031 Starting -> Leaving, Ready -> Leaving [Leaving] nothing causes `Starting -> Leaving`, `Ready -> Leaving`";
    assert_eq!(found(&text), [one, other]);
}

#[test]
fn several_edges_without_a_cause_are_one_finding_with_the_block() {
    let text = service(&[(
        "Starting -> Ready;",
        "Starting | Leaving -> Ready | Leaving;",
    )]);
    let found = found(&text);
    let one = "LC031 Starting -> Leaving, Leaving -> Ready, Leaving -> Leaving [Leaving] nothing causes `Starting -> Leaving`, `Leaving -> Ready`, `Leaving -> Leaving`";
    assert_eq!(found, [one]);
    assert!(help(&text).contains("the whole block is:\ntransitions {\n    Leaving -> Making;"));
}

#[test]
fn edges_are_written_by_groups_and_from_every_state() {
    let grouped = service(&[
        ("Making -> Starting | Ready;", "Making -> Starting;"),
        ("Starting -> Ready;", "Making | Starting -> Ready;"),
    ]);
    assert_eq!(found(&grouped), [""; 0]);
    let twice = service(&[("Starting -> Ready;", "Making | Starting -> Ready;")]);
    assert_eq!(
        found(&twice),
        ["LC003 Making -> Ready [Making] `Making -> Ready` is declared twice"]
    );
    let broad = service(&[
        ("Making -> Starting | Ready;", "Making -> Starting;"),
        ("Starting -> Ready;", "_ -> Ready;"),
    ]);
    assert_single_finding(
        &broad,
        "LC032 _ -> Ready [Ready] `_ -> Ready` leads from every state, and the phase of `Ready` is Ready, not Error",
        "_ -> Ready;",
        "Making | Starting -> Ready;",
    );
}

/// Tests an edge from every state to `Foreign` that none of our effects causes: only a promise that
/// another takes the name leads there.
#[test]
fn what_leads_from_every_state_is_entered_from_one_at_least() {
    const TAKEN: (&str, &str) = ("Starting -> Ready;", "Starting -> Ready; _ -> Taken;");
    let entered = service(&[TAKEN]);
    assert_eq!(
        found(&entered),
        ["LC031 _ -> Taken [Taken] nothing causes `_ -> Taken`"]
    );
    assert_eq!(
        help(&entered),
        "remove it: only the environment leads to `Taken`"
    );
    let beside = service(&[(
        "Starting -> Ready;",
        "Starting -> Ready; _ -> Taken; Making -> Taken;",
    )]);
    assert!(
        found(&beside).contains(
            &"LC003 Making -> Taken [Taken] `Making -> Taken` is declared twice".to_owned()
        )
    );
}

/// Verifies that an effect that deletes Pods may make a record outdated that is built from a poll
/// about them. It never removes a record.
#[test]
fn a_record_comes_and_goes_by_its_own_effect_alone() {
    let body = r#"
        resource Thing;
        observe {
            pods: owned [Pod] by labels { APP = meta.name };
            seen: poll Info by pods every 30s;
            note: record String;
        }
        states {
            Taken when pods == Foreign => Error wakes pods, self;
            Blind when !seen => Pending overdue 5min;
            NoNote when note == Absent => Pending;
            Noting when note == Stale => Pending;
            Clearing when pods in { Surplus, Draining } => Pending;
            Filling when pods == Behind => Pending;
            goal Up when pods == Current => Ready;
        }
        effects {
            apply note from seen;
            apply each pods when note == Current;
            delete each pods when note == Current;
        }
        transitions { NoNote -> Taken; }
    "#;
    let tokens: proc_macro2::TokenStream = body.parse().expect("tokens");
    let found = check(tokens).diagnostics;
    let listed = found.iter().find(|found| found.code == "LC030");
    let help = listed.and_then(|found| found.help.clone());
    let help = help.expect("the whole section is shown");
    let edges: Vec<(&str, &str)> = help
        .lines()
        .filter_map(|line| line.trim().trim_end_matches(';').split_once(" -> "))
        .collect();
    let outdated = edges
        .iter()
        .any(|(from, to)| from.contains("Clearing") && to.contains("Noting"));
    assert!(outdated, "{help}");
    let lost =
        |(from, to): &&(&str, &str)| to.split(" | ").any(|to| to == "NoNote") && *from != "Blind";
    assert_eq!(edges.iter().find(lost), None, "{help}");
}
