//! `allow CODE item "why";` silences a warning, does not silence an error, and is reported if it
//! allows nothing.

use lifecycle_macros_core::check;
use lifecycle_macros_core::errors::Diagnostic;

use super::shipped::body_of;

/// Returns the help for an `allow` that allows nothing.
fn help(lines: &str) -> String {
    let found = diagnostics(lines).into_iter();
    let mut needless = found.filter(|one| one.code == "LC004");
    let needless = needless.next().expect("it allows nothing");
    needless.help.expect("it says what to do")
}

fn found(lines: &str) -> Vec<String> {
    let all = diagnostics(lines).into_iter();
    all.map(|one| format!("{} {} {}", one.code, one.item, one.message))
        .collect()
}

/// Findings of a lifecycle with an input that nothing reads, and these lines at its end.
fn diagnostics(lines: &str) -> Vec<Diagnostic> {
    let text = format!(
        "lifecycle! {{
            resource Thing;
            observe {{
                class: ConfigMap by name spec.class;
                other: ConfigMap by name meta.name;
            }}
            states {{
                Missing when !class => Error wakes class;
                goal Ready when class => Ready;
            }}
            status {{
                condition Stored {{ True when class; False \"Missing\" otherwise; }}
                ready from Stored;
            }}
            {lines}
        }}"
    );
    check(body_of(&text)).diagnostics
}

#[test]
fn a_warning_is_silenced_by_its_code_and_item() {
    let without = found("");
    assert_eq!(without.len(), 1, "{without:?}");
    assert!(without[0].starts_with("LC064 other "), "{without:?}");
    assert_eq!(found("allow LC064 other \"it wakes the object\";"), [""; 0]);
}

#[test]
fn another_item_or_code_silences_nothing_and_is_found() {
    let of_another = found("allow LC064 class \"it wakes the object\";");
    assert_eq!(of_another.len(), 2, "{of_another:?}");
    assert_eq!(
        of_another[1],
        "LC004 class `allow LC064 class` has no effect: there is no such warning"
    );
    assert_eq!(
        help("allow LC064 class \"why\";"),
        "LC064 warns about `other`"
    );
    assert_eq!(help("allow LC014 other \"why\";"), "leave it out");
    assert_eq!(found("allow LC014 other \"why\";").len(), 2);
    let twice = "allow LC064 other \"why\"; allow LC064 other \"why\";";
    assert_eq!(found(twice).len(), 1);
}

#[test]
fn what_stops_the_build_and_what_is_no_code_cannot_be_allowed() {
    let refused = |code: &str| {
        let all = found(&format!("allow {code} other \"why\";"));
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    };
    assert_eq!(
        refused("LC011"),
        "LC005 other `LC011` stops the build, and cannot be allowed"
    );
    assert_eq!(
        refused("LC999"),
        "LC005 other `LC999` is no code of a check"
    );
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_checked() {
    let says = |line: &str, expected: &str| {
        let all = found(line);
        let is_said = |one: &String| one.starts_with("LC000") && one.contains(expected);
        assert!(all.iter().any(is_said), "{line}: {all:?}");
    };
    says("allow LC064 other;", "why the warning does not count");
    says("allow LC064 other \" \";", "why the warning does not count");
    says("allow LC064 \"why\";", "the item that the warning names");
    says("allow LC064 other \"why\" effects { }", "`;`");
    says("allow;", "`{`");
}
