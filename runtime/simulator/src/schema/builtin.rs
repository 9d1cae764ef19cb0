//! The structure of the built-in kinds, as the real API server publishes it: data without descriptions, read once.
//! A test of the workspace compares the data with a running API server and rewrites it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use super::Schema;
use super::load::Loader;

const DATA: &str = include_str!("builtin.json");

/// Properties of the Go types that OpenAPI lacks: which scalars are pointers, and which optional
/// fields are always written.
const GO_TYPES: &str = include_str!("go_types.json");

struct Data {
    go_types: Value,
    definitions: Map<String, Value>,
    names: BTreeMap<String, String>,
    kinds: BTreeMap<String, Schema>,
}

static BUILTIN: LazyLock<Data> = LazyLock::new(|| {
    let mut data: Map<String, Value> =
        serde_json::from_str(DATA).expect("the data of the built-in kinds is JSON");
    let mut part = |name: &str| match data.remove(name) {
        Some(Value::Object(part)) => part,
        Some(_) | None => Map::new(),
    };
    let definitions = part("definitions");
    let go_types = serde_json::from_str(GO_TYPES).expect("the data of the Go types is JSON");
    let kinds = part("kinds").into_iter();
    let names: BTreeMap<String, String> = kinds
        .filter_map(|(kind, name)| Some((kind, name.as_str()?.to_owned())))
        .collect();
    let mut loader = Loader::new(&definitions, &go_types);
    let roots: Vec<(String, _)> = names
        .iter()
        .map(|(kind, name)| (kind.clone(), loader.definition(name)))
        .collect();
    let arena = Arc::new(loader.finish());
    let kinds = roots.into_iter().map(|(kind, root)| {
        let arena = Arc::clone(&arena);
        (
            kind,
            Schema {
                arena,
                root,
                custom: None,
            },
        )
    });
    let kinds = kinds.collect();
    Data {
        go_types,
        definitions,
        names,
        kinds,
    }
});

/// The schema of a built-in kind.
pub(super) fn schema(group: &str, version: &str, kind: &str) -> Option<&'static Schema> {
    BUILTIN.kinds.get(&key(group, version, kind))
}

/// The name of the definition of a built-in kind.
pub(crate) fn name(group: &str, version: &str, kind: &str) -> Option<&'static str> {
    let name = BUILTIN.names.get(&key(group, version, kind));
    name.map(String::as_str)
}

fn key(group: &str, version: &str, kind: &str) -> String {
    let slash = if group.is_empty() { "" } else { "/" };
    format!("{group}{slash}{version}/{kind}")
}

/// Returns the known properties of the Go types.
pub(super) fn go_types() -> &'static Value {
    &BUILTIN.go_types
}

/// The definitions that custom resources use as well.
pub(crate) fn definitions() -> &'static Map<String, Value> {
    &BUILTIN.definitions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::node::Items;

    fn items(group: &str, version: &str, kind: &str, path: &[&str]) -> Items {
        let schema = schema(group, version, kind).unwrap();
        let mut id = schema.root;
        for name in path {
            id = schema
                .arena
                .node(id)
                .map
                .as_ref()
                .unwrap()
                .field(name)
                .unwrap();
            let list = schema.arena.node(id).list.as_ref();
            if *name != *path.last().unwrap() {
                id = list.map_or(id, |list| list.of);
            }
        }
        schema.arena.node(id).list.as_ref().unwrap().items.clone()
    }

    #[test]
    fn lists_of_built_in_kinds_are_told_apart() {
        let keyed =
            |keys: &[&str]| Items::Keyed(keys.iter().map(|key| (*key).to_owned()).collect());
        assert_eq!(
            items("", "v1", "Service", &["spec", "ports"]),
            keyed(&["port", "protocol"])
        );
        let containers = ["spec", "template", "spec", "containers"];
        assert_eq!(
            items("apps", "v1", "Deployment", &containers),
            keyed(&["name"])
        );
        assert_eq!(
            items("", "v1", "ConfigMap", &["metadata", "finalizers"]),
            Items::Set
        );
        assert_eq!(
            items("", "v1", "ConfigMap", &["metadata", "ownerReferences"]),
            keyed(&["uid"])
        );
        assert_eq!(
            items("", "v1", "Pod", &["spec", "containers", "args"]),
            Items::Atomic
        );
    }

    #[test]
    fn unknown_kinds_have_none() {
        assert!(schema("", "v1", "Nothing").is_none());
        assert!(schema("apps", "v1", "Deployment").is_some());
        assert!(schema("apiextensions.k8s.io", "v1", "CustomResourceDefinition").is_some());
    }
}
