//! Marks and words of other languages: each finding names the replacement.

use lifecycle_macros_core::check;

const BEFORE: &str = "resource Thing;\nobserve { class: Class by name spec.class; }\n";

/// Returns `line: message` of the first finding, up to the form of the item.
fn first(text: &str) -> String {
    let text = format!("{BEFORE}{text}");
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let first = found.first().expect("it is refused");
    let message = first.message.split("; ").next().unwrap_or_default();
    format!("{}: {message}", first.span.start().line)
}

#[track_caller]
fn expect(text: &str, expected: &str) {
    assert_eq!(first(text), expected, "{text}");
}

#[test]
fn a_comparison_by_another_mark_is_called_that() {
    let by_equals = "a fact is compared by `==`";
    expect(
        "states { A when class = Absent => Pending; }",
        &format!("3: expected `&&`, `||`, `=>` or `;`, found `=`: {by_equals}"),
    );
    expect(
        "states { A when class is Absent => Pending; }",
        &format!("3: expected `&&`, `||`, `=>` or `;`, found `is`: {by_equals}"),
    );
    expect(
        "states { A when (class = Absent) => Pending; }",
        &format!("3: expected `&&`, `||` or `)`, found `=`: {by_equals}"),
    );
    let order = "a fact has values without an order: name those that fit, `fact in { A, B }`";
    expect(
        "states { A when class > Absent => Pending; }",
        &format!("3: expected `&&`, `||`, `=>` or `;`, found `>`: {order}"),
    );
    expect(
        "status { condition C { True when class = Present; } }",
        &format!("3: expected `&&`, `||` or `;`, found `=`: {by_equals}"),
    );
}

#[test]
fn words_for_and_and_or_are_called_that() {
    let says = |found: &str, write: &str| {
        format!("3: expected `&&`, `||`, `=>` or `;`, found `{found}`: write `{write}`")
    };
    for (found, write) in [("and", "&&"), ("&", "&&"), ("or", "||")] {
        let text =
            format!("states {{ A when class == Absent {found} class == Present => Ready; }}");
        expect(&text, &says(found, write));
    }
    // It may stand between predicates or between values.
    let either = says("|", "||") + ", or `fact in { A, B }` for one of several values";
    expect(
        "states { A when class == Absent | Present => Ready; }",
        &either,
    );
}

#[test]
fn words_and_marks_of_other_languages_are_called_that() {
    let says = |expected: &str, found: &str, write: &str| {
        format!("3: expected {expected}, found `{found}`: {write}")
    };
    expect(
        "states { A when not class => Pending; }",
        &says(
            "a fact",
            "not",
            "write `!fact`, `fact != Value` or `fact not in { A, B }`",
        ),
    );
    let test = "`&&`, `||`, `=>` or `;`";
    expect(
        "states { A when class.is_there() => Pending; }",
        &says(
            test,
            ".",
            "a fact has no methods: ask for its values, `fact == Value`",
        ),
    );
    expect(
        "states { A when class -> Pending; }",
        &says(test, "->", "write `=>`"),
    );
    for found in ["if", ":"] {
        let text = format!("states {{ A {found} class => Pending; }}");
        expect(&text, &says("`when`", found, "write `when`"));
    }
    expect(
        "states { A when class => Pending; B otherwise => Pending; }",
        &says(
            "`when`",
            "otherwise",
            "each state declares its worlds, also the last one",
        ),
    );
    expect(
        "states { A when class == \"Absent\" => Pending; }",
        &says("a value", "\"Absent\"", "a value has no quotes"),
    );
    expect(
        "states { A when class => Pending overdue 5m; }",
        &says(
            "a time such as `500ms`, `30s`, `10min` or `1h`",
            "5m",
            "minutes are written `5min`",
        ),
    );
    expect(
        "promises { p: class sets { class == Absent }; }",
        &says("`=`", "==", "write `=`"),
    );
}

/// Checks that one message suggests the intended word at its end.
#[track_caller]
fn assert_suggestion(text: &str, word: &str) {
    let text = format!("{BEFORE}{text}");
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let end = format!("; did you mean `{word}`?");
    assert!(
        found.iter().any(|one| one.message.ends_with(&end)),
        "{found:?}"
    );
}

#[test]
fn a_misspelt_word_is_told_which_was_meant() {
    assert_suggestion("states { A when class => Pending wake class; }", "wakes");
    assert_suggestion("properties { reach A from B; }", "reaches");
    assert_suggestion("properties { reaches A form B; }", "from");
    assert_suggestion("properties { alway class; }", "always");
    assert_suggestion("promises { p: class set { class = Absent }; }", "sets");
    assert_suggestion("effects { aply class; }", "apply");
    assert_suggestion("effects { apply class from class undoo other; }", "undo");
    assert_suggestion("alow LC064 class \"why\";", "allow");
    let text = "resource Thing; observe { a: own Class by name spec.a; }";
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    assert!(
        found[0]
            .message
            .ends_with("found `own`; did you mean `owned`?"),
        "{found:?}"
    );
    let text = "resource Thing; observe { a: Class by nam spec.a; }";
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0]
            .message
            .ends_with("found `nam`; did you mean `name`?"),
        "{found:?}"
    );
}

#[test]
fn a_value_that_an_else_misspells_is_told_which_was_meant() {
    let facts = |other: &str| {
        format!("facts {{ ok: {{ Fine, Bad }} from class given class else {other}; }}")
    };
    assert_suggestion(&facts("Fien"), "Fine");
    assert_suggestion(
        "facts { ok: bool from class given class else flase; }",
        "false",
    );
    // A value that resembles no answer is a value of its own. So is a queried one.
    let codes = |text: &str| {
        let text = format!("{BEFORE}{text}");
        let found = check(text.parse().expect("it consists of tokens")).diagnostics;
        found.iter().map(|found| found.code).collect::<Vec<_>>()
    };
    let asked =
        "states { A when ok == Fien => Pending; goal B when ok in { Fine, Bad } => Ready; }";
    assert!(!codes(&facts("Unknown")).contains(&"LC001"));
    assert!(!codes(&(facts("Fien") + asked)).contains(&"LC001"));
    assert!(codes(&facts("false")).contains(&"LC001"));
}

#[test]
fn a_state_behind_a_comma_is_read_all_the_same() {
    let text =
        "states { A when class == Absent => Error wakes class, B when class == Absent => Odd; }";
    let text = format!("{BEFORE}{text}");
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    let found: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(found[0], "expected `;`, found `,`: an item ends with `;`");
    assert!(found[1].contains("`Odd`"), "{found:?}");
}

#[test]
fn several_states_of_an_edge_are_joined_by_a_bar() {
    let bar = "several states are joined by `|`, and an item ends with `;`";
    for (edge, expected, found) in [
        ("A, B -> C;", "`|` or `->`", ","),
        ("A or B -> C;", "`|` or `->`", "or"),
        ("A || B -> C;", "`|` or `->`", "||"),
    ] {
        let text = format!("transitions {{ {edge} }}");
        expect(
            &text,
            &format!("3: expected {expected}, found `{found}`: {bar}"),
        );
    }
    expect(
        "transitions { * -> B; }",
        "3: expected a state or `_`, found `*`: write `_` for every state",
    );
    expect("transitions { _ | A -> B; }", "3: expected `->`, found `|`");
    expect(
        "transitions { A | _ -> B; }",
        "3: expected a state, found `_`",
    );
    expect("transitions { A -> _; }", "3: expected a state, found `_`");
}

#[test]
fn a_comma_for_a_semicolon_is_called_that() {
    expect(
        "states { A when class => Ready, B when !class => Pending; }",
        "3: expected `wakes`, `overdue` or `;`, found `,`: an item ends with `;`",
    );
}

#[test]
fn a_doc_comment_that_documents_no_item_is_called_that() {
    let comment = "a doc comment: write it above an item, or as `//`";
    expect(
        "/// What it can be.\nstates { A when class => Ready; }",
        &format!("3: expected a section, found {comment}"),
    );
    expect(
        "states { A when\n/// There.\nclass => Ready; }",
        &format!("4: expected a fact, found {comment}"),
    );
}

#[test]
fn what_follows_a_doc_comment_above_a_section_is_read_all_the_same() {
    let text = format!(
        "{BEFORE}/// What it can be.\nstates {{ A when class == Present => Nowhere; goal B when class == Absent => Ready; }}"
    );
    let found = check(text.parse().expect("it consists of tokens")).diagnostics;
    assert!(
        found
            .iter()
            .any(|finding| finding.message.contains("Nowhere")),
        "{found:#?}"
    );
}

#[test]
fn an_input_that_is_called_name_cannot_be_asked_by() {
    let inputs = "name: record String; live: poll Info by name every 2s given name;";
    let text = format!("resource Thing;\nobserve {{ {inputs} }}");
    let found = check(text.parse().expect("tokens")).diagnostics;
    let said = &found.first().expect("it is refused").message;
    assert!(
        said.contains("found `every`") && said.contains("rename it"),
        "{said}"
    );
}

#[test]
fn several_keys_are_joined_by_commas() {
    for mark in ["and", "&&", "+"] {
        let input = format!("live: poll Info by spec.url {mark} meta.uid every 2s;");
        let text = format!("resource Thing;\nobserve {{ {input} }}");
        let found = check(text.parse().expect("tokens")).diagnostics;
        let said = &found.first().expect("it is refused").message;
        let expected = format!(
            "expected `,`, `every`, `given` or `;`, found `{mark}`: several keys are joined by `,`"
        );
        assert_eq!(*said, expected);
    }
}

#[test]
fn an_input_says_its_given_last_and_retains_when() {
    let said = |input: &str| {
        let text = format!("resource Thing;\nobserve {{ {input} }}");
        let found = check(text.parse().expect("tokens")).diagnostics;
        found.first().expect("it is refused").message.clone()
    };
    let poll =
        said("class: Class by name spec.class; live: poll Info by spec.url given class every 2s;");
    assert!(
        poll.ends_with("found `every`: `given` comes after everything else of an input"),
        "{poll}"
    );
    let retained = said("secret: owned Secret by name meta.name retain if keeps;");
    assert!(
        retained.ends_with(
            "found `if`: write `retain when fact`; an object with `if spec.field` is never retained"
        ),
        "{retained}"
    );
    for input in [
        "web: owned Service if spec.host by name meta.name;",
        "web: owned Service by name meta.name exclusive spec.ports if spec.host;",
        "web: owned Service by name meta.name retain when keeps if spec.host;",
    ] {
        let order = said(input);
        assert!(
            order.ends_with("each clause occurs once, in the order `of`, `by`, `if`, `every`, `exclusive`, `retain`, `given`"),
            "{order}"
        );
    }
}

#[test]
fn behind_the_if_of_an_input_is_one_path() {
    for pred in [
        "spec.host && spec.tls",
        "!spec.host",
        "class == Present",
        "class in { Present }",
        "any(class) == Present",
        "(spec.host)",
    ] {
        let text = format!(
            "resource Thing;\nobserve {{ web: owned Service by name meta.name if {pred}; }}"
        );
        let found = check(text.parse().expect("tokens")).diagnostics;
        let found = &found.first().expect("it is refused").message;
        let one_path = "the object exists where one field has a value, `if spec.host`; a condition on facts is written `given ..`, last";
        assert!(found.ends_with(one_path), "{found}");
    }
}

#[test]
fn a_minted_value_says_first_what_keeps_it() {
    let text = "resource Thing;\nfacts { mint key: Key from now in secret; }";
    let found = check(text.parse().expect("tokens")).diagnostics;
    let first = found.first().expect("it is refused");
    assert!(
        first
            .message
            .starts_with("expected `in`, found `from`: the keeper comes first"),
        "{}",
        first.message
    );
    let help = first.help.as_deref().unwrap_or_default();
    assert!(
        help.starts_with("a value that is made once and kept is written `mint"),
        "{help}"
    );
}
