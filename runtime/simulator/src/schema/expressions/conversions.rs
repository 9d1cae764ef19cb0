//! Conversions of times, durations and booleans to texts and numbers, as a real server makes them.
//! All other values stay as they are, for the functions of the interpreter.

use std::sync::Arc;

use kube_cel::cel::extractors::This;
use kube_cel::cel::{ExecutionError, Value};

const NANOS: u64 = 1_000_000_000;

#[expect(
    clippy::unnecessary_wraps,
    reason = "functions of the language may fail"
)]
pub(super) fn text(This(value): This<Value>) -> Result<Value, ExecutionError> {
    let text = match &value {
        Value::Bool(value) => value.to_string(),
        Value::Timestamp(time) => written_time(&time.to_rfc3339()),
        Value::Duration(duration) => match duration.num_nanoseconds() {
            Some(nanos) => written_seconds(nanos),
            None => format!("{}s", duration.num_seconds()),
        },
        Value::Bytes(_)
        | Value::Float(_)
        | Value::Int(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Null
        | Value::String(_)
        | Value::UInt(_)
        | Value::Function(..)
        | Value::Opaque(_) => return Ok(value),
    };
    Ok(Value::String(Arc::new(text)))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "functions of the language may fail"
)]
pub(super) fn number(This(value): This<Value>) -> Result<Value, ExecutionError> {
    Ok(match &value {
        Value::Timestamp(time) => Value::Int(time.timestamp()),
        Value::Duration(duration) => duration.num_nanoseconds().map_or(value, Value::Int),
        Value::Bool(_)
        | Value::Bytes(_)
        | Value::Float(_)
        | Value::Int(_)
        | Value::List(_)
        | Value::Map(_)
        | Value::Null
        | Value::String(_)
        | Value::UInt(_)
        | Value::Function(..)
        | Value::Opaque(_) => value,
    })
}

/// Returns a time with as few digits as Go writes.
fn written_time(text: &str) -> String {
    let (time, zone) = text.split_at(text.len() - "+00:00".len());
    let time = match time.contains('.') {
        true => time.trim_end_matches('0').trim_end_matches('.'),
        false => time,
    };
    let zone = if zone == "+00:00" { "Z" } else { zone };
    format!("{time}{zone}")
}

/// Returns a duration in seconds, with a fraction where it has one.
fn written_seconds(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let fraction = format!(".{:09}", nanos % NANOS);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{}{fraction}s", nanos / NANOS)
}
