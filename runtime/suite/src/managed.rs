//! Fields of an object that a manager owns, by an entry of its managed fields. Returns their
//! values, checks that they are unchanged, and writes them or changes their owner. This module
//! knows no schema and no lifecycle.

use serde_json::{Map, Value, json};

/// One step from an object to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field, or the key of a map.
    Field(String),
    /// An element of a list, by its keys.
    Member(Map<String, Value>),
    /// A member of a set.
    Value(Value),
    /// An element of a list that is owned as a whole.
    Index(usize),
}

impl Step {
    /// Returns the name in managed fields, or `None` if managed fields do not name it.
    pub fn name(&self) -> Option<String> {
        match self {
            Self::Field(name) => Some(format!("f:{name}")),
            Self::Member(keys) => Some(format!("k:{}", json!(keys))),
            Self::Value(value) => Some(format!("v:{value}")),
            Self::Index(_) => None,
        }
    }

    /// Parses a name in managed fields.
    pub fn parse(name: &str) -> Option<Self> {
        let (kind, rest) = name.split_at_checked(2)?;
        match kind {
            "f:" => Some(Self::Field(rest.to_owned())),
            "k:" => serde_json::from_str(rest).ok().map(Self::Member),
            "v:" => serde_json::from_str(rest).ok().map(Self::Value),
            _ => None,
        }
    }
}

/// `spec.ports[{"port":80}].name`.
pub fn text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Field(name) if text.is_empty() => text.clone_from(name),
            Step::Field(name) => text += &format!(".{name}"),
            Step::Member(keys) => text += &format!("[{}]", json!(keys)),
            Step::Value(value) => text += &format!("[={value}]"),
            Step::Index(number) => text += &format!("[{number}]"),
        }
    }
    text
}

/// Finds the position of an element in the current list.
fn position(list: &[Value], step: &Step) -> Option<usize> {
    match step {
        Step::Field(_) => None,
        Step::Member(keys) => {
            let has = |item: &Value| keys.iter().all(|(key, value)| item.get(key) == Some(value));
            list.iter().position(has)
        }
        Step::Value(value) => list.iter().position(|item| item == value),
        Step::Index(number) => (*number < list.len()).then_some(*number),
    }
}

/// The value at a place.
pub fn value_at<'v>(live: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter()
        .try_fold(live, |value, step| match (value, step) {
            (Value::Object(map), Step::Field(name)) => map.get(name),
            (Value::Array(list), step) => list.get(position(list, step)?),
            _ => None,
        })
}

/// A place as a JSON pointer into the object as it is now.
pub fn pointer(live: &Value, path: &[Step]) -> Option<String> {
    let mut pointer = String::new();
    for (depth, step) in path.iter().enumerate() {
        pointer.push('/');
        pointer += &match step {
            Step::Field(name) => name.replace('~', "~0").replace('/', "~1"),
            Step::Member(_) | Step::Value(_) | Step::Index(_) => {
                let list = value_at(live, &path[..depth])?.as_array()?;
                position(list, step)?.to_string()
            }
        };
    }
    Some(pointer)
}

/// An object of nothing but a value at a place, as an apply sends it.
pub fn alone(path: &[Step], value: Value) -> Value {
    path.iter().rev().fold(value, |inner, step| match step {
        Step::Field(name) => json!({ name: inner }),
        Step::Member(keys) => {
            let mut member = json!(keys);
            for (key, value) in inner.as_object().into_iter().flatten() {
                member[key] = value.clone();
            }
            json!([member])
        }
        Step::Value(_) | Step::Index(_) => json!([inner]),
    })
}

/// Removes a field from an entry, together with the parents that are left empty. Returns an entry
/// that consists of that field alone.
pub fn moved(fields: &mut Map<String, Value>, path: &[Step]) -> Option<Value> {
    let names: Vec<String> = path.iter().map(Step::name).collect::<Option<_>>()?;
    let part = take(fields, &names)?;
    let nested = names.iter().rev();
    Some(nested.fold(part, |inner, name| json!({ name: inner })))
}

fn take(fields: &mut Map<String, Value>, names: &[String]) -> Option<Value> {
    let (first, rest) = names.split_first()?;
    if rest.is_empty() {
        return fields.remove(first);
    }
    let inner = fields.get_mut(first)?.as_object_mut()?;
    let taken = take(inner, rest);
    if inner.is_empty() {
        fields.remove(first);
    }
    taken
}

/// Returns every field that an entry owns as one value, with its live value. For a transition time,
/// records only that it is set.
pub fn owned(fields: &Map<String, Value>, live: &Value) -> Vec<(Vec<Step>, Value)> {
    let mut found = Vec::new();
    walk(fields, live, &mut Vec::new(), &mut found);
    found
}

fn walk(
    fields: &Map<String, Value>,
    live: &Value,
    path: &mut Vec<Step>,
    found: &mut Vec<(Vec<Step>, Value)>,
) {
    for (name, inner) in fields.iter().filter(|(name, _)| *name != ".") {
        let Some(step) = Step::parse(name) else {
            continue;
        };
        let value = value_at(live, std::slice::from_ref(&step));
        let value = value.unwrap_or(&Value::Null);
        path.push(step);
        match inner.as_object() {
            Some(inner) if !inner.is_empty() => walk(inner, value, path, found),
            _ if name == "f:lastTransitionTime" => found.push((path.clone(), Value::Null)),
            _ => found.push((path.clone(), value.clone())),
        }
        path.pop();
    }
}

/// Of an object with its entry as it was, and as it is: the first place that was owned and is not, or has another value.
pub fn lost(
    was: (&Map<String, Value>, &Value),
    is: (&Map<String, Value>, &Value),
) -> Option<String> {
    let (was, is) = (owned(was.0, was.1), owned(is.0, is.1));
    let (path, value) = was.into_iter().find(|place| !is.contains(place))?;
    let now = is.iter().find(|(other, _)| *other == path);
    let place = text(&path);
    Some(match now {
        None => format!("`{place}` is not owned any more"),
        Some((_, now)) => format!("`{place}` is {now} instead of {value}"),
    })
}

/// Returns the fields that a manager has applied to an object itself.
pub fn applied<'o>(object: &'o Value, manager: &str) -> Option<&'o Map<String, Value>> {
    let entries = object.pointer("/metadata/managedFields")?.as_array()?;
    let is_its = |entry: &&Value| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry.get("subresource").is_none_or(|of| of == "")
    };
    entries.iter().find(is_its)?.get("fieldsV1")?.as_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    fn service() -> (Map<String, Value>, Value) {
        let port = json!({ ".": {}, "f:port": {}, "f:name": {} });
        let owned = json!({ "f:spec": {
            "f:ports": { "k:{\"port\":80}": port }, "f:selector": {}, "f:externalIPs": { "v:\"192.0.2.1\"": {} },
        } });
        let live = json!({ "spec": {
            "ports": [{ "port": 53 }, { "port": 80, "name": "http" }], "selector": { "app": "web" }, "externalIPs": ["192.0.2.1"],
        } });
        (fields(owned), live)
    }

    #[test]
    fn places_are_fields_elements_and_values() {
        let (entry, live) = service();
        let found = owned(&entry, &live);
        let texts: Vec<_> = found.iter().map(|(path, _)| text(path)).collect();
        let expected = [
            r#"spec.externalIPs[="192.0.2.1"]"#,
            r#"spec.ports[{"port":80}].name"#,
            r#"spec.ports[{"port":80}].port"#,
            "spec.selector",
        ];
        assert_eq!(texts, expected);
        let pointers = found.iter().map(|(path, _)| pointer(&live, path));
        let pointers: Vec<_> = pointers.flatten().collect();
        let expected = [
            "/spec/externalIPs/0",
            "/spec/ports/1/name",
            "/spec/ports/1/port",
            "/spec/selector",
        ];
        assert_eq!(pointers, expected);
        let name = alone(&found[1].0, json!("web"));
        assert_eq!(
            name,
            json!({ "spec": { "ports": [{ "port": 80, "name": "web" }] } })
        );
    }

    #[test]
    fn a_place_that_changed_hands_or_its_value_is_lost() {
        let (entry, live) = service();
        let check = |entry: &Map<String, Value>, now: &Value, expected: Option<&str>| {
            let (was, before) = service();
            let lost = lost((&was, &before), (entry, now));
            assert_eq!(lost.as_deref(), expected);
        };
        check(&entry, &live, None);
        let mut more = live.clone();
        more["spec"]["selector"]["x"] = json!("1");
        let text = r#"`spec.selector` is {"app":"web","x":"1"} instead of {"app":"web"}"#;
        check(&entry, &more, Some(text));
        let mut left = entry.clone();
        let selector = [
            Step::Field("spec".to_owned()),
            Step::Field("selector".to_owned()),
        ];
        let taken = moved(&mut left, &selector);
        assert_eq!(taken, Some(json!({ "f:spec": { "f:selector": {} } })));
        check(&left, &live, Some("`spec.selector` is not owned any more"));
    }

    #[test]
    fn what_was_applied_is_told_from_updates_and_statuses() {
        let entry = |operation: &str, subresource: &str| json!({ "manager": "us", "operation": operation, "subresource": subresource, "fieldsV1": { (operation): {} } });
        let all = [
            entry("Update", ""),
            entry("Apply", "status"),
            entry("Apply", ""),
        ];
        let object = json!({ "metadata": { "managedFields": all } });
        assert_eq!(
            applied(&object, "us").map(|fields| json!(fields)),
            Some(json!({ "Apply": {} }))
        );
        assert_eq!(applied(&object, "others"), None);
        assert_eq!(
            applied(
                &json!({ "metadata": { "managedFields": [entry("Apply", "status")] } }),
                "us"
            ),
            None
        );
    }
}
