//! OpenAPI version 2: the definitions of all served kinds, as JSON and in binary form. `kubectl`
//! requests the binary form for a kind that it does not find in version 3. The document names no
//! paths, because no client looks for them in this version.

use serde_json::{Map, Value, json};

use super::discovery::VERSION;
use super::kinds::Kinds;
use super::openapi::{self, COMPONENTS};
use super::{Content, Reply};

/// Media type that clients request, and its name in answers.
const BINARY: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

/// Words of version 3 that version 2 does not have.
const NEWER: [&str; 4] = ["nullable", "oneOf", "anyOf", "not"];

/// Returns the document in the requested form.
pub(crate) fn reply(accept: &str, kinds: &Kinds) -> Reply {
    let binary = BINARY.iter().any(|form| accept.contains(form));
    let definitions = definitions(kinds);
    let (form, body) = if binary {
        (BINARY[1], document(&definitions))
    } else {
        let info = json!({ "title": "Kubernetes", "version": VERSION });
        let whole =
            json!({ "swagger": "2.0", "info": info, "paths": {}, "definitions": definitions });
        ("application/json", whole.to_string().into_bytes())
    };
    Reply {
        status: 200,
        headers: vec![("content-type", form.to_owned())],
        content: Content::Whole(body.into()),
    }
}

fn definitions(kinds: &Kinds) -> Map<String, Value> {
    let mut schemas = openapi::schemas(kinds);
    schemas.values_mut().for_each(as_version_2);
    schemas
}

/// References stand beside descriptions and lead elsewhere.
fn as_version_2(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if is_schema(fields) {
                fields.retain(|name, _| !NEWER.contains(&name.as_str()));
            }
            let only = fields.get("allOf").and_then(Value::as_array);
            let only = only.filter(|all| all.len() == 1).map(|all| all[0].clone());
            if let Some(Value::Object(only)) = only {
                fields.remove("allOf");
                fields.extend(only);
            }
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace(COMPONENTS, "#/definitions/");
            }
            fields.values_mut().for_each(as_version_2);
        }
        Value::Array(items) => items.iter_mut().for_each(as_version_2),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fields of a kind may be called as words of schemas are; then they are objects, where those words are none.
fn is_schema(fields: &Map<String, Value>) -> bool {
    [
        "type",
        "$ref",
        "allOf",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    ]
    .into_iter()
    .any(|word| fields.get(word).is_some_and(|value| !value.is_object()))
}

fn document(definitions: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    text(1, "2.0", &mut out);
    let mut info = Vec::new();
    text(1, "Kubernetes", &mut info);
    text(2, VERSION, &mut info);
    bytes(2, &info, &mut out);
    bytes(8, &[], &mut out);
    bytes(9, &named(definitions), &mut out);
    out
}

/// Encodes schemas with their names, as the first field of their container.
fn named(schemas: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in schemas {
        let mut one = Vec::new();
        text(1, name, &mut one);
        bytes(2, &schema(value), &mut one);
        bytes(1, &one, &mut out);
    }
    out
}

/// The numbers are those of the published message `openapi.v2.Schema`.
fn schema(schema: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, word) in [
        (1, "$ref"),
        (2, "format"),
        (4, "description"),
        (13, "pattern"),
    ] {
        if let Some(found) = schema[word].as_str() {
            text(number, found, &mut out);
        }
    }
    for found in schema["required"].as_array().into_iter().flatten() {
        text(19, found.as_str().unwrap_or_default(), &mut out);
    }
    for found in schema["enum"].as_array().into_iter().flatten() {
        bytes(20, &any(found), &mut out);
    }
    let mut item = Vec::new();
    match &schema["additionalProperties"] {
        Value::Object(_) => bytes(1, &self::schema(&schema["additionalProperties"]), &mut item),
        Value::Bool(allowed) => write_number(2, u64::from(*allowed), &mut item),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {}
    }
    if !item.is_empty() {
        bytes(21, &item, &mut out);
    }
    if let Some(found) = schema["type"].as_str() {
        let mut kind = Vec::new();
        text(1, found, &mut kind);
        bytes(22, &kind, &mut out);
    }
    if schema["items"].is_object() {
        let mut items = Vec::new();
        bytes(1, &self::schema(&schema["items"]), &mut items);
        bytes(23, &items, &mut out);
    }
    if let Some(properties) = schema["properties"].as_object() {
        bytes(25, &named(properties), &mut out);
    }
    let extensions = schema.as_object().into_iter().flatten();
    for (name, value) in extensions.filter(|(name, _)| name.starts_with("x-")) {
        let mut extension = Vec::new();
        text(1, name, &mut extension);
        bytes(2, &any(value), &mut extension);
        bytes(31, &extension, &mut out);
    }
    out
}

/// Encodes any value as YAML, a superset of JSON.
fn any(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    text(2, &value.to_string(), &mut out);
    out
}

fn text(field: u64, text: &str, out: &mut Vec<u8>) {
    bytes(field, text.as_bytes(), out);
}

fn bytes(field: u64, bytes: &[u8], out: &mut Vec<u8>) {
    varint(field << 3 | 2, out);
    varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn write_number(field: u64, value: u64, out: &mut Vec<u8>) {
    varint(field << 3, out);
    varint(value, out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    fn body(accept: &str) -> Vec<u8> {
        match reply(accept, &builtin::kinds()).content {
            Content::Whole(bytes) => bytes.to_vec(),
            Content::Watch(_) => panic!("no watch"),
        }
    }

    #[test]
    fn definitions_refer_to_each_other_beside_their_descriptions() {
        let document: Value = serde_json::from_slice(&body("")).unwrap();
        let definitions = document["definitions"].as_object().unwrap();
        let service = &definitions["io.k8s.api.core.v1.Service"]["properties"];
        let reference = service["spec"]["$ref"].as_str().unwrap();
        assert!(definitions.contains_key(reference.strip_prefix("#/definitions/").unwrap()));
        assert!(!document.to_string().contains(COMPONENTS));
    }

    #[test]
    fn numbers_are_written_as_they_are_on_the_wire() {
        let mut out = Vec::new();
        write_number(2, 300, &mut out);
        assert_eq!(out, [0x10, 0xac, 0x02]);
    }

    #[test]
    fn those_who_ask_for_the_binary_form_get_it() {
        let found = body("application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
        assert_eq!(found[..5], [0x0a, 3, b'2', b'.', b'0']);
        let name = b"io.k8s.api.core.v1.Service";
        assert!(found.windows(name.len()).any(|part| part == name));
    }
}
