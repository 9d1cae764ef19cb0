//! Validation of custom resources: the causes as the real server words them.

use serde_json::{Value, json};

use super::super::Schema;

fn schema() -> Schema {
    Schema::of_crd(&json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "required": ["name"],
        "x-kubernetes-validations": [
            {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "low must not be above high"},
            {"rule": "self.name == oldSelf.name", "messageExpression": "'name is ' + oldSelf.name + ' for ever'", "fieldPath": ".name"},
        ],
        "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
            "mode": {"type": "string", "enum": ["fast", "slow"]},
            "low": {"type": "integer", "minimum": 1}, "high": {"type": "integer", "format": "int32"},
            "port": {"x-kubernetes-int-or-string": true},
            "tags": {"type": "array", "maxItems": 2, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"], "items": {
                "type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "size": {"type": "integer", "maximum": 9,
                    "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "may only grow"}]}},
            }},
            "when": {"type": "string", "format": "date-time"},
            "either": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        },
    }}}))
    .unwrap()
}

fn object(spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "T", "metadata": {"name": "a"}, "spec": spec})
}

fn causes(old: Option<Value>, new: Value) -> Vec<String> {
    let old = old.map(object);
    let causes = schema().validate(old.as_ref(), &object(new));
    causes
        .into_iter()
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect()
}

fn check(spec: Value, expected: &[&str]) {
    assert_eq!(causes(None, spec), expected);
}

const UNCHECKED: &str = "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

#[test]
fn a_good_object_has_no_causes() {
    check(
        json!({"name": "abc", "mode": "fast", "low": 1, "high": 2, "port": "http", "tags": ["a"], "when": "2026-01-01T00:00:00Z"}),
        &[],
    );
}

#[test]
fn values_are_blamed_in_the_words_of_the_real_server() {
    check(json!({}), &["spec.name: Required value", UNCHECKED]);
    check(
        json!({"name": 1}),
        &[
            "spec.name: Invalid value: \"integer\": spec.name in body must be of type string: \"integer\"",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "a"}),
        &["spec.name: Invalid value: \"a\": spec.name in body should be at least 2 chars long"],
    );
    check(
        json!({"name": "abcdef"}),
        &[
            "spec.name: Too long: may not be more than 5 bytes",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "AB"}),
        &["spec.name: Invalid value: \"AB\": spec.name in body should match '^[a-z]+$'"],
    );
    check(
        json!({"name": "ab", "mode": "x"}),
        &[
            "spec.mode: Unsupported value: \"x\": supported values: \"fast\", \"slow\"",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "ab", "low": 0}),
        &["spec.low: Invalid value: 0: spec.low in body should be greater than or equal to 1"],
    );
    check(
        json!({"name": "ab", "port": true}),
        &[
            "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\"",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "ab", "tags": ["a", "b", "c"]}),
        &[
            "spec.tags: Too many: 3: must have at most 2 items",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "ab", "when": "now"}),
        &[
            "spec.when: Invalid value: \"now\": spec.when in body must be of type date-time: \"now\"",
            UNCHECKED,
        ],
    );
    check(
        json!({"name": "ab", "high": 3_000_000_000_i64}),
        &[
            "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.high",
        ],
    );
}

#[test]
fn alternatives_have_no_field() {
    check(
        json!({"name": "ab", "either": {"a": "1", "b": "1"}}),
        &[
            "<nil>: Invalid value: \"\": \"spec.either\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
        ],
    );
}

#[test]
fn sets_and_keys_are_unique() {
    check(
        json!({"name": "ab", "tags": ["a", "a"]}),
        &["spec.tags[1]: Duplicate value: \"a\""],
    );
    check(
        json!({"name": "ab", "items": [{"id": "x"}, {"id": "x"}]}),
        &["spec.items[1]: Duplicate value: {\"id\":\"x\"}"],
    );
}

#[test]
fn rules_see_the_value_and_the_one_before() {
    check(
        json!({"name": "ab", "low": 3, "high": 2}),
        &["spec: Invalid value: low must not be above high"],
    );
    assert_eq!(
        causes(Some(json!({"name": "ab"})), json!({"name": "cd"})),
        ["spec.name: Invalid value: name is ab for ever"],
    );
    let old = json!({"name": "ab", "items": [{"id": "x", "size": 3}, {"id": "y", "size": 1}]});
    let new = json!({"name": "ab", "items": [{"id": "y", "size": 2}, {"id": "x", "size": 2}]});
    assert_eq!(
        causes(Some(old), new),
        ["spec.items[1].size: Invalid value: 2: may only grow"]
    );
}

#[test]
fn what_has_not_changed_is_not_blamed() {
    let old = json!({"name": "AB", "low": 1});
    assert!(causes(Some(old.clone()), json!({"name": "AB", "low": 2})).is_empty());
    assert_eq!(causes(Some(old), json!({"name": "ABC"})).len(), 2);
}
