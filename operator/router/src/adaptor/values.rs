//! Values of JSON as values of AMQP and back. Reading is total: a value of AMQP that JSON has no word for becomes text.

use fe2o3_amqp::types::primitives::{OrderedMap, Value as Amqp};
use serde_json::{Number, Value};

use super::Attributes;

/// A value as the router takes it. Whole numbers are `long`, as the router's own tools send them.
pub(super) fn to_amqp(value: &Value) -> Amqp {
    match value {
        Value::Null => Amqp::Null,
        Value::Bool(flag) => Amqp::Bool(*flag),
        Value::String(text) => Amqp::String(text.clone()),
        Value::Number(number) => number_to_amqp(number),
        Value::Array(values) => Amqp::List(values.iter().map(to_amqp).collect()),
        Value::Object(attributes) => map_to_amqp(attributes),
    }
}

/// Attributes as a map.
pub(super) fn map_to_amqp(attributes: &Attributes) -> Amqp {
    let pairs = attributes
        .iter()
        .map(|(name, value)| (Amqp::String(name.clone()), to_amqp(value)));
    Amqp::Map(pairs.collect::<OrderedMap<_, _>>())
}

fn number_to_amqp(number: &Number) -> Amqp {
    if let Some(whole) = number.as_i64() {
        Amqp::Long(whole)
    } else if let Some(whole) = number.as_u64() {
        Amqp::Ulong(whole)
    } else {
        Amqp::Double(number.as_f64().unwrap_or_default().into())
    }
}

/// A value of a reply.
pub(super) fn to_json(value: Amqp) -> Value {
    match value {
        Amqp::Null => Value::Null,
        Amqp::Bool(flag) => Value::Bool(flag),
        Amqp::Ubyte(number) => number.into(),
        Amqp::Ushort(number) => number.into(),
        Amqp::Uint(number) => number.into(),
        Amqp::Ulong(number) => number.into(),
        Amqp::Byte(number) => number.into(),
        Amqp::Short(number) => number.into(),
        Amqp::Int(number) => number.into(),
        Amqp::Long(number) => number.into(),
        Amqp::Float(number) => f64::from(number.into_inner()).into(),
        Amqp::Double(number) => number.into_inner().into(),
        Amqp::Char(character) => character.to_string().into(),
        Amqp::String(text) => text.into(),
        Amqp::Symbol(symbol) => symbol.0.into(),
        Amqp::Binary(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        Amqp::Timestamp(time) => time.milliseconds().into(),
        Amqp::List(values) => values.into_iter().map(to_json).collect(),
        Amqp::Array(values) => values.0.into_iter().map(to_json).collect(),
        Amqp::Map(pairs) => {
            let pairs = pairs.into_iter();
            let pairs = pairs.map(|(name, value)| (key(name), to_json(value)));
            Value::Object(pairs.collect())
        }
        Amqp::Described(described) => to_json(described.value),
        other @ (Amqp::Decimal32(_) | Amqp::Decimal64(_) | Amqp::Decimal128(_) | Amqp::Uuid(_)) => {
            format!("{other:?}").into()
        }
    }
}

/// The name of a field of a nested map, which AMQP allows to be anything.
fn key(name: Amqp) -> String {
    match to_json(name) {
        Value::String(text) => text,
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => other.to_string(),
    }
}
