//! Reads nodes off OpenAPI: definitions of built-in kinds as the data file has them, schemas of custom resources.
//! Decides how values merge as the schema converter of the API machinery does.

use std::collections::BTreeMap;

use serde_json::{Map as Object, Value, json};

use super::node::{self, Arena, Id, Items, List, Map, Node, Patch, Scalar};

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";

/// The type of everything below an atomic whole.
pub(super) const UNTYPED: Id = Id(0);
/// The type of free-form values: maps merge, lists do not.
pub(super) const DEDUCED: Id = Id(1);

/// Fills an arena.
pub(super) struct Loader<'a> {
    definitions: &'a Object<String, Value>,
    go_types: &'a Value,
    arena: Arena,
    named: BTreeMap<String, Id>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(definitions: &'a Object<String, Value>, go_types: &'a Value) -> Self {
        let mut arena = Arena::default();
        arena.nodes.push(free_form(UNTYPED, true));
        arena.nodes.push(free_form(DEDUCED, false));
        Self {
            definitions,
            go_types,
            arena,
            named: BTreeMap::new(),
        }
    }

    pub(super) fn finish(self) -> Arena {
        self.arena
    }

    /// The node of a definition.
    pub(super) fn definition(&mut self, name: &str) -> Id {
        self.reference(name, &Object::new())
    }

    /// The node of a schema; `preserve` allows fields that are not declared.
    pub(super) fn schema(&mut self, schema: &Value, preserve: bool) -> Id {
        let empty = Object::new();
        let schema = schema.as_object().unwrap_or(&empty);
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(name, schema);
        }
        let id = self.allocate_node();
        let node = self.parse(schema, preserve);
        self.arena.nodes[id.0] = node;
        id
    }

    fn allocate_node(&mut self) -> Id {
        self.arena.nodes.push(Node::default());
        Id(self.arena.nodes.len() - 1)
    }

    /// Returns the node of a reference. A reference with additional keywords gets its own node,
    /// shared by all references with equal keywords.
    fn reference(&mut self, name: &str, beside: &Object<String, Value>) -> Id {
        let beside: Object<String, Value> = beside
            .iter()
            .filter(|(key, _)| *key != "$ref")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let key = format!("{name} {}", Value::Object(beside.clone()));
        if let Some(id) = self.named.get(&key) {
            return *id;
        }
        let id = self.allocate_node();
        self.named.insert(key, id);
        let mut node = match name {
            QUANTITY => Node {
                format: node::QUANTITY.to_owned(),
                ..scalar(Scalar::Untyped)
            },
            RAW => free_form(UNTYPED, true),
            name => {
                let definitions = self.definitions;
                let definition = definitions.get(name).and_then(Value::as_object);
                definition
                    .map(|definition| self.parse(definition, false))
                    .unwrap_or_default()
            }
        };
        if let Some(map) = node.map.as_mut() {
            map.required
                .extend(texts(self.go_types["always"].get(name)));
            map.name = name.rsplit('.').next().unwrap_or_default().to_owned();
            map.pointers = texts(self.go_types["pointers"].get(name));
        }
        if let Some(default) = beside.get("default") {
            node.default = Some(default.clone());
        }
        if let (Some(kind), Some(map)) = (map_type(&beside), node.map.as_mut()) {
            map.atomic = kind;
        }
        if beside.contains_key("x-kubernetes-patch-strategy") {
            node.patch = patch(&beside);
        }
        self.arena.nodes[id.0] = node;
        id
    }

    fn parse(&mut self, schema: &Object<String, Value>, preserve: bool) -> Node {
        let preserve = preserve || is_true(schema, "x-kubernetes-preserve-unknown-fields");
        let text = |name: &str| schema.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut node = match text("type") {
            "object" => Node {
                map: Some(self.map(schema, preserve)),
                ..Node::default()
            },
            "array" => Node {
                list: Some(self.list(schema, preserve)),
                ..Node::default()
            },
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" => match text("format") {
                "" | "byte" => scalar(Scalar::String),
                _ => scalar(Scalar::Untyped),
            },
            _ if schema.contains_key("oneOf") && !schema.contains_key("properties") => {
                scalar(Scalar::Untyped)
            }
            _ => Node {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve)),
                map: Some(self.map(schema, preserve)),
                ..Node::default()
            },
        };
        node.default = schema.get("default").cloned();
        node.patch = patch(schema);
        node.format = text("format").to_owned();
        node
    }

    fn map(&mut self, schema: &Object<String, Value>, preserve: bool) -> Map {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut fields = BTreeMap::new();
        for (name, member) in properties.into_iter().flatten() {
            fields.insert(name.clone(), self.schema(member, preserve));
        }
        let rest = match schema.get("additionalProperties") {
            None => (preserve || fields.is_empty()).then_some(DEDUCED),
            Some(Value::Bool(allowed)) => allowed.then_some(DEDUCED),
            Some(schema) => Some(self.schema(schema, preserve)),
        };
        Map {
            required: texts(schema.get("required")),
            pointers: Vec::new(),
            name: String::new(),
            fields,
            rest,
            atomic: map_type(schema).unwrap_or(false),
        }
    }

    fn list(&mut self, schema: &Object<String, Value>, preserve: bool) -> List {
        let of = match schema.get("items") {
            Some(items) => self.schema(items, preserve),
            None => UNTYPED,
        };
        List {
            items: items_of(schema),
            of,
        }
    }
}

fn items_of(schema: &Object<String, Value>) -> Items {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    match (
        text("x-kubernetes-list-type"),
        text("x-kubernetes-patch-strategy"),
    ) {
        (Some("set"), _) => Items::Set,
        (Some("map"), _) => Items::Keyed(texts(schema.get("x-kubernetes-list-map-keys"))),
        (None, Some("merge" | "merge,retainKeys")) => match text("x-kubernetes-patch-merge-key") {
            Some(key) => Items::Keyed(vec![key.to_owned()]),
            None => Items::Set,
        },
        (_, _) => Items::Atomic,
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn map_type(schema: &Object<String, Value>) -> Option<bool> {
    match schema.get("x-kubernetes-map-type").and_then(Value::as_str) {
        Some("atomic") => Some(true),
        Some("granular") => Some(false),
        Some(_) | None => None,
    }
}

fn patch(schema: &Object<String, Value>) -> Patch {
    let strategy = schema
        .get("x-kubernetes-patch-strategy")
        .and_then(Value::as_str);
    let strategies: Vec<&str> = strategy.unwrap_or_default().split(',').collect();
    let key = schema
        .get("x-kubernetes-patch-merge-key")
        .and_then(Value::as_str);
    Patch {
        merge: strategies.contains(&"merge"),
        retain_keys: strategies.contains(&"retainKeys"),
        key: key.map(str::to_owned),
    }
}

pub(super) fn is_true(schema: &Object<String, Value>, name: &str) -> bool {
    schema.get(name) == Some(&Value::Bool(true))
}

fn scalar(scalar: Scalar) -> Node {
    Node {
        scalar: Some(scalar),
        ..Node::default()
    }
}

fn free_form(of: Id, atomic: bool) -> Node {
    Node {
        scalar: Some(Scalar::Untyped),
        list: Some(List {
            items: Items::Atomic,
            of: UNTYPED,
        }),
        map: Some(Map {
            fields: BTreeMap::new(),
            rest: Some(of),
            atomic,
            required: Vec::new(),
            pointers: Vec::new(),
            name: String::new(),
        }),
        ..Node::default()
    }
}

/// The schema of a custom resource with the fields that every object has, here and in embedded resources.
pub(super) fn with_object_fields(schema: &Value, is_root: bool) -> Value {
    let mut out = schema.clone();
    let Some(fields) = out.as_object_mut() else {
        return out;
    };
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut() {
            *property = with_object_fields(property, false);
        }
    }
    for name in ["items", "additionalProperties"] {
        if let Some(below) = fields.get_mut(name).filter(|below| below.is_object()) {
            *below = with_object_fields(below, false);
        }
    }
    if is_root || is_true(fields, "x-kubernetes-embedded-resource") {
        let properties = fields.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("apiVersion".to_owned(), json!({"type": "string"}));
            properties.insert("kind".to_owned(), json!({"type": "string"}));
            let metadata = json!({"$ref": "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"});
            properties.insert("metadata".to_owned(), metadata);
        }
    }
    out
}
