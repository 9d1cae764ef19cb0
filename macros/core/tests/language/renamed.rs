//! Words that are called otherwise now: the old one is an error that names the new one, and everything else is found as if that stood there.

use lifecycle_macros_core::check;

const LIFECYCLE: &str = r#"
resource Thing;
observe {
    class:   Class         by name spec.class_name;
    service: owned Service by name meta.name exclusive spec.ports, spec.external_ips;
    kept:    ConfigMap     by name spec.whole;
}
states {
    Missing  when !class               => Error wakes class;
    Taken    when service == Foreign   => Error wakes service;
    Handing  when service != Current   => Pending;
    goal Ready when service == Current => Ready;
}
effects {
    apply service from class when class;
}
status {
    condition Made { False "NoClass" when !class; True when service == Current; False "Working" otherwise; }
    ready from Made;
    field ports: Vec<u16> from service, kept last_reported;
    field whole: String from kept;
}
"#;

/// Returns the findings as printed for the lifecycle with `from` replaced by `to`: `line: code
/// [token] item: message; help`.
fn render_findings(changes: &[(&str, &str)]) -> Vec<String> {
    let mut text = LIFECYCLE.to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text = text.replace(from, to);
    }
    let tokens = text.parse().expect("the lifecycle consists of tokens");
    let found = check(tokens).diagnostics;
    let lines = found.iter().map(|d| {
        let token = d.span.source_text().unwrap_or_default();
        let (line, help) = (d.span.start().line, d.help.as_deref().unwrap_or_default());
        format!(
            "{line}: {} [{token}] {}: {}; {help}",
            d.code, d.item, d.message
        )
    });
    lines.collect()
}

#[track_caller]
fn expect(changes: &[(&str, &str)], expected: &[&str]) {
    let found = render_findings(changes);
    assert_eq!(found, expected, "\n{}", found.join("\n"));
}

const WHOLE: &str = "5: LC000 [whole] service: `whole` is called `exclusive` now; write `exclusive` instead of `whole`";
const KEPT: &str = "20: LC000 [kept] ports: `kept` is called `last_reported` now; write `last_reported` instead of `kept`";

#[test]
fn the_old_words_are_still_names() {
    expect(&[], &[]);
}

#[test]
fn whole_is_called_exclusive() {
    expect(&[("exclusive", "whole")], &[WHOLE]);
}

#[test]
fn kept_is_called_last_reported() {
    expect(&[("last_reported", "kept")], &[KEPT]);
}

#[test]
fn an_old_word_hides_no_other_finding() {
    expect(
        &[
            ("exclusive", "whole"),
            ("last_reported", "kept"),
            ("spec.whole;", "spec.whole whole data.a;"),
            ("apply service from class", "apply service from clas"),
        ],
        &[
            WHOLE,
            "6: LC000 [whole] kept: `whole` is called `exclusive` now; write `exclusive` instead of `whole`",
            "6: LC005 [whole data.a] kept: input `kept` may have elements of other owners; only an `owned` input can have an exclusive list: leave out `exclusive`",
            "15: LC060 [clas] apply_service: effect `apply_service` reads `clas`, which is not observed: nothing would wake the object when it changes; did you mean `class`?; ",
            KEPT,
        ],
    );
}

#[test]
fn an_old_word_ends_the_type_before_it() {
    expect(
        &[("by name meta.name exclusive", "whole")],
        &[
            "5: LC005 [service] service: input `service` does not declare how it is found; write `by name spec.other`, or `by ref` where a method finds it",
            WHOLE,
        ],
    );
}

#[test]
fn a_word_stands_once_by_its_old_or_its_new_name() {
    let found = render_findings(&[("exclusive spec.ports,", "exclusive spec.ports whole")]);
    assert!(
        found[0].starts_with("5: LC000 [whole] service: expected `of`, `by`, `if`, `every`, `exclusive`, `retain`, `given` or `;`, found `whole`;"),
        "{found:?}"
    );
    let found = render_findings(&[("last_reported", "last_reported kept")]);
    assert!(
        found[0].starts_with(
            "20: LC000 [kept] ports: expected `,`, `last_reported` or `;`, found `kept`;"
        ),
        "{found:?}"
    );
}
