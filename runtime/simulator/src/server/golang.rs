//! Go's format of values and names of types in messages. Independent of their meaning.

use serde_json::Value;

/// Go's type of a JSON object.
pub(crate) const OBJECT: &str = "map[string]interface {}";

/// Returns the error of its JSON package for a value of another type than wanted.
pub(crate) fn unmarshal(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {found} into Go value of type {wanted}")
}

/// A value as `%+v` shows it.
pub(crate) fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(format_value).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields = fields
                .iter()
                .map(|(key, value)| format!("{key}:{}", format_value(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_shown_in_the_order_of_their_keys() {
        let value = json!({"b": [1, "x", null], "a": {"c": true}});
        assert_eq!(format_value(&value), "map[a:map[c:true] b:[1 x <nil>]]");
    }

    #[test]
    fn values_of_another_type_are_named() {
        let expected = "json: cannot unmarshal array into Go value of type map[string]interface {}";
        assert_eq!(unmarshal(&json!([1]), OBJECT), expected);
    }
}
