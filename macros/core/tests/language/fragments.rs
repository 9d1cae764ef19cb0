//! Fragments: the examples of `docs/fragments.md` are true. A lifecycle with fragments equals its
//! written-out form. Findings point at the right place and name their lifecycle.

use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::space::summary::Summary;
use lifecycle_macros_core::{
    Checked, MacroBodies, check, check_fragment, check_with, expand, expand_fragment, find_in,
};
use proc_macro2::TokenStream;

use super::expand::in_files;

const GUIDE: &str = include_str!("../../../../docs/fragments.md");

fn example() -> &'static str {
    let (_, rest) = GUIDE.split_once("```rust\n").expect("an example");
    rest.split("```").next().expect("it ends")
}

fn found(text: &str) -> MacroBodies {
    find_in(text).expect("brackets match")
}

fn check_text(text: &str) -> Checked {
    let found = found(text);
    let [lifecycle] = &found.lifecycles[..] else {
        panic!("one lifecycle");
    };
    check_with(lifecycle.clone(), &found.fragments)
}

fn alone(text: &str) -> Vec<Diagnostic> {
    let fragments = found(text).fragments.into_iter();
    let all = fragments.flat_map(|body| check_fragment(body).diagnostics);
    all.collect()
}

fn messages(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

fn edited_example(old: &str, new: &str) -> String {
    assert_eq!(example().matches(old).count(), 1, "{old}");
    example().replace(old, new)
}

/// The same lifecycle as an author writes it who knows no fragments.
const WRITTEN_OUT: &str = "lifecycle! {
    resource Report;
    observe {
        workspace: Workspace by ref;
        source: ConfigMap by name spec.source;
        output: owned ConfigMap by name meta.name;
    }
    facts { frozen: bool from workspace given workspace; }
    states {
        NoWorkspace when !workspace => Error wakes workspace, self;
        Frozen when frozen => Pending wakes workspace;
        NoSource when !source => Error wakes source, self;
        Taken when output == Foreign => Error wakes output, self;
        Draining when output == Terminating => Pending;
        Rendering when output in { Absent, Stale } => Pending;
        goal Ready when output == Current => Ready;
    }
    effects { apply output from source when workspace && !frozen; }
    transitions { Draining -> Rendering; Rendering -> Ready; }
    status {
        condition Placed { False \"NoWorkspace\" when !workspace; False \"Frozen\" when frozen; True otherwise; }
        condition Rendered {
            False \"NoSource\" when !source;
            False \"Taken\" when output == Foreign;
            True when output == Current;
            Unknown \"Rendering\" otherwise;
        }
        ready from Placed, Rendered;
    }
}";

#[test]
fn the_example_is_accepted_and_means_what_is_written_out() {
    assert_eq!(messages(&alone(example())), [""; 0]);
    let (shared, whole) = (check_text(example()), check_text(WRITTEN_OUT));
    assert_eq!(messages(&shared.diagnostics), [""; 0]);
    assert_eq!(messages(&whole.diagnostics), [""; 0]);
    let (shared, whole) = (
        shared.model.expect("it resolves"),
        whole.model.expect("it resolves"),
    );
    let names = |model: &lifecycle_macros_core::model::Lifecycle| {
        let states = model.states.iter().map(|state| state.name.to_string());
        let inputs = model.inputs.iter().map(|input| input.name.to_string());
        let conditions = model.conditions.iter();
        let conditions = conditions.map(|c| format!("{} {}", c.name, c.clauses.len()));
        states.chain(inputs).chain(conditions).collect::<Vec<_>>()
    };
    assert_eq!(names(&shared), names(&whole));
    let of = |model| Summary::explore(model).expect("it is explored");
    let (one, other) = (of(&shared), of(&whole));
    assert_eq!(one.worlds, other.worlds);
    assert!(one.edges.keys().eq(other.edges.keys()));
}

#[test]
fn a_place_that_is_left_out_gives_the_finding_that_is_shown() {
    let (_, rest) = GUIDE.split_once("error: LC112").expect("it is shown");
    let shown = format!("LC112{}", rest.split("\n```").next().expect("it ends"));
    let without = edited_example("        use in_workspace::Draining;\n", "");
    assert_eq!(messages(&check_text(&without).diagnostics), [shown]);
}

/// Checks the finding for a mistake: the code, the word at which it is found, and a part of the
/// message.
#[track_caller]
fn finds(text: &str, code: &str, at: &str, says: &str) {
    let mut all = alone(text);
    all.extend(check_text(text).diagnostics);
    let [one] = &all[..] else {
        panic!("one finding: {:?}", messages(&all));
    };
    assert_eq!(one.code, code, "{one}");
    let line = text.lines().nth(one.span.start().line - 1).expect("a line");
    assert_eq!(
        &line[one.span.start().column..one.span.end().column],
        at,
        "{one}"
    );
    assert!(one.to_string().contains(says), "{one}");
}

#[test]
fn each_mistake_is_found_once_and_at_its_word() {
    let draining = "        use in_workspace::Draining;\n";
    let twice = "        use in_workspace::{Draining, Frozen};\n";
    finds(
        &edited_example(draining, twice),
        "LC003",
        "Frozen",
        "declared twice",
    );
    let slip = "        use in_workspace::Drainig;\n";
    finds(
        &edited_example(draining, slip),
        "LC001",
        "Drainig",
        "unknown state `Drainig`; did you mean `Draining`?",
    );
    finds(
        &edited_example("    use in_workspace;\n", "    use in_workspac;\n")
            .replace("use in_workspace::", "use in_workspac::"),
        "LC111",
        "in_workspac",
        "did you mean `in_workspace`?",
    );
    finds(
        &edited_example("use in_workspace::Draining", "use in_workspaces::Draining"),
        "LC111",
        "in_workspaces",
        "write `use in_workspaces;` beside the sections",
    );
    finds(
        &edited_example(
            "    use in_workspace;\n",
            "    use in_workspace;\n    use in_workspace;\n",
        ),
        "LC003",
        "in_workspace",
        "declared twice",
    );
    finds(
        &edited_example(
            "        condition Rendered {",
            "        condition Placed { True otherwise; }\n        condition Rendered {",
        ),
        "LC112",
        "Placed",
        "write `use in_workspace;` where they belong in `condition Placed`",
    );
    finds(
        &edited_example(
            "        condition Rendered {",
            "        condition Rendered {\n            use in_workspace;",
        ),
        "LC112",
        "in_workspace",
        "has no clause",
    );
    finds(
        &edited_example("output: { Terminating };", "outptu: { Terminating };").replace(
            "output == Terminating => Pending;\n    }\n    status",
            "outptu == Terminating => Pending;\n    }\n    status",
        ),
        "LC113",
        "in_workspace",
        "did you mean `output`?",
    );
    finds(
        &edited_example("output: { Terminating };", "output: { Terminating, Gone };"),
        "LC113",
        "output",
        "`Gone`",
    );
    let volume = check_text(&edited_example(
        "    resource Report;",
        "    volume Report;",
    ))
    .diagnostics;
    let refused = volume.iter().filter(|one| one.code == "LC110");
    assert_eq!(refused.count(), 1, "{:?}", messages(&volume));
}

/// Verifies that an error in a fragment by itself is reported once, at the fragment, and that no
/// lifecycle repeats it.
#[test]
fn a_fragment_is_checked_by_itself() {
    finds(
        &edited_example(
            "frozen: bool from workspace given",
            "frozen: bool from workspce given",
        ),
        "LC060",
        "workspce",
        "did you mean `workspace`?",
    );
    finds(
        &edited_example("Frozen      when frozen  ", "Frozen      when frozn   "),
        "LC001",
        "frozn",
        "did you mean `frozen`?",
    );
    finds(
        &edited_example(
            "frozen: bool from workspace given",
            "frozen: bool from output given",
        ),
        "LC060",
        "output",
        "it is a fact",
    );
    finds(
        &edited_example(
            "    fragment in_workspace;\n",
            "    fragment in_workspace;\n    use other;\n",
        ),
        "LC110",
        "other",
        "`in_workspace` uses no other",
    );
    finds(
        &edited_example(
            "    fragment in_workspace;\n",
            "    fragment in_workspace;\n    effects { apply output; }\n",
        ),
        "LC110",
        "effects",
        "each lifecycle declares its own",
    );
    finds(
        &edited_example("output: { Terminating };", "output { Terminating };"),
        "LC000",
        "{",
        "expected `:`",
    );
    let misspelt = alone(&edited_example(
        "    fragment in_workspace;\n",
        "    fragmnt in_workspace;\n",
    ));
    assert!(
        misspelt[0]
            .to_string()
            .contains("expected `fragment`, found `fragmnt`"),
        "{misspelt:?}"
    );
}

/// Tests that findings name their file, because each of several files counts its lines from one.
#[test]
fn what_only_a_lifecycle_shows_is_found_in_the_fragment_and_names_the_lifecycle() {
    let text = edited_example("=> Error wakes workspace, self;", "=> Error;");
    let at = text.find("lifecycle!").expect("it is there");
    let (first, second) = text.split_at(at);
    let checked = check_with(found(second).lifecycles.remove(0), &found(first).fragments);
    let [one] = &checked.diagnostics[..] else {
        panic!("{:?}", messages(&checked.diagnostics));
    };
    let line = first
        .lines()
        .nth(one.span.start().line - 1)
        .expect("a line");
    assert!(line.contains("NoWorkspace"), "{line}");
    assert!(
        one.to_string()
            .contains("note: in lifecycle `Report`, which uses fragment `in_workspace`"),
        "{one}"
    );
}

/// Tests that a name that both declare is reported at the declaration of the lifecycle, with the
/// fragment that also has it.
#[test]
fn a_name_of_both_is_told_at_the_lifecycle() {
    let text = edited_example(
        "        source: ConfigMap       by name spec.source;\n",
        "        source: ConfigMap       by name spec.source;\n        workspace: Workspace by name spec.workspace;\n",
    );
    finds(
        &text,
        "LC003",
        "workspace",
        "fragment `in_workspace` declares it, too",
    );
}

/// rustc fetches one fragment after another by their macros, and hands all of them to the last call.
#[test]
fn fragments_are_fetched_one_after_another() {
    let body: TokenStream = "resource A; use first; use second; states { use first; }"
        .parse()
        .expect("tokens");
    let fetched = expand(body).to_string();
    assert!(
        fetched.starts_with("first ! { first { } { resource A"),
        "{fetched}"
    );
    let body: TokenStream = "@ { first { fragment first; } } resource A; use first; use second;"
        .parse()
        .expect("tokens");
    let fetched = expand(body).to_string();
    assert!(
        fetched.starts_with("second ! { second { first { fragment first ; } } { resource A"),
        "{fetched}"
    );
    let all: TokenStream = "@ { first { fragment first; } } resource A; use first;"
        .parse()
        .expect("tokens");
    assert!(!check(all).diagnostics.iter().any(|one| one.code == "LC111"));
    let handed = expand_fragment(
        "fragment first; states { A when b => Error wakes self; }"
            .parse()
            .expect("tokens"),
    );
    assert!(
        handed.to_string().contains("macro_rules ! __first"),
        "{handed}"
    );
}

/// Verifies the expansion of a fragment and of a lifecycle that uses it.
#[test]
fn the_expansion_is_as_pinned() {
    let found = found(example());
    let (fragment, lifecycle) = (&found.fragments[0], &found.lifecycles[0]);
    let of_fragment = expand_fragment(fragment.clone());
    let fetched = quote::quote!(@ { in_workspace { #fragment } } #lifecycle);
    in_files("shared", &[of_fragment, expand(fetched)]);
}

/// Tests that for any word that is missing or doubled nothing panics, code is generated, and every
/// rejection has a reason.
#[test]
fn a_damaged_example_is_told_and_expanded() {
    let words: Vec<&str> = example().split_inclusive([' ', '\n']).collect();
    let mut refused = 0;
    for at in (0..words.len()).filter(|at| !words[*at].trim().is_empty()) {
        let without = [&words[..at], &words[at + 1..]].concat().concat();
        let twice = [&words[..=at], &words[at..]].concat().concat();
        for text in [without, twice] {
            let Ok(found) = find_in(&text) else {
                continue;
            };
            for fragment in &found.fragments {
                expand_fragment(fragment.clone());
            }
            let told = alone(&text).len();
            for lifecycle in &found.lifecycles {
                let checked = check_with(lifecycle.clone(), &found.fragments);
                let fragments = &found.fragments;
                expand(quote::quote!(@ { in_workspace { #(#fragments)* } } #lifecycle));
                let is_told = told > 0 || !checked.diagnostics.is_empty();
                assert!(checked.is_accepted() || is_told, "{text}");
                refused += usize::from(is_told);
            }
        }
    }
    assert!(refused > 100, "only {refused} were refused");
}
