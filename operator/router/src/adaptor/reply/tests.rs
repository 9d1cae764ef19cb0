//! Answers as they are and as they must not be.

use fe2o3_amqp::types::messaging::{AmqpSequence, Batch, Data};
use fe2o3_amqp::types::primitives::{Binary, OrderedMap, SimpleValue};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

use super::super::values::{map_to_amqp, to_amqp};
use super::*;

fn properties(pairs: &[(&str, SimpleValue)]) -> Option<ApplicationProperties> {
    let pairs = pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    Some(ApplicationProperties(pairs.collect::<OrderedMap<_, _>>()))
}

#[test]
fn a_status_is_any_whole_number() {
    for code in [
        SimpleValue::Int(201),
        SimpleValue::Long(201),
        SimpleValue::Uint(201),
        SimpleValue::Ulong(201),
        SimpleValue::Short(201),
        SimpleValue::Ushort(201),
        SimpleValue::Ubyte(201),
    ] {
        let read = status(properties(&[
            ("statusCode", code),
            ("statusDescription", "Created".into()),
        ]));
        assert_eq!(read, Ok((201, "Created".to_owned())));
    }
    let read = status(properties(&[("statusCode", SimpleValue::Int(404))]));
    assert_eq!(read, Ok((404, String::new())));
}

#[test]
fn anything_else_is_no_status() {
    assert_eq!(status(None), Err(Garbage::NoStatus));
    assert_eq!(status(properties(&[])), Err(Garbage::NoStatus));
    for (code, text) in [
        (SimpleValue::Null, "null"),
        (SimpleValue::Bool(true), "true"),
        (SimpleValue::String("200".to_owned()), "\"200\""),
        (SimpleValue::Int(-200), "-200"),
        (SimpleValue::Int(99), "99"),
        (SimpleValue::Long(600), "600"),
        (SimpleValue::Ulong(u64::MAX), "18446744073709551615"),
        (SimpleValue::from(200.0_f64), "200.0"),
    ] {
        let read = status(properties(&[("statusCode", code)]));
        assert_eq!(read, Err(Garbage::Status(text.to_owned())));
    }
}

#[test]
fn a_body_is_a_map_of_texts() {
    let map = json!({"a": 1, "b": null, "c": {"d": [true]}});
    let read = attributes(Body::from(to_amqp(&map)));
    assert_eq!(
        read,
        Ok(json!({"a": 1, "c": {"d": [true]}})
            .as_object()
            .unwrap()
            .clone())
    );
    let other_key: OrderedMap<Amqp, Amqp> = [(Amqp::Int(1), Amqp::Null)].into_iter().collect();
    for (body, expected) in [
        (Body::Empty, "empty"),
        (Body::from(Amqp::List(Vec::new())), "a single value"),
        (Body::from(Amqp::Null), "a single value"),
        (Body::from(Amqp::Map(other_key)), "a map with other keys"),
        (
            Body::Data(Batch::new(vec![Data(Binary::from(vec![1]))])),
            "binary data",
        ),
        (
            Body::Sequence(Batch::new(vec![AmqpSequence(vec![Amqp::Null])])),
            "a sequence",
        ),
    ] {
        assert_eq!(attributes(body), Err(Garbage::NoMap(expected)));
    }
}

#[test]
fn rows_have_a_value_for_each_name() {
    let read = |body: Value| rows(body.as_object().unwrap().clone());
    let good =
        read(json!({"attributeNames": ["name", "port"], "results": [["a", "1"], ["b", null]]}));
    let expected = [json!({"name": "a", "port": "1"}), json!({"name": "b"})];
    let expected: Vec<Attributes> = expected
        .iter()
        .map(|row| row.as_object().unwrap().clone())
        .collect();
    assert_eq!(good, Ok(expected));
    assert_eq!(
        read(json!({"attributeNames": [], "results": []})),
        Ok(Vec::new())
    );
    for (body, expected) in [
        (json!({}), Garbage::Names),
        (
            json!({"attributeNames": "name", "results": []}),
            Garbage::Names,
        ),
        (
            json!({"attributeNames": ["name", 1], "results": []}),
            Garbage::Names,
        ),
        (json!({"attributeNames": ["name"]}), Garbage::Results),
        (
            json!({"attributeNames": ["name"], "results": {"a": 1}}),
            Garbage::Results,
        ),
        (
            json!({"attributeNames": ["name"], "results": [["a"], "b"]}),
            Garbage::Row {
                row: 1,
                expected: 1,
            },
        ),
        (
            json!({"attributeNames": ["name"], "results": [[]]}),
            Garbage::Row {
                row: 0,
                expected: 1,
            },
        ),
        (
            json!({"attributeNames": ["name"], "results": [["a", "b"]]}),
            Garbage::Row {
                row: 0,
                expected: 1,
            },
        ),
    ] {
        assert_eq!(read(body), Err(expected));
    }
}

fn page(names: &[&str]) -> Vec<Attributes> {
    let rows = names
        .iter()
        .map(|name| json!({"name": name}).as_object().unwrap().clone());
    rows.collect()
}

#[test]
fn pages_end_at_a_short_one_a_long_one_and_one_without_news() {
    let mut pages = Pages::default();
    assert!(pages.add(page(&["a", "b"]), 2));
    assert!(
        pages.add(page(&["b", "c"]), 2),
        "a row moved between the requests"
    );
    assert_eq!(pages.offset(), 4);
    assert!(!pages.add(page(&["d"]), 2));
    assert_eq!(pages.into_rows(), page(&["a", "b", "c", "d"]));
    let mut pages = Pages::default();
    assert!(!pages.add(page(&["a", "b", "c"]), 2));
    let mut pages_again = Pages::default();
    assert!(pages_again.add(page(&["a", "b"]), 2));
    assert!(!pages_again.add(page(&["a", "b"]), 2));
    assert_eq!(pages_again.into_rows(), page(&["a", "b"]));
    assert!(!Pages::default().add(Vec::new(), 2));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,4}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, rng_seed: RngSeed::Fixed(36), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn values_come_back_as_they_went(value in any_json()) {
        prop_assert_eq!(to_json(to_amqp(&value)), value);
    }

    #[test]
    fn no_body_makes_it_panic(value in any_json(), names in any_json(), results in any_json()) {
        let body = json!({"attributeNames": names, "results": results});
        let read = attributes(Body::from(map_to_amqp(body.as_object().unwrap()))).and_then(rows);
        prop_assert!(read.is_err() || names.is_array());
        prop_assert!(attributes(Body::from(to_amqp(&value))).is_ok() == value.is_object());
    }
}
