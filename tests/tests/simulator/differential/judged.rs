//! Answers of both servers to values under schemas of every sort, to invalid schemas, and to
//! unknown fields.

use anyhow::{Result, bail};
use http::Method;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::LIMIT;
use super::end::{Answer, End, Transcript};
use super::normal;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

type Row = (Value, Vec<Value>);

/// Schemas of one field, and values for it; all but the first are also sent as updates of an object that has the first.
fn table() -> Vec<Row> {
    [scalars(), wholes(), formats(), rules()].concat()
}

fn text(more: Value) -> Value {
    merged_schema(json!({"type": "string"}), &more)
}

fn integer_schema(more: Value) -> Value {
    merged_schema(json!({"type": "integer"}), &more)
}

fn object(more: Value) -> Value {
    let fields = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
    merged_schema(json!({"type": "object", "properties": fields}), &more)
}

fn format(name: &str, values: &[&str]) -> Row {
    let values = values.iter().map(|value| json!(value));
    (text(json!({"format": name})), values.collect())
}

fn rule(rule: &str, message: &str) -> Value {
    json!([{"rule": rule, "message": message}])
}

/// Types, choices and bounds of one value.
fn scalars() -> Vec<Row> {
    vec![
        (
            text(json!({})),
            vec![
                json!("a"),
                json!(1),
                json!(null),
                json!(true),
                json!(["a"]),
                json!({"a": 1}),
            ],
        ),
        (
            integer_schema(json!({})),
            vec![json!(1), json!("1"), json!(1.5), json!(2.0), json!(false)],
        ),
        (
            integer_schema(json!({"format": "int32"})),
            vec![json!(7), json!(3_000_000_000_i64), json!("x"), json!(true)],
        ),
        (
            integer_schema(json!({"format": "int64"})),
            vec![json!(3_000_000_000_i64), json!(1.5)],
        ),
        (
            json!({"type": "number", "minimum": 0.5, "maximum": 2.5, "exclusiveMaximum": true}),
            vec![json!(1), json!(0.25), json!(2.5), json!(3)],
        ),
        (
            integer_schema(
                json!({"minimum": 2, "maximum": 8, "exclusiveMinimum": true, "multipleOf": 3}),
            ),
            vec![json!(3), json!(2), json!(9), json!(7)],
        ),
        (
            json!({"type": "boolean"}),
            vec![json!(true), json!("true"), json!(0)],
        ),
        (
            text(json!({"minLength": 2, "maxLength": 3})),
            vec![json!("ab"), json!("a"), json!("abcd"), json!("äöüß")],
        ),
        (
            text(json!({"pattern": "^[a-c]+$"})),
            vec![json!("abc"), json!("abd")],
        ),
        (
            text(json!({"enum": ["x", "y"]})),
            vec![json!("x"), json!("z"), json!(1)],
        ),
        (
            integer_schema(json!({"enum": [1, 2]})),
            vec![json!(1), json!(3)],
        ),
        (
            text(json!({"nullable": true})),
            vec![json!(null), json!("a")],
        ),
        (
            text(json!({"nullable": true, "default": "d"})),
            vec![json!(null), json!("a")],
        ),
        (text(json!({"default": "d"})), vec![json!(null), json!("a")]),
        (
            json!({"x-kubernetes-int-or-string": true}),
            vec![json!(1), json!("a"), json!(true), json!({"a": 1})],
        ),
    ]
}

/// Lists, maps, structures and alternatives.
fn wholes() -> Vec<Row> {
    vec![
        (
            json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}}),
            vec![
                json!(["a"]),
                json!([]),
                json!(["a", "b", "c"]),
                json!("a"),
                json!([1, "b"]),
            ],
        ),
        (
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}}),
            vec![json!([1, 2]), json!([1, 1]), json!([1, 2, 2, 1, 1])],
        ),
        (
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}),
            vec![
                json!([{"a": "x"}]),
                json!([{"a": "x"}, {"a": "x"}]),
                json!([{}]),
                json!(["x"]),
            ],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2, "minProperties": 1}),
            vec![
                json!({"a": 1}),
                json!({}),
                json!({"a": 1, "b": 2, "c": 3}),
                json!({"a": "x"}),
            ],
        ),
        (
            object(json!({"required": ["a"]})),
            vec![
                json!({"a": "x"}),
                json!({"b": 1}),
                json!({"a": "x", "c": 1}),
                json!([]),
            ],
        ),
        (
            object(json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]})),
            vec![json!({"a": "x"}), json!({"a": "x", "b": 1}), json!({})],
        ),
        (
            object(json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})),
            vec![json!({"a": "x", "b": 1}), json!({})],
        ),
        (
            object(json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]})),
            vec![json!({"a": "x", "b": 1}), json!({"a": "x"})],
        ),
        (
            object(json!({"not": {"required": ["b"]}})),
            vec![json!({"a": "x"}), json!({"b": 1})],
        ),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}),
            vec![
                json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": 1}}),
                json!({"kind": "Pod"}),
                json!({"apiVersion": "", "kind": "Pod"}),
            ],
        ),
        (
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            vec![json!({"any": [1, {"x": null}]}), json!("a")],
        ),
    ]
}

/// Formats of texts.
fn formats() -> Vec<Row> {
    vec![
        format("date-time", &["2026-01-01T00:00:00Z", "2026-01-01"]),
        format("date", &["2026-01-31", "2026-02-31"]),
        format("duration", &["1h30m", "3 fortnights"]),
        format("ipv4", &["10.0.0.1", "10.0.0.256"]),
        format("ipv6", &["::1", "10.0.0.1"]),
        format("cidr", &["10.0.0.0/8", "10.0.0.0/33"]),
        format("uuid", &["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7"]),
        format("byte", &["aGk=", "*"]),
        format("email", &["a@example.com", "a"]),
        format("hostname", &["a.example.com", "-a-"]),
        format("mac", &["01:02:03:04:05:06", "01"]),
        format("uri", &["https://a.example.com/b", "::"]),
        format("made-up", &["anything"]),
    ]
}

/// Rules in CEL.
fn rules() -> Vec<Row> {
    vec![
        (
            integer_schema(json!({"x-kubernetes-validations": rule("self > 1", "too small")})),
            vec![json!(2), json!(1)],
        ),
        (
            integer_schema(
                json!({"x-kubernetes-validations": rule("self >= oldSelf", "may only grow")}),
            ),
            vec![json!(2), json!(1), json!(3)],
        ),
        (
            integer_schema(json!({"x-kubernetes-validations": [{"rule": "self > 1"}]})),
            vec![json!(2), json!(0)],
        ),
        (
            integer_schema(
                json!({"x-kubernetes-validations": [{"rule": "self > 1", "messageExpression": "'not more than one'"}]}),
            ),
            vec![json!(2), json!(0)],
        ),
        (
            object(
                json!({"x-kubernetes-validations": [{"rule": "!has(self.a) || self.a.size() < 3", "message": "long", "fieldPath": ".a", "reason": "FieldValueForbidden"}]}),
            ),
            vec![json!({"a": "xy"}), json!({"a": "xyz"})],
        ),
        (
            json!({"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 9}, "x-kubernetes-validations": rule("self.all(x, x.startsWith('a'))", "begin with a")}),
            vec![json!(["a", "ab"]), json!(["a", "b"])],
        ),
        (
            text(
                json!({"maxLength": 20, "x-kubernetes-validations": rule("isQuantity(self) && quantity(self).isGreaterThan(quantity('1Gi'))", "at least 1Gi")}),
            ),
            vec![json!("2Gi"), json!("512Mi"), json!("x")],
        ),
    ]
}

/// Schemas of one field that no definition may have.
fn refused() -> Vec<Value> {
    vec![
        json!({}),
        json!({"type": "array"}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        json!({"type": "integer", "default": "x"}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
        json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": {"type": "object", "properties": {"a": {"type": "string"}}}}),
    ]
}

fn merged_schema(mut schema: Value, more: &Value) -> Value {
    super::kinds::merge(&mut schema, more);
    schema
}

fn definition(plural: &str, field: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.judged.example.com")},
        "spec": {
            "group": "judged.example.com", "scope": "Namespaced",
            "names": {"kind": plural.to_uppercase(), "plural": plural, "singular": plural, "listKind": format!("{}List", plural.to_uppercase())},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {"v": field}}},
            }}}],
        },
    })
}

/// Sends every request to both servers and reports their differences.
pub(crate) async fn compare(real: &End, simulated: &End) -> Result<()> {
    let mut differences = Vec::new();
    // A definition takes time to be served, so all are created before the first is queried.
    let mut made = Vec::new();
    for (index, (schema, _)) in table().iter().enumerate() {
        let definition = definition(&format!("judged{index}"), schema);
        for end in [real, simulated] {
            made.push(
                end.request(Method::POST, DEFINITIONS, "application/json", &definition)
                    .await?,
            );
        }
    }
    let mut made = made.into_iter();
    for (index, (schema, values)) in table().into_iter().enumerate() {
        let plural = format!("judged{index}");
        let mut answers = Vec::new();
        for (end, made) in [real, simulated].into_iter().zip(made.by_ref()) {
            answers.push(match made.code {
                201 => judged(end, &plural, &values).await?,
                _ => vec![made],
            });
        }
        collect(&format!("{schema}"), answers, &mut differences);
    }
    for (index, schema) in refused().into_iter().enumerate() {
        let definition = definition(&format!("refused{index}"), &schema);
        let mut answers = Vec::new();
        for end in [real, simulated] {
            answers.push(vec![
                end.request(Method::POST, DEFINITIONS, "application/json", &definition)
                    .await?,
            ]);
        }
        collect(&format!("definition {schema}"), answers, &mut differences);
    }
    if differences.is_empty() {
        return Ok(());
    }
    bail!(
        "{} differences\n{}",
        differences.len(),
        differences.join("\n")
    )
}

/// Creates an object of each value, then makes the first into each of the others, strictly and not.
async fn judged(end: &End, plural: &str, values: &[Value]) -> Result<Vec<Answer>> {
    let path = format!("/apis/judged.example.com/v1/namespaces/default/{plural}");
    let object = |name: &str, value: &Value| {
        let kind = plural.to_uppercase();
        json!({"apiVersion": "judged.example.com/v1", "kind": kind, "metadata": {"name": name}, "spec": {"v": value}})
    };
    eventually("a definition is served", LIMIT, async || {
        let object = object("probe", &values[0]);
        let made = end
            .request(Method::POST, &path, "application/json", &object)
            .await?;
        Ok((made.code != 404).then_some(()))
    })
    .await?;
    let mut answers = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let object = object(&format!("v{index}"), value);
        answers.push(
            end.request(Method::POST, &path, "application/json", &object)
                .await?,
        );
    }
    for value in &values[1..] {
        let patch = json!({"spec": {"v": value}});
        answers.push(
            end.request(
                Method::PATCH,
                &format!("{path}/v0"),
                "application/merge-patch+json",
                &patch,
            )
            .await?,
        );
    }
    let mut unknown = object("unknown", &values[0]);
    unknown["spec"]["nonsense"] = json!(1);
    let strict = format!("{path}?fieldValidation=Strict");
    answers.push(
        end.request(Method::POST, &strict, "application/json", &unknown)
            .await?,
    );
    Ok(answers)
}

fn collect(what: &str, answers: Vec<Vec<Answer>>, differences: &mut Vec<String>) {
    let transcripts = answers.into_iter().map(|answers| Transcript {
        answers,
        left: Vec::new(),
        events: Vec::new(),
    });
    let mut normal = transcripts.map(normal::normal);
    let (Some(real), Some(simulated)) = (normal.next(), normal.next()) else {
        return;
    };
    for (index, (real, simulated)) in real.iter().zip(&simulated).enumerate() {
        if real != simulated {
            differences.push(format!(
                "{what}, answer {index}\n  real      {} {}\n  simulated {} {}",
                real.code,
                normal::short(&real.body),
                simulated.code,
                normal::short(&simulated.body)
            ));
        }
    }
}
