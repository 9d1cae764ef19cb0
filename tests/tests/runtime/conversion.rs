//! A kind in two versions of its API: values that its schemas generate go there and back, and a conversion that loses something is found with the value.

use lifecycle_runtime::conversion::Conversion;
use lifecycle_suite::conversion::there_and_back;
use lifecycle_tests::gates::{definition, down, gates, up, v1, v1alpha1};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation():
        what_one_version_cannot_say_comes_back,
        a_field_that_is_lost_is_found_with_a_value,
        a_function_that_refuses_or_panics_is_found,
        metadata_stays_as_it_is,
        what_somebody_changed_meanwhile_counts,
        a_review_is_answered,
        the_page_shows_what_runs
    ]
}

/// How many values of each version are tried.
const VALUES: usize = 200;

fn what_one_version_cannot_say_comes_back() {
    let tried =
        there_and_back(&gates(), &definition(), VALUES).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(tried.values, 2 * VALUES);
    // Millimetres, coats of paint and a gate ajar are nothing that the older version knows.
    assert!(tried.kept > VALUES / 4, "{tried:?}");
}

#[track_caller]
fn fails(conversion: &Conversion, parts: &[&str]) -> Value {
    let failure =
        there_and_back(conversion, &definition(), VALUES).expect_err("it loses something");
    let said = failure.to_string();
    assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    failure.object
}

fn a_field_that_is_lost_is_found_with_a_value() {
    let strict = gates().without_annotation();
    let shown = "v1 -> v1alpha1 -> v1: `spec.millimetres` was 1 and is 0; of\n";
    assert!(PAGE.contains(shown));
    let object = fails(&strict, &[shown]);
    // One thing is wrong with it, and nothing else is in it.
    let spec = object["spec"].as_object().expect("it has a spec");
    assert!(spec.len() <= 2 && !spec.contains_key("guards"), "{object}");

    // A function that forgets something else loses nothing where it is kept.
    let forgets: fn(v1alpha1::Gate) -> Result<v1::Gate, String> = |gate| {
        let mut gate = up(gate)?;
        gate.spec.guards.clear();
        Ok(gate)
    };
    let forgetful = Conversion::through::<v1::Gate>()
        .version(forgets, down)
        .build();
    assert!(there_and_back(&forgetful, &definition(), VALUES).is_ok());
}

fn a_function_that_refuses_or_panics_is_found() {
    let refuses: fn(v1::Gate) -> Result<v1alpha1::Gate, String> =
        |gate| match gate.spec.guards.len() {
            2.. => Err("an older gate has one guard".to_owned()),
            _ => down(gate),
        };
    let refusing = Conversion::through::<v1::Gate>()
        .version(up, refuses)
        .build();
    let object = fails(&refusing, &["an older gate has one guard"]);
    assert_eq!(
        object["spec"]["guards"].as_array().map(Vec::len),
        Some(2),
        "{object}"
    );
    let panics: fn(v1alpha1::Gate) -> Result<v1::Gate, String> = |gate| {
        assert!(gate.spec.width < 1000, "too wide");
        up(gate)
    };
    fails(
        &Conversion::through::<v1::Gate>()
            .version(panics, down)
            .build(),
        &["panics"],
    );
}

fn gate(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("gates.tests/{version}"), "kind": "Gate",
        "metadata": { "name": "g", "namespace": "ns", "labels": { "a": "b" } },
        "spec": spec,
    })
}

fn metadata_stays_as_it_is() {
    let old = gate("v1alpha1", &json!({ "width": 3, "guards": [] }));
    let new = gates().convert(&old, "v1").expect("it converts");
    assert_eq!(new["metadata"], old["metadata"]);
    assert_eq!(new["spec"]["millimetres"], 30);
    let error = gates().convert(&old, "v2").expect_err("there is none");
    assert_eq!(
        error.to_string(),
        "Gate has no version v2: it has v1, v1alpha1"
    );
}

/// Checks that an edit of an object in the older version changes only the fields that this version
/// shows. The rest of the object stays.
fn what_somebody_changed_meanwhile_counts() {
    let paint = json!({ "colour": "red", "coats": 3 });
    let new = gate(
        "v1",
        &json!({ "millimetres": 35, "paint": paint, "guards": ["a"] }),
    );
    let mut old = gates().convert(&new, "v1alpha1").expect("it converts");
    assert_eq!(old["spec"]["width"], 3);
    old["spec"]["guards"] = json!(["b"]);
    let back = gates().convert(&old, "v1").expect("it converts");
    let expected = json!({ "millimetres": 35, "paint": paint, "guards": ["b"] });
    assert_eq!(back["spec"], expected);
    old["spec"]["width"] = json!(4);
    let back = gates().convert(&old, "v1").expect("it converts");
    assert_eq!(
        back["spec"]["millimetres"], 40,
        "what was kept is of another width"
    );
    assert_eq!(back["spec"]["paint"], paint);
    assert_eq!(back["metadata"], new["metadata"]);
}

fn a_review_is_answered() {
    let ask = |objects: Value| {
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": { "uid": "u", "desiredAPIVersion": "gates.tests/v1", "objects": objects },
        });
        let answer = gates().review(review.to_string().as_bytes());
        answer.expect("it is a review")["response"].clone()
    };
    let good = gate("v1alpha1", &json!({ "width": 3 }));
    let answer = ask(json!([good, good]));
    assert_eq!(
        (&answer["uid"], &answer["result"]["status"]),
        (&json!("u"), &json!("Success"))
    );
    assert_eq!(answer["convertedObjects"].as_array().map(Vec::len), Some(2));
    let bad = gate("v1alpha1", &json!({ "width": "wide" }));
    let answer = ask(json!([good, bad]));
    assert_eq!(answer["result"]["status"], "Failure");
    let said = answer["result"]["message"].as_str().unwrap_or_default();
    assert!(
        said.starts_with("Gate ns/g: it is no v1alpha1 of Gate: "),
        "{said}"
    );
    assert!(gates().review(b"{}").is_err());
}

const PAGE: &str = include_str!("../../../docs/change.md");

fn the_page_shows_what_runs() {
    let source = include_str!("../../src/gates.rs");
    let (_, after) = PAGE
        .split_once("## Versions of a kind")
        .expect("it has the section");
    let (_, block) = after.split_once("```rust\n").expect("it has an example");
    let (block, _) = block.split_once("```\n").expect("the example ends");
    assert!(source.contains(block), "{block}");
}
