//! Check that JSON can be decoded into the Go type of a built-in kind, with the error of Go if it
//! cannot.

use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};
use serde_json::Value;

use super::node::{Arena, Id, Scalar, Shape};
use super::quantity;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// Returns the error of Go for the first value whose type differs from that of its field.
pub(super) fn mismatch(arena: &Arena, id: Id, object: &Value) -> Option<String> {
    find(arena, id, object, "", &mut Vec::new())
}

fn find<'a>(
    arena: &'a Arena,
    id: Id,
    value: &Value,
    owner: &'a str,
    path: &mut Vec<String>,
) -> Option<String> {
    let node = arena.node(id);
    if node.is_quantity() && !value.is_null() {
        return quantity::error(value).map(str::to_owned);
    }
    let found = match value {
        Value::Null => return None,
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    };
    let wanted = match (node.shape(Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) => {
            let owner = if map.name.is_empty() {
                owner
            } else {
                map.name.as_str()
            };
            return fields.iter().find_map(|(name, value)| {
                let below = map.field(name)?;
                let declared = map.fields.contains_key(name);
                if declared {
                    path.push(name.clone());
                }
                let found = find(arena, below, value, owner, path);
                if declared {
                    path.pop();
                }
                found
            });
        }
        (Shape::List(list), Value::Array(items)) => {
            return items
                .iter()
                .find_map(|item| find(arena, list.of, item, owner, path));
        }
        (Shape::Scalar(Scalar::String), Value::String(text)) if node.format == "byte" => {
            return illegal_base64(text);
        }
        (Shape::Scalar(scalar), _) => {
            let (fits, wanted) = match scalar {
                Scalar::Numeric if ["double", "float"].contains(&node.format.as_str()) => {
                    (value.is_number(), "float64")
                }
                Scalar::Numeric => (value.is_i64() || value.is_u64(), node.format.as_str()),
                Scalar::String => (value.is_string(), "string"),
                Scalar::Boolean => (value.is_boolean(), "bool"),
                Scalar::Untyped => (true, ""),
            };
            if fits {
                return None;
            }
            wanted.to_owned()
        }
        (Shape::Map(map), _) if map.name.is_empty() => "map[string]string".to_owned(),
        (Shape::Map(map), _) => format!("v1.{}", map.name),
        (Shape::List(_), _) => "[]string".to_owned(),
        (Shape::Nothing, _) => return None,
    };
    let path = path.join(".");
    Some(format!(
        "json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {wanted}"
    ))
}

/// Returns the error of Go for bytes that are not valid base64.
fn illegal_base64(text: &str) -> Option<String> {
    let at = match bytes(text).err()? {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => at,
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => text.len() / 4 * 4,
    };
    Some(format!("illegal base64 data at input byte {at}"))
}

/// Bytes in base64 as Go writes them again, once it has read them.
pub(super) fn rewritten_base64(text: &str) -> Option<String> {
    Some(BASE64.encode(bytes(text).ok()?))
}

/// As Go reads base64: new lines do not matter, nor where the last byte ends.
fn bytes(text: &str) -> Result<Vec<u8>, DecodeError> {
    let text: String = text.chars().filter(|c| !['\r', '\n'].contains(c)).collect();
    BASE64.decode(text)
}

/// Returns the error of the converter of untyped objects for the first value whose type differs
/// from that of its field.
pub(super) fn unrestorable(arena: &Arena, id: Id, value: &Value) -> Option<String> {
    let node = arena.node(id);
    if node.is_quantity() && !value.is_null() {
        return quantity::error(value).map(str::to_owned);
    }
    let found = match value {
        Value::Null => return None,
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    };
    match (node.shape(Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) => fields
            .iter()
            .find_map(|(name, value)| unrestorable(arena, map.field(name)?, value)),
        (Shape::List(list), Value::Array(items)) => items
            .iter()
            .find_map(|item| unrestorable(arena, list.of, item)),
        (Shape::Map(map), _) if map.name.is_empty() => {
            Some(format!("cannot restore map from {found}"))
        }
        (Shape::Map(_), _) => Some(format!("cannot restore struct from: {found}")),
        (Shape::List(_), _) => Some(format!("cannot restore slice from {found}")),
        (Shape::Scalar(scalar), _) => {
            let (wanted, convertible) = match scalar {
                Scalar::Numeric if ["double", "float"].contains(&node.format.as_str()) => {
                    ("float64", value.is_number())
                }
                Scalar::Numeric => (node.format.as_str(), value.is_number()),
                Scalar::String => ("string", value.is_string() || found == "int64"),
                Scalar::Boolean => ("bool", value.is_boolean()),
                Scalar::Untyped => return None,
            };
            let fits = match scalar {
                Scalar::Numeric if wanted == "float64" => convertible,
                Scalar::Numeric => value.as_f64().is_some_and(|number| number.fract() == 0.0),
                Scalar::String | Scalar::Boolean => convertible && found == wanted,
                Scalar::Untyped => true,
            };
            match (fits, convertible) {
                (true, _) => None,
                (false, true) => Some(format!("cannot convert {found} to {wanted}")),
                (false, false) => Some(format!("unrecognized type: {wanted}")),
            }
        }
        (Shape::Nothing, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Schema;

    #[test]
    fn numbers_with_a_fraction_fit_floats() {
        let kind = "CustomResourceDefinition";
        let definition = Schema::builtin("apiextensions.k8s.io", "v1", kind).unwrap();
        let version = json!({"schema": {"openAPIV3Schema": {"maximum": 2.5, "maxItems": 2}}});
        assert!(
            definition
                .mismatch(&json!({"spec": {"versions": [version]}}))
                .is_none()
        );
    }

    #[test]
    fn what_a_patch_made_is_restored_or_named() {
        let schema = Schema::builtin("", "v1", "Service").unwrap();
        let check = |spec: serde_json::Value, expected: Option<&str>| {
            let found = schema.unrestorable(&json!({ "spec": spec }));
            assert_eq!(found.as_deref(), expected, "{spec}");
        };
        check(json!({"ports": 7}), Some("cannot restore slice from int64"));
        check(
            json!({"selector": "a"}),
            Some("cannot restore map from string"),
        );
        check(json!({"type": 1}), Some("cannot convert int64 to string"));
        check(json!({"type": true}), Some("unrecognized type: string"));
        check(
            json!({"ports": [{"port": "a"}]}),
            Some("unrecognized type: int32"),
        );
        check(
            json!({"ports": [{"port": 1.5}]}),
            Some("cannot convert float64 to int32"),
        );
        check(json!({"ports": [{"port": 80, "targetPort": "http"}]}), None);
    }

    #[test]
    fn a_value_of_another_type_is_named_as_go_names_it() {
        let schema = Schema::builtin("apps", "v1", "Deployment").unwrap();
        let found = schema.mismatch(&json!({"spec": {"replicas": "x"}}));
        let expected = "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32";
        assert_eq!(found.as_deref(), Some(expected));
        assert!(
            schema
                .mismatch(&json!({"spec": {"replicas": 1, "template": null}}))
                .is_none()
        );
        let schema = Schema::builtin("", "v1", "ConfigMap").unwrap();
        let found = schema.mismatch(&json!({"data": {"a": 1}}));
        let expected =
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string";
        assert_eq!(found.as_deref(), Some(expected));
    }
}
