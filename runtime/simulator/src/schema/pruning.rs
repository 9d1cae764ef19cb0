//! Changes to a custom resource at decoding: undeclared fields are pruned, and defaults are added.

use serde_json::{Map as Object, Value};

use super::decoding;
use super::load::{DEDUCED, is_true};
use super::node::{Arena, Id, Map, Node, Scalar, Shape};
use super::quantity;

const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Paths of the removed fields, such as `spec.items[0].nonsense`.
#[derive(Debug, Default)]
pub(super) struct Removed {
    paths: Vec<String>,
    at: Vec<String>,
}

impl Removed {
    pub(super) fn sorted(mut self) -> Vec<String> {
        self.paths.sort();
        self.paths
    }

    fn record(&mut self, name: &str) {
        let dot = if self.at.is_empty() { "" } else { "." };
        self.paths.push(format!("{}{dot}{name}", self.at.concat()));
    }

    fn enter(&mut self, name: &str) {
        let dot = if self.at.is_empty() { "" } else { "." };
        self.at.push(format!("{dot}{name}"));
    }

    fn leave(&mut self) {
        self.at.pop();
    }
}

fn properties(schema: &Value) -> Option<&Object<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn flag(schema: &Value, name: &str) -> bool {
    schema
        .as_object()
        .is_some_and(|schema| is_true(schema, name))
}

/// Returns the schema of a present field, declared or additional. Returns `Err` if the field has no
/// type.
fn field<'a>(schema: &'a Value, name: &str) -> Option<Option<&'a Value>> {
    if let Some(found) = properties(schema).and_then(|fields| fields.get(name)) {
        return Some(Some(found));
    }
    match schema.get("additionalProperties") {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(Value::Bool(true)) => Some(None),
        Some(rest) => Some(Some(rest)),
    }
}

/// Removes the fields that a structural schema does not declare.
pub(super) fn prune(
    schema: Option<&Value>,
    value: &mut Value,
    is_root: bool,
    removed: &mut Removed,
) {
    let preserves =
        schema.is_some_and(|schema| flag(schema, "x-kubernetes-preserve-unknown-fields"));
    let embeds =
        is_root || schema.is_some_and(|schema| flag(schema, "x-kubernetes-embedded-resource"));
    match value {
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                if embeds && META.contains(&name.as_str()) {
                    continue;
                }
                match schema.map(|schema| field(schema, &name)) {
                    Some(Some(below)) => {
                        removed.enter(&name);
                        if let Some(value) = fields.get_mut(&name) {
                            // Of free-form values nothing is known and nothing goes.
                            if below.is_some() {
                                prune(below, value, false, removed);
                            }
                        }
                        removed.leave();
                    }
                    Some(None) if preserves => {}
                    Some(None) | None => {
                        removed.record(&name);
                        fields.remove(&name);
                    }
                }
            }
        }
        Value::Array(items) => {
            let below = schema.and_then(|schema| schema.get("items"));
            if preserves && below.is_none() {
                return;
            }
            for (index, item) in items.iter_mut().enumerate() {
                removed.at.push(format!("[{index}]"));
                prune(below, item, false, removed);
                removed.leave();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Removes the fields that a built-in type does not have.
pub(super) fn prune_typed(arena: &Arena, id: Id, value: &mut Value, removed: &mut Removed) {
    match (arena.node(id).shape(Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                let Some(below) = map.field(&name) else {
                    removed.record(&name);
                    fields.remove(&name);
                    continue;
                };
                // Go reads null as the zero value.
                if fields.get(&name).is_some_and(Value::is_null) {
                    if map.fields.contains_key(&name) {
                        fields.remove(&name);
                    } else if arena.node(below).scalar == Some(Scalar::String) {
                        fields.insert(name, "".into());
                    }
                    continue;
                }
                removed.enter(&name);
                if let Some(value) = fields.get_mut(&name) {
                    prune_typed(arena, below, value, removed);
                }
                removed.leave();
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                removed.at.push(format!("[{index}]"));
                prune_typed(arena, list.of, item, removed);
                removed.leave();
            }
        }
        (_, _) => {}
    }
}

/// Writes numbers without a fraction as integers.
pub(super) fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number
                .as_f64()
                .filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
            let parsed = whole.and_then(|float| format!("{float:.0}").parse::<i64>().ok());
            if let Some(whole) = parsed {
                *value = whole.into();
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Brings an object of a built-in kind into the form that its Go type writes. Structures are always
/// present, zeros and empty lists are not.
pub(super) fn as_written(arena: &Arena, id: Id, value: &mut Value) {
    let node = arena.node(id);
    match (node.shape(Some(value)), value) {
        (Shape::Map(map), Value::Object(fields)) => {
            for (name, id) in &map.fields {
                let node = arena.node(*id);
                let is_structure =
                    node.default.as_ref().is_some_and(Value::is_object) && node.map.is_some();
                let is_required = map.required.contains(name);
                if !fields.contains_key(name) {
                    let zero = match &node.default {
                        Some(_) if is_structure => Value::Object(Object::new()),
                        Some(default) => default.clone(),
                        None => Value::Null,
                    };
                    if is_structure || is_required {
                        fields.insert(name.clone(), zero);
                    }
                } else if !is_required
                    && !map.pointers.contains(name)
                    && is_zero(node, &fields[name])
                {
                    fields.remove(name);
                }
            }
            for (name, value) in fields {
                if let Some(below) = map.field(name) {
                    let in_resources = !map.fields.contains_key(name);
                    let below_node = arena.node(below);
                    if below_node.is_quantity() && !value.is_null() {
                        if let Some(written) = quantity::canonical(value, in_resources) {
                            *value = written.into();
                        }
                        continue;
                    }
                    as_written(arena, below, value);
                }
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            items
                .iter_mut()
                .for_each(|item| as_written(arena, list.of, item));
        }
        (Shape::Scalar(Scalar::String), Value::String(text)) if node.format == "byte" => {
            if let Some(written) = decoding::rewritten_base64(text) {
                *text = written;
            }
        }
        (_, _) => {}
    }
}

fn is_zero(node: &Node, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => node.scalar == Some(Scalar::Boolean) && !value,
        Value::Number(number) => {
            node.scalar == Some(Scalar::Numeric) && number.as_f64() == Some(0.0)
        }
        Value::String(text) => node.scalar == Some(Scalar::String) && text.is_empty(),
        Value::Array(items) => items.is_empty() && node.scalar.is_none(),
        // A structure that is a pointer is written also when it is empty; a map is not.
        Value::Object(fields) => {
            let is_map =
                |map: &Map| map.fields.is_empty() && map.rest.is_some_and(|rest| rest != DEDUCED);
            let is_map = node.map.as_ref().is_some_and(is_map);
            fields.is_empty() && is_map && node.scalar.is_none()
        }
    }
}

/// Prunes undeclared fields from the metadata of a custom resource.
pub(super) fn prune_metadata(arena: &Arena, root: Id, object: &mut Value, removed: &mut Removed) {
    let node = arena.node(root).map.as_ref();
    let Some(id) = node.and_then(|map| map.fields.get("metadata")) else {
        return;
    };
    if let Some(metadata) = object.get_mut("metadata") {
        removed.enter("metadata");
        prune_typed(arena, *id, metadata, removed);
        removed.leave();
    }
}

fn is_nullable(schema: &Value) -> bool {
    flag(schema, "nullable")
}

/// Removes nulls that are not allowed and have no default.
pub(super) fn prune_nulls(schema: Option<&Value>, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let below = |name: &str| schema.and_then(|schema| field(schema, name)).flatten();
            fields.retain(|name, value| {
                let unwanted =
                    |schema: &Value| !is_nullable(schema) && schema.get("default").is_none();
                !(value.is_null() && below(name).is_some_and(unwanted))
            });
            for (name, value) in fields.iter_mut() {
                prune_nulls(below(name), value);
            }
        }
        Value::Array(items) => {
            let below = schema.and_then(|schema| schema.get("items"));
            items.iter_mut().for_each(|item| prune_nulls(below, item));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Fills defaults, also where a null is not allowed.
pub(super) fn default(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, property) in properties(schema).into_iter().flatten() {
                let Some(default) = property.get("default") else {
                    continue;
                };
                let missing = match fields.get(name) {
                    None => true,
                    Some(value) => value.is_null() && !is_nullable(property),
                };
                if missing {
                    fields.insert(name.clone(), default.clone());
                }
            }
            let declared = properties(schema);
            let rest = schema
                .get("additionalProperties")
                .filter(|rest| rest.is_object());
            for (name, value) in fields.iter_mut() {
                match (declared.and_then(|declared| declared.get(name)), rest) {
                    (Some(property), _) => default(property, value),
                    (None, Some(rest)) => default_item(rest, value),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = schema.get("items") {
                items.iter_mut().for_each(|item| default_item(below, item));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn default_item(schema: &Value, value: &mut Value) {
    if value.is_null() && !is_nullable(schema) {
        *value = schema.get("default").cloned().unwrap_or_default();
    }
    default(schema, value);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Schema;

    fn schema() -> Schema {
        Schema::of_crd(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer", "default": 3},
                "items": {"type": "array", "items": {"type": "object", "properties": {
                    "name": {"type": "string"}, "mode": {"type": "string", "default": "fast"},
                }}},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                    "known": {"type": "object", "properties": {"a": {"type": "string"}}},
                }},
                "note": {"type": "string", "nullable": true},
                "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}}}},
            }},
        }}))
        .unwrap()
    }

    #[test]
    fn undeclared_fields_go_and_are_named() {
        let mut object = json!({"apiVersion": "v1", "kind": "T", "metadata": {"name": "a", "nonsense": 1}, "more": 1, "spec": {
            "items": [{"name": "a", "bad": 1}], "free": {"any": {"thing": 1}, "known": {"a": "1", "b": "2"}},
            "map": {"k": {"x": "1", "y": "2"}}, "note": null,
        }});
        let removed = schema().prune(&mut object);
        let expected = [
            "metadata.nonsense",
            "more",
            "spec.free.known.b",
            "spec.items[0].bad",
            "spec.map.k.y",
        ];
        assert_eq!(removed, expected);
        assert_eq!(
            object["spec"]["free"],
            json!({"any": {"thing": 1}, "known": {"a": "1"}})
        );
        assert!(object["spec"]["note"].is_null() && object["spec"].get("note").is_some());
    }

    #[test]
    fn nulls_that_are_not_allowed_go_or_become_defaults() {
        let mut object = json!({"metadata": {}, "spec": {"size": null, "items": [{"name": null}], "note": null}});
        schema().prune(&mut object);
        schema().default(&mut object);
        assert_eq!(
            object["spec"],
            json!({"size": 3, "items": [{"mode": "fast"}], "note": null})
        );
    }

    #[test]
    fn defaults_are_filled_only_within_what_is_there() {
        let mut object = json!({"metadata": {}});
        schema().default(&mut object);
        assert_eq!(object, json!({"metadata": {}}));
    }
}
