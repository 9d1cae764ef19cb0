//! Tests that the tables in the reference of the language (`docs/language.md`, `docs/language/`)
//! match the code: values of inputs, bare names, the syntax of items, and the generated trait.
//! `BLESS=1 cargo test --workspace --test language reference` rewrites them.

use std::fmt::Write;

use lifecycle_macros_core::csi::Rpc;
use lifecycle_macros_core::errors::Diagnostic;
use lifecycle_macros_core::model::{Lifecycle, PredKind};
use lifecycle_macros_core::{Checked, check};

use super::pages::between;

/// Each kind of input: its syntax, and the effect that decides its further values.
const INPUTS: [(&str, &str, &str); 17] = [
    ("`x: K by name spec.x`", "x: ConfigMap by name spec.x;", ""),
    (
        "`x: K by name spec.x?`",
        "x: ConfigMap by name spec.x?;",
        "",
    ),
    ("`x: K by ref`", "x: ConfigMap by ref;", ""),
    (
        "`x: [K] by ..`, read only",
        "x: [ConfigMap] by namespace;",
        "",
    ),
    (
        "`x: owned K`",
        "x: owned ConfigMap by name meta.name;",
        "apply x;",
    ),
    (
        "`x: owned K`, and an effect adopts it",
        "x: owned ConfigMap by name meta.name;",
        "apply x; adopt x;",
    ),
    (
        "`x: shared K`",
        "x: shared ConfigMap by name meta.name;",
        "apply x;",
    ),
    (
        "`x: owned K`, and an effect creates it",
        "x: owned ConfigMap by name spec.x; made: record of x;",
        "create x;",
    ),
    (
        "`x: owned [K]`, and an effect creates them",
        "x: owned [ConfigMap] by labels { KEY = meta.name }; made: record of x;",
        "create each x;",
    ),
    ("`made: record of x`", "", ""),
    (
        "`x: owned [K]`, `x: shared [K]`",
        "x: owned [ConfigMap] by labels { KEY = meta.name };",
        "apply each x;",
    ),
    (
        "`x: owned { .. }`",
        "x: owned { one: ConfigMap by name meta.name; };",
        "apply each x;",
    ),
    (
        "`x: part K`",
        "x: part ConfigMap by name spec.x;",
        "apply x;",
    ),
    ("`x: record T`", "x: record String;", "apply x;"),
    ("`x: poll T`", "x: poll Info by meta.uid every 30s;", ""),
    ("`x: probe T`", "", ""),
    ("`x: clock`", "x: clock;", ""),
];

fn checked(text: &str) -> Checked {
    check(text.parse().expect("tokens"))
}

/// Returns a lifecycle with one input `x`, and a state that queries it in these words.
fn lifecycle_with_input(input: &str, effects: &str, asked: &str) -> Option<Lifecycle> {
    let text = format!(
        "resource Thing; observe {{ {input} }} facts {{ fine: bool from self; kind: {{ A, B }} from self; }} \
         states {{ One when {asked} => Pending; goal Two when fine => Ready; }} effects {{ {effects} }}"
    );
    checked(&text).model
}

/// Returns the values of `x`, in order of precedence.
fn values(lifecycle: &Lifecycle) -> Option<&[String]> {
    let x = lifecycle.vars.iter().find(|var| var.name == "x")?;
    Some(&x.values)
}

fn quoted(words: &[&String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

#[test]
fn the_values_of_every_kind_of_input_are_those_of_the_code() {
    let mut table = "| input | values |\n| --- | --- |\n".to_owned();
    for (shown, input, effects) in INPUTS {
        let values = match input {
            // Only a volume has one, and it brings none.
            "" => None,
            input => {
                let lifecycle = lifecycle_with_input(input, effects, "!fine").expect(shown);
                values(&lifecycle).map(|values| quoted(&values.iter().collect::<Vec<_>>()))
            }
        };
        let values = values.unwrap_or_else(|| "none: facts read it".to_owned());
        writeln!(table, "| {shown} | {values} |").expect("text");
    }
    between("language/observe.md", "values of inputs", &table);
}

#[test]
fn a_bare_name_means_what_the_code_says() {
    let facts = [("a fact `bool`", "fine"), ("a fact `{ A, B }`", "kind")];
    let facts = facts.map(|(shown, name)| (shown, "", "", name));
    let inputs = INPUTS.iter().filter(|(_, input, _)| !input.is_empty());
    let inputs = inputs.map(|(shown, input, effects)| (*shown, *input, *effects, "x"));
    let mut table = "| `name` is | it means |\n| --- | --- |\n".to_owned();
    for (shown, input, effects, name) in facts.into_iter().chain(inputs) {
        let brings_none =
            || lifecycle_with_input(input, effects, "!fine").is_some_and(|l| values(&l).is_none());
        let means = match (lifecycle_with_input(input, effects, name), name) {
            (Some(lifecycle), _) => describe_meaning(&lifecycle),
            (None, "x") if brings_none() => {
                "nothing, and nothing else is asked of it: a fact reads it".to_owned()
            }
            (None, _) => "nothing: write which value".to_owned(),
        };
        writeln!(table, "| {shown} | {means} |").expect("text");
    }
    between("language/predicates.md", "what a bare name means", &table);
}

/// Returns the question that the first state evaluates.
fn describe_meaning(lifecycle: &Lifecycle) -> String {
    let PredKind::Is { var, values } = &lifecycle.states[0].when.kind else {
        panic!("one question is asked");
    };
    let var = &lifecycle.vars[var.0];
    let named = var.values.iter().enumerate();
    let named = named.filter(|(value, _)| values.contains(*value));
    let named: Vec<&String> = named.map(|(_, name)| name).collect();
    format!("it is {}", quoted(&named))
}

#[test]
fn each_section_is_written_as_the_compiler_says() {
    let sections = [
        ("observe", "observe { 0; }", "[inputs](language/observe.md)"),
        ("facts", "facts { 0; }", "[facts](language/facts.md)"),
        ("states", "states { 0; }", "[states](language/states.md)"),
        (
            "effects",
            "effects { 0; }",
            "[effects](language/effects.md)",
        ),
        (
            "promises",
            "promises { 0; }",
            "[effects](language/effects.md)",
        ),
        (
            "transitions",
            "transitions { 0; }",
            "[transitions](language/transitions.md)",
        ),
        ("status", "status { 0; }", "[status](language/status.md)"),
        (
            "a clause",
            "status { condition A { 0; } }",
            "[status](language/status.md)",
        ),
        (
            "teardown",
            "teardown { 0; }",
            "[ordered deletion](teardown.md)",
        ),
        (
            "properties",
            "properties { 0; }",
            "[properties](properties.md)",
        ),
        ("rpc", "rpc { 0; }", "[volumes](volume.md)"),
        (
            "retired",
            "retired { 0; }",
            "[changing a declaration](change.md)",
        ),
        ("allow", "allow LC014;", "[the language](language.md)"),
    ];
    let mut table =
        "| section | how an item of it is written | page |\n| --- | --- | --- |\n".to_owned();
    for (name, bad, page) in sections {
        let kind = if name == "rpc" { "volume" } else { "resource" };
        let found = checked(&format!("{kind} Thing; {bad}")).diagnostics;
        let is_syntax = |found: &&Diagnostic| found.code == "LC000" && found.help.is_some();
        let form = found.iter().find(is_syntax).expect(name);
        let form = form.help.as_deref().expect("it helps").replace('|', "\\|");
        writeln!(table, "| {name} | {form} | {page} |").expect("text");
    }
    between("language.md", "forms", &table);
}

#[test]
fn the_trait_is_the_one_that_is_generated() {
    let text = include_str!("../expand/specimen.expanded.rs");
    let (_, body) = text
        .split_once("pub trait BucketLogic")
        .expect("the trait is generated");
    let (_, body) = body.split_once("{\n").expect("it has methods");
    let (body, _) = body.split_once("\n}\n").expect("it ends");
    let mut shown = "```text\ntrait BucketLogic: Send + Sync + 'static {\n".to_owned();
    let mut method = String::new();
    for line in body.lines() {
        if let Some(doc) = line.trim().strip_prefix("///") {
            writeln!(shown, "    /// {}", doc.trim()).expect("text");
            continue;
        }
        method += line.trim();
        method.push(' ');
        if line.ends_with(';') {
            writeln!(shown, "    {}", signature(&method)).expect("text");
            method.clear();
        }
    }
    shown += "}\n```\n";
    between("language/trait.md", "the trait", &shown);
}

/// A method as an author writes it.
fn signature(method: &str) -> String {
    let paths = [
        "::lifecycle_runtime::__private::",
        "::std::option::",
        "::std::collections::",
        "::std::string::",
        "::std::vec::",
        "::std::result::",
        "::std::future::",
        "::std::marker::",
    ];
    let mut text = method.trim().to_owned();
    for path in paths {
        text = text.replace(path, "");
    }
    for (long, short) in [
        ("this: This<'_, Bucket>, ", "this, "),
        ("( ", "("),
        (", )", ")"),
        (", >", ">"),
        ("< ", "<"),
    ] {
        text = text.replace(long, short);
    }
    let Some((before, after)) = text.split_once("impl Future<Output = ") else {
        return text;
    };
    let (output, _) = after
        .rsplit_once("> + Send;")
        .expect("a future that may be sent");
    format!("async {before}{output};")
}

#[test]
fn the_calls_of_a_volume_are_those_of_the_interface() {
    let mut table =
        "| call | one at a time for each | preconditions, in order | taken back by |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for rpc in Rpc::ALL {
        let demands = rpc.demands();
        let keys: Vec<String> = demands.key.iter().map(|key| format!("`{key}`")).collect();
        let asked = demands.preconditions.iter();
        let asked: Vec<String> = asked
            .map(|(asked, code)| format!("`{}`: {}", asked.name(), code.name()))
            .collect();
        let back = demands
            .undone_by
            .map_or(String::new(), |rpc| format!("`{}`", rpc.name()));
        let (keys, asked) = (keys.join(", "), asked.join(", "));
        writeln!(table, "| `{}` | {keys} | {asked} | {back} |", rpc.name()).expect("text");
    }
    between("volume.md", "calls of the interface", &table);
}
