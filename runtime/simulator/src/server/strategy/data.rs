//! Validation of ConfigMaps and Secrets: their keys, their size, and the keys that a type needs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::server::failure::Cause;
use crate::server::object::text;

/// The most bytes that all values of one object may have.
const MOST: usize = 1024 * 1024;

const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// Returns the errors of a ConfigMap.
pub(crate) fn config_map(object: &Value) -> Vec<Cause> {
    let mut causes = of_keys(object);
    let plain = texts(object, "data").map(str::len).sum::<usize>();
    let binary = texts(object, "binaryData").map(decoded).sum::<usize>();
    if plain + binary > MOST {
        // The path is empty, and the real server prints it in brackets.
        causes.push(Cause::too_long("[]", MOST));
    }
    causes
}

/// Returns the errors of a Secret.
pub(crate) fn secret(object: &Value) -> Vec<Cause> {
    let mut causes = of_keys(object);
    if texts(object, "data").map(decoded).sum::<usize>() > MOST {
        causes.push(Cause::too_long("data", MOST));
    }
    let data = &object["data"];
    let has = |key: &str| data.get(key).is_some();
    let missing = |key: &str| Cause::required(format!("data[{key}]"), "");
    match text(object, "type") {
        "kubernetes.io/service-account-token"
            if text(&object["metadata"]["annotations"], ACCOUNT).is_empty() =>
        {
            let path = format!("metadata.annotations[{ACCOUNT}]");
            causes.push(Cause::required(path, ""));
        }
        "kubernetes.io/dockercfg" => causes.extend(of_json(data, ".dockercfg")),
        "kubernetes.io/dockerconfigjson" => causes.extend(of_json(data, ".dockerconfigjson")),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            causes.extend(["username", "password"].map(missing));
        }
        "kubernetes.io/ssh-auth" if text(data, "ssh-privatekey").is_empty() => {
            causes.push(missing("ssh-privatekey"));
        }
        "kubernetes.io/tls" => {
            let absent = ["tls.crt", "tls.key"].into_iter().filter(|key| !has(key));
            causes.extend(absent.map(missing));
        }
        _ => {}
    }
    causes
}

fn texts<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    let values = object[field].as_object().into_iter().flatten();
    values.filter_map(|(_, value)| value.as_str())
}

/// Returns the number of bytes that a text in base64 stands for.
fn decoded(text: &str) -> usize {
    let digits = text.bytes().filter(|byte| !b"=\r\n".contains(byte)).count();
    digits * 3 / 4
}

fn of_json(data: &Value, key: &str) -> Option<Cause> {
    let path = format!("data[{key}]");
    let Some(value) = data.get(key) else {
        return Some(Cause::required(path, ""));
    };
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).ok()?;
    let error = match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(_) | Value::Null) => return None,
        Ok(_) => "json: cannot unmarshal into Go value of type map[string]interface {}".to_owned(),
        Err(_) if bytes.is_empty() => "unexpected end of JSON input".to_owned(),
        Err(error) => error.to_string(),
    };
    let hidden = "<secret contents redacted>".into();
    Some(Cause::invalid(path, &hidden, &error))
}

/// Keys of data are names of files, and each is in one map only.
fn of_keys(object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    for field in ["data", "binaryData"] {
        for name in object[field]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
        {
            let path = format!("{field}[{name}]");
            if name.is_empty() || !name.chars().all(fits) {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                    'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                causes.push(Cause::invalid(path, &name.as_str().into(), detail));
            } else if name == "." || name.starts_with("..") {
                let detail = match name.as_str() {
                    "." => "must not be '.'",
                    ".." => "must not be '..'",
                    _ => "must not start with '..'",
                };
                causes.push(Cause::invalid(path, &name.as_str().into(), detail));
            } else if field == "data" && object["binaryData"].get(name).is_some() {
                let detail = "duplicate of key present in binaryData";
                causes.push(Cause::invalid(path, &name.as_str().into(), detail));
            }
        }
    }
    causes
}
