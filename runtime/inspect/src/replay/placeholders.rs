//! Placeholders in a trace file for the content of Secrets. Equal values have equal placeholders in
//! one process. A placeholder does not reveal the original value.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Annotation with a copy of an applied object, including the full content of Secrets.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Placeholder for a copy.
const LEFT_OUT: &str = "left out";
/// A shorter value is a word that any sentence may have.
const SHORTEST: usize = 4;

/// Values that were seen, as keyed numbers: nothing of them is kept.
#[derive(Default)]
pub(crate) struct Placeholders {
    keys: [RandomState; 2],
    numbers: BTreeMap<[u64; 2], usize>,
}

impl Placeholders {
    /// An object, as it may be written.
    pub(crate) fn without_secrets(&mut self, object: &Value) -> Value {
        let mut object = object.clone();
        let annotations = object.pointer_mut("/metadata/annotations");
        if let Some(copy) = annotations.and_then(|all| all.get_mut(LAST_APPLIED)) {
            *copy = LEFT_OUT.into();
        }
        if !is_secret(&object) {
            return object;
        }
        for (field, is_encoded) in [("data", true), ("stringData", false)] {
            match object.get_mut(field) {
                Some(Value::Object(values)) => values.values_mut().for_each(|value| {
                    let said = value.as_str().unwrap_or_default();
                    *value = self.replaced(said, is_encoded).into();
                }),
                // No API server lets that through.
                Some(odd) => *odd = LEFT_OUT.into(),
                None => {}
            }
        }
        object
    }

    /// Returns the values in a Secret, each as text and in its encoded form, with their
    /// placeholders.
    pub(crate) fn in_secret(&mut self, object: &Value) -> Vec<(String, String)> {
        let mut all = Vec::new();
        if !is_secret(object) {
            return all;
        }
        for value in object["data"].as_object().into_iter().flatten() {
            let encoded = value.1.as_str().unwrap_or_default();
            all.push((encoded.to_owned(), self.replaced(encoded, true)));
            if let Some(plain) = plain(encoded) {
                let instead = self.placeholder_for(plain.as_bytes());
                all.push((plain.trim().to_owned(), instead.clone()));
                all.extend(
                    plain
                        .lines()
                        .map(|line| (line.trim().to_owned(), instead.clone())),
                );
            }
        }
        all.retain(|(value, _)| value.len() >= SHORTEST);
        all
    }

    fn replaced(&mut self, said: &str, is_encoded: bool) -> String {
        let decoded = is_encoded.then(|| STANDARD.decode(said).ok()).flatten();
        match decoded {
            Some(bytes) => STANDARD.encode(self.placeholder_for(&bytes)),
            None => self.placeholder_for(said.as_bytes()),
        }
    }

    /// As long as the value, or up to twice as long; of nothing nothing.
    fn placeholder_for(&mut self, value: &[u8]) -> String {
        if value.is_empty() {
            return String::new();
        }
        let key = self.keys.each_ref().map(|key| key.hash_one(value));
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(key).or_insert(next);
        let length = value.len().max(16).next_power_of_two();
        format!("{:.<length$}", format!("left-out-{number}"))
    }
}

/// A text without these values.
pub(crate) fn without(mut text: String, values: &[(String, String)]) -> String {
    for (value, instead) in values {
        if text.contains(value.as_str()) {
            text = text.replace(value.as_str(), instead);
        }
    }
    text
}

/// Returns true if an object is a Secret by its own `kind` and `apiVersion`.
pub(crate) fn is_secret(object: &Value) -> bool {
    object["kind"] == "Secret" && object["apiVersion"] == "v1"
}

fn plain(encoded: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secret(data: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": "s", "annotations": { LAST_APPLIED: "hunter2", "note": "kept" } },
            "data": data,
        })
    }

    #[test]
    fn equal_values_have_equal_placeholders_and_keys_stay() {
        let mut all = Placeholders::default();
        let (one, other) = (STANDARD.encode("hunter2"), STANDARD.encode("hunter3"));
        let shown = all.without_secrets(&secret(&json!({ "a": one, "b": one, "c": other })));
        assert_eq!(shown["data"]["a"], shown["data"]["b"]);
        assert_ne!(shown["data"]["a"], shown["data"]["c"]);
        assert_eq!(shown["metadata"]["annotations"]["note"], "kept");
        let text = shown.to_string();
        for hidden in ["hunter2", one.as_str(), other.as_str()] {
            assert!(!text.contains(hidden), "{text}");
        }
        let decoded = STANDARD
            .decode(shown["data"]["a"].as_str().unwrap())
            .unwrap();
        assert_eq!(String::from_utf8(decoded).unwrap(), "left-out-1......");
        let again = all.without_secrets(&secret(&json!({ "d": other })));
        assert_eq!(again["data"]["d"], shown["data"]["c"]);
    }

    #[test]
    fn what_is_no_secret_stays_but_for_the_copy_of_what_was_applied() {
        let mut map = secret(&json!({ "a": "hunter2" }));
        map["kind"] = json!("ConfigMap");
        let shown = Placeholders::default().without_secrets(&map);
        assert_eq!(shown["data"]["a"], "hunter2");
        assert_eq!(shown["metadata"]["annotations"][LAST_APPLIED], LEFT_OUT);
    }

    #[test]
    fn whatever_stands_in_a_secret_is_left_out() {
        for data in [
            json!("hunter2"),
            json!(["hunter2"]),
            json!({ "a": ["hunter2"] }),
        ] {
            let shown = Placeholders::default().without_secrets(&secret(&data));
            assert!(!shown.to_string().contains("hunter2"), "{shown}");
        }
    }

    #[test]
    fn a_sentence_that_repeats_a_secret_is_told_without_it() {
        let mut all = Placeholders::default();
        let values = all.in_secret(&secret(
            &json!({ "a": STANDARD.encode("hunter2\n"), "b": STANDARD.encode("ab") }),
        ));
        let said = without("`hunter2` is no cable".to_owned(), &values);
        assert_eq!(said, "`left-out-1......` is no cable");
    }
}
