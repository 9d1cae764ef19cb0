//! An object beside its schema: is it well typed, which step leads to an item of a list, which paths does it set.

use std::collections::BTreeSet;

use serde_json::Value;

use super::field_set::FieldSet;
use super::node::{Arena, Id, Items, List, Map, Scalar, Shape};
use super::paths::{Element, Ordered};

/// Values that do not match the schema, one problem a line: path and message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Problems(pub(super) Vec<(String, String)>);

impl Problems {
    fn single(message: impl Into<String>) -> Self {
        Self(vec![(String::new(), message.into())])
    }

    fn prefixed(mut self, step: &Element) -> Self {
        for (path, _) in &mut self.0 {
            path.insert_str(0, &step.to_string());
        }
        self
    }

    fn and(&mut self, mut others: Self) {
        self.0.append(&mut others.0);
    }

    pub(super) fn ok(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// As the errors of structured-merge-diff are printed.
    pub(super) fn text(&self) -> String {
        let lines = self.0.iter().map(|(path, message)| {
            if path.is_empty() {
                message.clone()
            } else {
                format!("{path}: {message}")
            }
        });
        let lines: Vec<String> = lines.collect();
        match lines.as_slice() {
            [line] => line.clone(),
            lines => format!("errors:\n  {}", lines.join("\n  ")),
        }
    }
}

/// Handling of repeated items in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duplicates {
    Allowed,
    Refused,
}

/// Returns the parts of a value that do not match its type.
pub(super) fn problems(arena: &Arena, id: Id, value: &Value, duplicates: Duplicates) -> Problems {
    match arena.node(id).shape(Some(value)) {
        Shape::Map(map) => map_problems(arena, map, value, duplicates),
        Shape::List(list) => list_problems(arena, list, value, duplicates),
        Shape::Scalar(scalar) => scalar_problem(scalar, Some(value))
            .map(Problems::single)
            .unwrap_or_default(),
        Shape::Nothing => Problems::single("schema error: invalid atom"),
    }
}

fn map_problems(arena: &Arena, map: &Map, value: &Value, duplicates: Duplicates) -> Problems {
    let fields = match value {
        Value::Null => return Problems::default(),
        Value::Object(fields) => fields,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Problems::single(format!("expected map, got &{{{}}}", plain(value)));
        }
    };
    let mut all = Problems::default();
    for (name, value) in fields {
        let step = Element::field(name);
        let Some(id) = map.field(name) else {
            all.and(Problems::single("field not declared in schema").prefixed(&step));
            // The real one stops here as well.
            break;
        };
        all.and(problems(arena, id, value, duplicates).prefixed(&step));
    }
    all
}

fn list_problems(arena: &Arena, list: &List, value: &Value, duplicates: Duplicates) -> Problems {
    let items = match value {
        Value::Null => return Problems::default(),
        Value::Array(items) => items,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Problems::single(format!("expected list, got &{{{}}}", plain(value)));
        }
    };
    let mut all = Problems::default();
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let step = if list.items == Items::Atomic {
            Element::Index(i64::try_from(index).unwrap_or(i64::MAX))
        } else {
            match step_of(arena, list, item) {
                Ok(step) => step,
                Err(message) => {
                    all.and(Problems::single(format!("element {index}: {message}")));
                    return all;
                }
            }
        };
        if !seen.insert(step.clone()) && duplicates == Duplicates::Refused {
            all.and(Problems::single(format!(
                "duplicate entries for key {step}"
            )));
        }
        all.and(problems(arena, list.of, item, duplicates).prefixed(&step));
    }
    all
}

/// Returns the error of a scalar, if any.
pub(super) fn scalar_problem(scalar: Scalar, value: Option<&Value>) -> Option<String> {
    let value = value.filter(|value| !value.is_null())?;
    match scalar {
        Scalar::Numeric => (!value.is_number())
            .then(|| format!("expected numeric (int or float), got {}", go_type(value))),
        Scalar::String => (!value.is_string()).then(|| {
            let shown = go_syntax(value);
            format!("expected string, got &value.valueUnstructured{{Value:{shown}}}")
        }),
        Scalar::Boolean => {
            (!value.is_boolean()).then(|| format!("expected boolean, got &{{{}}}", plain(value)))
        }
        Scalar::Untyped => (value.is_array() || value.is_object())
            .then(|| format!("expected any scalar, got &{{{}}}", plain(value))),
    }
}

/// The step that leads to an item of a set or of a list with keys.
///
/// # Errors
/// Returns an error if the item has no identity in the list. The message is that of the real
/// server.
pub(super) fn step_of(arena: &Arena, list: &List, item: &Value) -> Result<Element, String> {
    match &list.items {
        Items::Atomic => Err("invalid indexing of non-associative list".to_owned()),
        Items::Set => match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => {
                Err("not supported: associative list with lists as elements".to_owned())
            }
            Value::Null => Err(
                "associative list without keys has an element that's an explicit null".to_owned(),
            ),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Ok(Element::Value(Ordered(item.clone())))
            }
        },
        Items::Keyed(keys) => keyed_step(arena, list, keys, item),
    }
}

fn keyed_step(
    arena: &Arena,
    list: &List,
    keys: &[String],
    item: &Value,
) -> Result<Element, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err("associative list with keys may not have non-map elements".to_owned());
        }
    };
    let map = arena.node(list.of).map.as_ref();
    let default = |key: &str| {
        let id = map.and_then(|map| map.fields.get(key))?;
        arena.node(*id).default.clone()
    };
    let found = keys.iter().filter_map(|key| {
        let value = fields.get(key).cloned().or_else(|| default(key))?;
        Some((key.clone(), Ordered(value)))
    });
    let mut found: Vec<(String, Ordered)> = found.collect();
    if found.is_empty() {
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
            keys.join(" ")
        ));
    }
    found.sort();
    Ok(Element::Keys(found))
}

/// Every path that an object sets.
pub(super) fn paths_of(arena: &Arena, id: Id, value: &Value) -> FieldSet {
    let mut set = FieldSet::default();
    collect(arena, id, value, &mut Vec::new(), &mut set);
    set
}

fn collect(arena: &Arena, id: Id, value: &Value, path: &mut Vec<Element>, set: &mut FieldSet) {
    match arena.node(id).shape(Some(value)) {
        Shape::Map(map) if map.atomic => set.insert(path),
        Shape::Map(map) => {
            for (name, value) in value.as_object().into_iter().flatten() {
                path.push(Element::field(name));
                if let Some(id) = map.field(name) {
                    collect(arena, id, value, path, set);
                }
                let empty =
                    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
                if empty || !map.fields.contains_key(name) {
                    set.insert(path);
                }
                path.pop();
            }
        }
        Shape::List(list) if list.items == Items::Atomic => set.insert(path),
        Shape::List(list) => {
            let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
            collect_items(arena, list, items, path, set);
        }
        Shape::Scalar(_) | Shape::Nothing => set.insert(path),
    }
}

fn collect_items(
    arena: &Arena,
    list: &List,
    items: &[Value],
    path: &mut Vec<Element>,
    set: &mut FieldSet,
) {
    let steps: Vec<Option<Element>> = items
        .iter()
        .map(|item| step_of(arena, list, item).ok())
        .collect();
    for (item, step) in items.iter().zip(&steps) {
        let Some(step) = step else { continue };
        let twice = steps
            .iter()
            .flatten()
            .filter(|other| *other == step)
            .count()
            > 1;
        path.push(step.clone());
        if !twice {
            collect(arena, list.of, item, path, set);
        }
        set.insert(path);
        path.pop();
    }
}

/// Returns true if two values are equal. Numbers are compared by value.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        (_, _) => left == right,
    }
}

/// A value as Go prints it by `%v`.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", plain(value)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// A value as Go prints it by `%#v`.
pub(super) fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name:?}:{}", go_syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
