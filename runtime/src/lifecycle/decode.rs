//! Decoding of values: an error names the field that does not fit.

use serde::de::{DeserializeOwned, Error};
use serde_json::Value;

/// Upper bound on the characters of an error: it holds values of the object.
const LONGEST: usize = 200;
/// Number of characters kept from the end of a longer text, which names the expected value.
const END: usize = 60;
const CUT: &str = " .. ";

/// Decodes a value.
///
/// # Errors
/// The path of the first field that does not fit, as in `spec.ports[0].port`, and why it does not; at most 200 characters.
pub(crate) fn decode<K: DeserializeOwned>(value: &Value) -> Result<K, serde_json::Error> {
    K::deserialize(value).map_err(|why| located::<K>(value, &why))
}

/// An error with the path at which it occurs. Only a value that does not fit is decoded a second time.
pub(crate) fn located<K: DeserializeOwned>(
    value: &Value,
    why: &serde_json::Error,
) -> serde_json::Error {
    let found = serde_path_to_error::deserialize::<_, K>(value).err();
    let found = found.filter(|error| error.path().iter().next().is_some());
    let message = match found {
        Some(error) => format!("{}: {}", error.path(), error.inner()),
        None => why.to_string(),
    };
    serde_json::Error::custom(shortened(&message))
}

/// A long message without its middle.
fn shortened(message: &str) -> String {
    let count = message.chars().count();
    if count <= LONGEST {
        return message.to_owned();
    }
    let begin = message.chars().take(LONGEST - END - CUT.len());
    let end = message.chars().skip(count - END);
    begin.chain(CUT.chars()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Service;
    use serde_json::json;

    use super::*;

    fn decode_error(object: &Value) -> String {
        let decoded = decode::<Service>(object);
        decoded.expect_err("it does not fit").to_string()
    }

    #[test]
    fn an_error_names_the_field_that_does_not_fit() {
        let check =
            |object: Value, expected: &str| assert_eq!(decode_error(&object), expected, "{object}");
        check(
            json!({ "metadata": {}, "spec": { "ports": [{ "port": 80 }, { "port": "x" }] } }),
            r#"spec.ports[1].port: invalid type: string "x", expected i32"#,
        );
        check(
            json!({ "metadata": { "labels": { "app": 7 } } }),
            "metadata.labels.app: invalid type: integer `7`, expected a string",
        );
        check(json!([]), "invalid type: sequence, expected Service");
    }

    #[test]
    fn a_long_error_keeps_the_field_and_what_was_expected() {
        let text = "\u{e4}".repeat(1000);
        let object = json!({ "metadata": {}, "spec": { "ports": [{ "port": text }] } });
        let why = decode_error(&object);
        assert_eq!(why.chars().count(), LONGEST);
        assert!(
            why.starts_with(r#"spec.ports[0].port: invalid type: string "ä"#),
            "{why}"
        );
        assert!(why.ends_with(r#"ä", expected i32"#), "{why}");
        let exact = "x".repeat(LONGEST);
        assert_eq!(shortened(&exact), exact);
    }
}
