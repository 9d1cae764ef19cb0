//! Label selectors as objects carry them: their errors, and the labels that they match.

use serde_json::{Map, Value};

use super::failure::Cause;
use super::names;
use super::object::{list, text};

/// Returns the errors of a selector. An absent one has none.
pub(crate) fn validate(selector: &Value, at: &str) -> Vec<Cause> {
    let mut causes = of_labels(&selector["matchLabels"], &format!("{at}.matchLabels"));
    for (index, one) in list(selector, "matchExpressions").iter().enumerate() {
        let at = format!("{at}.matchExpressions[{index}]");
        let values = list(one, "values");
        match text(one, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(format!("{at}.values"), detail));
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(format!("{at}.values"), detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let path = format!("{at}.operator");
                let detail = "not a valid selector operator";
                causes.push(Cause::invalid(path, &other.into(), detail));
            }
        }
        let key = text(one, "key");
        let (path, wrong) = (format!("{at}.key"), names::label_key(key));
        causes.extend(Cause::all_invalid(path, &key.into(), wrong));
        for (index, value) in values.iter().enumerate() {
            let wrong = names::label_value(value.as_str().unwrap_or_default());
            causes.extend(Cause::all_invalid(
                format!("{at}.values[{index}]"),
                value,
                wrong,
            ));
        }
    }
    causes
}

/// Returns the errors of a map of labels.
pub(crate) fn of_labels(labels: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in labels.as_object().into_iter().flatten() {
        let wrong = names::label_key(key);
        causes.extend(Cause::all_invalid(at, &key.as_str().into(), wrong));
        let wrong = names::label_value(value.as_str().unwrap_or_default());
        causes.extend(Cause::all_invalid(at, value, wrong));
    }
    causes
}

/// Returns true if a selector sets no condition.
pub(crate) fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"]
        .as_object()
        .is_none_or(Map::is_empty)
        && list(selector, "matchExpressions").is_empty()
}

/// Returns true if a selector matches a map of labels. An absent selector matches nothing.
pub(crate) fn matches(selector: &Value, labels: &Value) -> bool {
    if selector.is_null() {
        return false;
    }
    let wanted = selector["matchLabels"].as_object();
    let mut wanted = wanted.into_iter().flatten();
    let mut all = list(selector, "matchExpressions").iter();
    wanted.all(|(key, value)| labels.get(key) == Some(value)) && all.all(|one| fits(one, labels))
}

/// Returns the text of a selector, with its conditions in order of their keys. The selector of a
/// ReplicationController is a map of labels.
pub(crate) fn shown(selector: &Value) -> String {
    let is_map = |(_, value): (&String, &Value)| value.is_string();
    let fields = selector.as_object();
    let is_plain = fields.is_some_and(|fields| !fields.is_empty() && fields.iter().all(is_map));
    let labels = if is_plain {
        fields
    } else {
        selector["matchLabels"].as_object()
    };
    let labels = labels.into_iter().flatten();
    let mut parts: Vec<(String, String)> = labels
        .map(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            (key.clone(), format!("{key}={value}"))
        })
        .collect();
    for one in list(selector, "matchExpressions") {
        let key = text(one, "key");
        let mut values: Vec<&str> = list(one, "values")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let values = values.join(",");
        parts.push((
            key.to_owned(),
            match text(one, "operator") {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "DoesNotExist" => format!("!{key}"),
                _ => key.to_owned(),
            },
        ));
    }
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(",")
}

fn fits(one: &Value, labels: &Value) -> bool {
    let found = labels.get(text(one, "key"));
    let among = || found.is_some_and(|found| list(one, "values").contains(found));
    match text(one, "operator") {
        "In" => among(),
        "NotIn" => !among(),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        // Such a selector is refused for its operator.
        _ => true,
    }
}
