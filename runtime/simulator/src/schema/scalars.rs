//! Errors of one value of a custom resource by itself: its type, format, choice and range.

use serde_json::Value;

use super::formats;
use super::load::is_true;
use super::problem::{Bad, Kind, Problem};
use super::typed::{equal, plain};

pub(super) fn limit(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name).and_then(Value::as_u64)
}

pub(super) fn too_many(path: &str, size: u64, most: u64) -> Problem {
    let items = if most == 1 { "item" } else { "items" };
    let detail = format!("must have at most {most} {items}");
    Problem::new(Kind::TooMany, path, Bad::Value(size.into()), &detail)
}

pub(super) fn mistyped(schema: &Value, path: &str, value: &Value) -> Option<Problem> {
    let fields = schema.as_object()?;
    let types: Vec<&str> = if is_true(fields, "x-kubernetes-int-or-string") {
        vec!["integer", "string"]
    } else {
        fields
            .get("type")
            .and_then(Value::as_str)
            .into_iter()
            .collect()
    };
    let format = fields
        .get("format")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let has = |name: &str| types.contains(&name);
    let (found, of_format) = match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_f64() => ("number", "float64"),
        Value::Number(_) => ("integer", "int64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    };
    let problem = |wanted: &str, found: &str| {
        let message = format!("{path} in body must be of type {wanted}: {found:?}");
        Some(Problem::new(
            Kind::TypeInvalid,
            path,
            Bad::Value(found.into()),
            &message,
        ))
    };
    if value.is_null() {
        let allowed = types.is_empty() || is_true(fields, "nullable");
        return if allowed {
            None
        } else {
            problem(&types.join(","), found)
        };
    }
    if types.is_empty() && format.is_empty() {
        return None;
    }
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = has(found)
        || (found == "number" && whole && has("integer"))
        || (found == "integer" && has("number"));
    let is_sequence = value.is_string() || value.is_array();
    if !is_sequence && !format.is_empty() && !fits && of_format != format {
        return problem(format, of_format);
    }
    let is_numeric = has("number") || has("integer");
    if (is_sequence && !format.is_empty() && !is_numeric) || fits {
        return None;
    }
    problem(&types.join(","), found)
}

pub(super) fn malformed(schema: &Value, path: &str, text: &str) -> Option<Problem> {
    let format = schema.get("format").and_then(Value::as_str)?;
    if formats::fits(format, text)? {
        return None;
    }
    let message = format!("{path} in body must be of type {format}: {text:?}");
    Some(Problem::new(
        Kind::TypeInvalid,
        path,
        Bad::Value(text.into()),
        &message,
    ))
}

pub(super) fn unsupported(schema: &Value, path: &str, value: &Value) -> Option<Problem> {
    let allowed = schema
        .get("enum")
        .and_then(Value::as_array)
        .filter(|list| !list.is_empty())?;
    if allowed.iter().any(|allowed| equal(allowed, value)) {
        return None;
    }
    let shown = allowed.iter().map(|allowed| match allowed {
        Value::String(text) => format!("{text:?}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{:?}", allowed.to_string())
        }
    });
    let shown: Vec<String> = shown.collect();
    let detail = format!("supported values: {}", shown.join(", "));
    Some(Problem::new(
        Kind::Unsupported,
        path,
        Bad::Value(value.clone()),
        &detail,
    ))
}

pub(super) fn validate_number(
    schema: &Value,
    path: &str,
    value: &Value,
    problems: &mut Vec<Problem>,
) {
    let bound = |name: &str| schema.get(name).filter(|bound| bound.is_number());
    let excludes = |name: &str| schema.get(name) == Some(&Value::Bool(true));
    let data = value.as_f64().unwrap_or_default();
    let mut blame = |message: String| {
        problems.push(Problem::new(
            Kind::Invalid,
            path,
            Bad::Value(value.clone()),
            &message,
        ));
    };
    let shown = |bound: &Value| match bound.as_f64() {
        Some(bound) if value.is_i64() => format!("{}", bound.trunc()),
        Some(_) | None => plain(bound),
    };
    if let Some(factor) = bound("multipleOf") {
        let times = data / factor.as_f64().unwrap_or(1.0);
        if (times - times.round()).abs() > 1e-9 {
            blame(format!(
                "{path} in body should be a multiple of {}",
                shown(factor)
            ));
        }
    }
    if let Some(least) = bound("minimum") {
        let (bound, excluded) = (
            least.as_f64().unwrap_or_default(),
            excludes("exclusiveMinimum"),
        );
        if data < bound || (excluded && data <= bound) {
            let than = if excluded {
                "greater than"
            } else {
                "greater than or equal to"
            };
            blame(format!("{path} in body should be {than} {}", shown(least)));
        }
    }
    if let Some(most) = bound("maximum") {
        let (bound, excluded) = (
            most.as_f64().unwrap_or_default(),
            excludes("exclusiveMaximum"),
        );
        if data > bound || (excluded && data >= bound) {
            let than = if excluded {
                "less than"
            } else {
                "less than or equal to"
            };
            blame(format!("{path} in body should be {than} {}", shown(most)));
        }
    }
    let is_integer = schema.get("type").is_some_and(|kind| kind == "integer");
    let format = schema.get("format").and_then(Value::as_str);
    let format = format.filter(|format| ["int32", "int64"].contains(format));
    let fits = match value.as_i64() {
        Some(whole) => format != Some("int32") || i32::try_from(whole).is_ok(),
        None => data.fract() == 0.0,
    };
    if is_integer && !fits {
        let of = format.map_or_else(
            || "(default format)".to_owned(),
            |format| format!("with format {format}"),
        );
        let message = format!("Checked value must be of type integer {of} in {path}");
        let bad = Bad::Value("".into());
        problems.push(Problem::new(Kind::Invalid, "<nil>", bad, &message));
    }
}
