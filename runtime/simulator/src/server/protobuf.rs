//! Reads objects as JSON from the binary form of typed Go clients (`kubectl create`, `kubectl auth
//! can-i`). The adjacent table gives the number of each field of the built-in kinds, as the
//! published Go types of Kubernetes 1.36 tag them. It has one message a line, with fields as
//! `number:name:code`. In a code, `^` marks a message whose fields are in its parent. `?` marks a
//! field that is written even if empty, `[` a list and `{` a map. A scalar, a special form (`@`) or
//! a message follows.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The media type.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";

/// Message type that describes the schemas of custom kinds.
const SCHEMA: &str = "apiextensions.JSONSchemaProps";

/// First bytes of every such body.
const MAGIC: &[u8] = b"k8s\0";
/// Go's zero time, which means none.
const NO_TIME: i64 = -62_135_596_800;

type Messages = BTreeMap<&'static str, BTreeMap<u64, Field>>;

static MESSAGES: LazyLock<Messages> = LazyLock::new(|| {
    let lines = include_str!("protobuf.txt").lines();
    lines
        .filter_map(|line| {
            let (name, fields) = line.split_once(' ')?;
            Some((name, fields.split(' ').filter_map(Field::parse).collect()))
        })
        .collect()
});

/// How one field is read.
#[derive(Debug)]
struct Field {
    name: &'static str,
    inline: bool,
    /// Written though it be empty.
    kept: bool,
    code: &'static str,
}

impl Field {
    fn parse(text: &'static str) -> Option<(u64, Self)> {
        let mut parts = text.splitn(3, ':');
        let number = parts.next()?.parse().ok()?;
        let (name, code) = (parts.next()?, parts.next()?);
        let (inline, code) = code
            .strip_prefix('^')
            .map_or((false, code), |code| (true, code));
        let (kept, code) = code
            .strip_prefix('?')
            .map_or((false, code), |code| (true, code));
        Some((
            number,
            Self {
                name,
                inline,
                kept,
                code,
            },
        ))
    }
}

/// The JSON of a body in this form; nothing if it cannot be read.
pub(crate) fn decode(body: &[u8]) -> Option<Value> {
    let envelope = parts(body.strip_prefix(MAGIC)?)?;
    let type_meta = parts(bytes(&envelope, 1)?)?;
    let (api_version, kind) = (text(&type_meta, 1), text(&type_meta, 2));
    let raw = bytes(&envelope, 2).unwrap_or_default();
    let (group, _) = api_version.rsplit_once('/').unwrap_or(("core", ""));
    let group = match (kind.as_str(), group.split('.').next()) {
        ("DeleteOptions", _) => "meta",
        (_, group) => group.unwrap_or_default(),
    };
    let mut object = message(&format!("{group}.{kind}"), raw)?;
    object.insert("apiVersion".to_owned(), api_version.into());
    object.insert("kind".to_owned(), kind.into());
    Some(Value::Object(object))
}

/// A field as it is on the wire.
#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Takes a message apart, in the order of its fields.
fn parts(mut body: &[u8]) -> Option<Vec<(u64, Part<'_>)>> {
    let mut found = Vec::new();
    while !body.is_empty() {
        let key = varint(&mut body)?;
        let part = match key & 7 {
            0 => Part::Number(varint(&mut body)?),
            1 => Part::Number(u64::from_le_bytes(take(&mut body, 8)?.try_into().ok()?)),
            2 => {
                let length = usize::try_from(varint(&mut body)?).ok()?;
                Part::Bytes(take(&mut body, length)?)
            }
            5 => Part::Number(u32::from_le_bytes(take(&mut body, 4)?.try_into().ok()?).into()),
            _ => return None,
        };
        found.push((key >> 3, part));
    }
    Some(found)
}

fn take<'a>(body: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some(taken)
}

fn varint(body: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(body, 1)?[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn bytes<'a>(parts: &[(u64, Part<'a>)], number: u64) -> Option<&'a [u8]> {
    parts.iter().rev().find_map(|(key, part)| match part {
        Part::Bytes(bytes) if *key == number => Some(*bytes),
        Part::Bytes(_) | Part::Number(_) => None,
    })
}

fn find_number(parts: &[(u64, Part<'_>)], wanted: u64) -> Option<i64> {
    parts.iter().rev().find_map(|(key, part)| match part {
        Part::Number(number) if *key == wanted => Some(number.cast_signed()),
        Part::Bytes(_) | Part::Number(_) => None,
    })
}

fn text(parts: &[(u64, Part<'_>)], number: u64) -> String {
    String::from_utf8_lossy(bytes(parts, number).unwrap_or_default()).into_owned()
}

fn message(name: &str, body: &[u8]) -> Option<Map<String, Value>> {
    let fields = MESSAGES.get(name)?;
    let mut object = Map::new();
    for (number, part) in parts(body)? {
        // A newer client may know more.
        let Some(field) = fields.get(&number) else {
            continue;
        };
        if field.inline {
            if let Part::Bytes(body) = part {
                object.extend(message(field.code, body)?);
            }
        } else if let Some(code) = field.code.strip_prefix('[') {
            let list = object.entry(field.name).or_insert_with(|| json!([]));
            list.as_array_mut()?.push(value(code, part)?);
        } else if let Some(code) = field.code.strip_prefix('{') {
            let Part::Bytes(entry) = part else {
                return None;
            };
            let entry = parts(entry)?;
            let read = entry
                .iter()
                .find(|(key, _)| *key == 2)
                .map(|(_, part)| value(code, *part));
            let read = read.unwrap_or_else(|| Some(empty(code)))?;
            object.entry(field.name).or_insert_with(|| json!({}))[text(&entry, 1)] = read;
        } else {
            let read = value(field.code, part)?;
            if !read.is_null() && (field.kept || !is_empty(&read)) {
                object.insert(field.name.to_owned(), read);
            }
        }
    }
    Some(object)
}

fn empty(code: &str) -> Value {
    match code {
        "i" | "d" => json!(0),
        "b" => json!(false),
        _ => json!(""),
    }
}

/// Returns true if Go omits an optional field with this value: an empty scalar.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(truth) => !truth,
        Value::Null => true,
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn value(code: &str, part: Part<'_>) -> Option<Value> {
    match (code, part) {
        ("i", Part::Number(number)) => Some(number.cast_signed().into()),
        ("b", Part::Number(number)) => Some((number != 0).into()),
        ("d", Part::Number(number)) => Some(decimal(f64::from_bits(number))),
        ("s", Part::Bytes(bytes)) => Some(std::str::from_utf8(bytes).ok()?.into()),
        ("y", Part::Bytes(bytes)) => Some(STANDARD.encode(bytes).into()),
        (_, Part::Bytes(body)) if code.starts_with('@') => form(code, body),
        (name, Part::Bytes(body)) => message(name, body).map(Value::Object),
        (_, Part::Number(_)) => None,
    }
}

/// Decodes a value that has its own form in JSON.
fn form(code: &str, body: &[u8]) -> Option<Value> {
    let parts = parts(body)?;
    Some(match code {
        "@time" => time(&parts, "%Y-%m-%dT%H:%M:%SZ"),
        "@micro" => time(&parts, "%Y-%m-%dT%H:%M:%S.%6fZ"),
        "@duration" => format!("{}ns", find_number(&parts, 1).unwrap_or_default()).into(),
        "@raw" => serde_json::from_slice(bytes(&parts, 1)?).ok()?,
        "@quantity" => text(&parts, 1).into(),
        "@intstr" if find_number(&parts, 1).unwrap_or_default() == 1 => text(&parts, 3).into(),
        "@intstr" => find_number(&parts, 2).unwrap_or_default().into(),
        "@items" => {
            let items = parts.iter().filter_map(|(_, part)| value("s", *part));
            items.collect::<Vec<_>>().into()
        }
        // In the structure of custom kinds, the value is one or several, a schema or a flag that
        // allows anything, a schema or names.
        "@schemas" if bytes(&parts, 2).is_some() => many(&parts, SCHEMA)?,
        "@allows" if bytes(&parts, 2).is_none() => {
            find_number(&parts, 1).is_some_and(|n| n != 0).into()
        }
        "@allows" => value(SCHEMA, Part::Bytes(bytes(&parts, 2)?))?,
        "@either" if bytes(&parts, 1).is_none() => many(&parts, "s")?,
        "@schemas" | "@either" => value(SCHEMA, Part::Bytes(bytes(&parts, 1)?))?,
        _ => return None,
    })
}

/// All that the second field holds.
fn many(parts: &[(u64, Part<'_>)], code: &str) -> Option<Value> {
    let second = parts.iter().filter(|(number, _)| *number == 2);
    second.map(|(_, part)| value(code, *part)).collect()
}

/// Returns a number as Go writes it, without a fraction if it is whole.
fn decimal(number: f64) -> Value {
    let text = number.to_string();
    text.parse::<i64>()
        .map_or_else(|_| number.into(), Value::from)
}

/// Null for no time.
fn time(parts: &[(u64, Part<'_>)], format: &str) -> Value {
    let seconds = find_number(parts, 1).filter(|seconds| *seconds != NO_TIME);
    let nanoseconds = find_number(parts, 2).and_then(|nanoseconds| i32::try_from(nanoseconds).ok());
    let time =
        seconds.and_then(|seconds| Timestamp::new(seconds, nanoseconds.unwrap_or_default()).ok());
    time.map_or(Value::Null, |time| time.strftime(format).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, body: &[u8]) -> Vec<u8> {
        let length = u8::try_from(body.len()).unwrap();
        let tag = u16::from(number) << 3 | 2;
        let (low, high) = (
            u8::try_from(tag & 0x7f).unwrap(),
            u8::try_from(tag >> 7).unwrap(),
        );
        match high {
            0 => [&[low, length][..], body].concat(),
            _ => [&[low | 0x80, high, length][..], body].concat(),
        }
    }

    fn body(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &type_meta), field(2, raw)].concat()
    }

    #[test]
    fn every_code_of_the_table_is_one_that_can_be_read() {
        let forms = [
            "@time",
            "@micro",
            "@duration",
            "@raw",
            "@quantity",
            "@intstr",
            "@items",
            "@schemas",
            "@allows",
            "@either",
        ];
        assert!(MESSAGES.len() > 300);
        for (name, fields) in MESSAGES.iter() {
            for field in fields.values() {
                let code = field.code.trim_start_matches(['[', '{']);
                let known = matches!(code, "i" | "b" | "d" | "s" | "y")
                    || forms.contains(&code)
                    || MESSAGES.contains_key(code);
                assert!(known, "{name}: {field:?}");
                assert!(field.inline || !field.name.is_empty(), "{name}: {field:?}");
            }
        }
    }

    #[test]
    fn maps_and_bytes_become_json() {
        let metadata = [field(1, b"a"), field(2, b""), field(8, b"")].concat();
        let data = |key: &[u8], value: &[u8]| field(2, &[field(1, key), field(2, value)].concat());
        let raw = [field(1, &metadata), data(b"one", b"1"), data(b"two", b"2")].concat();
        let expected = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a" }, "data": { "one": "1", "two": "2" } });
        assert_eq!(decode(&body("v1", "ConfigMap", &raw)), Some(expected));
        let secret = decode(&body("v1", "Secret", &data(b"k", b"v"))).unwrap();
        assert_eq!(secret["data"]["k"], "dg==");
    }

    #[test]
    fn what_is_wanted_explicitly_stays_though_it_be_zero() {
        let spec = [1 << 3, 0, 5 << 3, 0];
        let deployment = decode(&body("apps/v1", "Deployment", &field(2, &spec))).unwrap();
        assert_eq!(deployment["spec"], json!({ "replicas": 0 }));
    }

    #[test]
    fn fields_of_inline_messages_and_forms_of_their_own_are_found() {
        let target = [1 << 3, 0, 2 << 3, 80];
        let http = field(2, &target);
        let probe = field(1, &field(2, &http));
        let read = message("core.Probe", &probe).unwrap();
        assert_eq!(Value::from(read), json!({ "httpGet": { "port": 80 } }));
    }

    #[test]
    fn schemas_of_custom_kinds_have_forms_of_their_own() {
        let text = field(5, b"string");
        let one = field(24, &field(1, &text));
        let several = field(24, &[field(2, &text), field(2, &text)].concat());
        let anything = [field(30, &[1 << 3, 1]), field(33, &[1 << 3, 0])].concat();
        let whole = field(30, &[&[1 << 3, 1][..], &field(2, &text)].concat());
        let names = field(32, &[field(1, b"a"), field(2, &field(2, b"b"))].concat());
        let default = field(8, &field(1, b"{\"a\":[1]}"));
        let limit = [&[9 << 3 | 1][..], &7.0_f64.to_le_bytes()].concat();
        for (raw, expected) in [
            (one, json!({ "items": { "type": "string" } })),
            (
                several,
                json!({ "items": [{ "type": "string" }, { "type": "string" }] }),
            ),
            (
                anything,
                json!({ "additionalProperties": true, "additionalItems": false }),
            ),
            (
                whole,
                json!({ "additionalProperties": { "type": "string" } }),
            ),
            (names, json!({ "dependencies": { "a": ["b"] } })),
            (default, json!({ "default": { "a": [1] } })),
            (limit, json!({ "maximum": 7 })),
        ] {
            assert_eq!(message(SCHEMA, &raw).map(Value::from), Some(expected));
        }
    }

    #[test]
    fn damage_is_refused() {
        assert_eq!(decode(b"{}"), None);
        assert_eq!(decode(&body("v1", "Nothing", b"")), None);
        let whole = body("v1", "ConfigMap", &field(1, &field(1, b"a")));
        for end in 0..whole.len() - 1 {
            assert_eq!(
                decode(&whole[..end]).filter(|object| object["metadata"]["name"] == "a"),
                None
            );
        }
    }
}
