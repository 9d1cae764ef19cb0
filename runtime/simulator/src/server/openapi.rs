//! OpenAPI version 3 of the served kinds: an index with a hash per group and version, and one
//! document for each of them. `kubectl` uses it to explain kinds, and to find the allowed
//! parameters of a request and the patches that a kind accepts.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::discovery::VERSION;
use super::kinds::{Kind, Kinds, Version};
use crate::schema::builtin;

pub(super) const COMPONENTS: &str = "#/components/schemas/";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
const API_VERSION: &str = "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The answer to a path below `/openapi/v3`; nothing where it names no group and version that is served.
pub(crate) fn answer(path: &str, kinds: &Kinds) -> Option<Value> {
    let rest = path.strip_prefix("/openapi/v3")?;
    match rest.trim_matches('/') {
        "" => Some(index(kinds)),
        rest => {
            let place = places(kinds)
                .into_iter()
                .find(|place| place.path() == rest)?;
            Some(document(&place, kinds))
        }
    }
}

/// A group and version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct GroupVersion {
    group: String,
    version: String,
}

impl GroupVersion {
    fn path(&self) -> String {
        if self.group.is_empty() {
            format!("api/{}", self.version)
        } else {
            format!("apis/{}/{}", self.group, self.version)
        }
    }
}

fn places(kinds: &Kinds) -> Vec<GroupVersion> {
    let mut places = Vec::new();
    for kind in kinds.all() {
        for version in kind.versions.iter().filter(|version| version.served) {
            let place = GroupVersion {
                group: kind.group.clone(),
                version: version.name.clone(),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    places
}

/// The schemas of everything that is served, by name.
pub(super) fn schemas(kinds: &Kinds) -> Map<String, Value> {
    let mut schemas = Map::new();
    for kind in kinds.all() {
        for version in kind.versions.iter().filter(|version| version.served) {
            add_schema(kind, version, &mut schemas);
        }
    }
    schemas
}

fn index(kinds: &Kinds) -> Value {
    let paths: Map<String, Value> = places(kinds)
        .iter()
        .map(|place| {
            let hash = hash(place, kinds);
            let url = format!("/openapi/v3/{}?hash={hash:016X}", place.path());
            (place.path(), json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// Another one for every other document: all that one is made of goes in.
fn hash(place: &GroupVersion, kinds: &Kinds) -> u64 {
    let mut text = place.path();
    for kind in kinds.all().filter(|kind| kind.group == place.group) {
        if let Some(version) = kind
            .version(&place.version)
            .filter(|version| version.served)
        {
            text.push_str(&kind.plural);
            if let Some(declared) = &version.declared {
                text.push_str(&declared.to_string());
                text.push_str(&kind.kind);
            }
        }
    }
    fnv_1a(text.as_bytes())
}

fn document(place: &GroupVersion, kinds: &Kinds) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let of_group = kinds.all().filter(|kind| kind.group == place.group);
    for kind in of_group.map(Arc::as_ref) {
        let Some(version) = kind
            .version(&place.version)
            .filter(|version| version.served)
        else {
            continue;
        };
        if let Some(name) = add_schema(kind, version, &mut schemas) {
            add_paths(kind, version, &name, &mut paths);
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": VERSION },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

/// Adds the schema of a kind with everything that it refers to, and returns its name.
fn add_schema(kind: &Kind, version: &Version, schemas: &mut Map<String, Value>) -> Option<String> {
    let gvk = json!([{ "group": kind.group, "version": version.name, "kind": kind.kind }]);
    if let Some(declared) = &version.declared {
        let name = model_name(&kind.group, &version.name, &kind.kind);
        let mut schema = custom(&declared["schema"]["openAPIV3Schema"]);
        schema["x-kubernetes-group-version-kind"] = gvk;
        schemas.insert(name.clone(), schema);
        add_definition(OBJECT_META, schemas);
        add_list(kind, version, &name, schemas);
        add_definition(LIST_META, schemas);
        return Some(name);
    }
    let name = builtin::name(&kind.group, &version.name, &kind.kind)?.to_owned();
    add_definition(&name, schemas);
    schemas.get_mut(&name)?["x-kubernetes-group-version-kind"] = gvk;
    Some(name)
}

/// Returns the schema of a custom resource from its definition, with the fields that every object
/// has.
fn custom(declared: &Value) -> Value {
    let mut schema = declared.clone();
    if !schema.is_object() {
        schema = json!({ "type": "object" });
    }
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"]["apiVersion"] = json!({ "description": API_VERSION, "type": "string" });
    schema["properties"]["kind"] = json!({ "description": KIND, "type": "string" });
    schema["properties"]["metadata"] = described_reference(OBJECT_META, METADATA);
    schema
}

fn add_list(kind: &Kind, version: &Version, item: &str, schemas: &mut Map<String, Value>) {
    let list = json!({
        "description": format!("{} is a list of {}", kind.list_kind, kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": { "description": API_VERSION, "type": "string" },
            "kind": { "description": KIND, "type": "string" },
            "metadata": described_reference(LIST_META, METADATA),
            "items": {
                "description": format!("List of {}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md", kind.plural),
                "type": "array",
                "items": { "$ref": format!("{COMPONENTS}{item}") },
            },
        },
        "x-kubernetes-group-version-kind": [{ "group": kind.group, "version": version.name, "kind": kind.list_kind }],
    });
    schemas.insert(
        model_name(&kind.group, &version.name, &kind.list_kind),
        list,
    );
}

fn described_reference(name: &str, description: &str) -> Value {
    json!({ "description": description, "allOf": [{ "$ref": format!("{COMPONENTS}{name}") }] })
}

/// `example.com`, `v1`, `Thing` to `com.example.v1.Thing`.
fn model_name(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.split('.').rev().collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

/// Adds a definition of the built-in kinds, and those that it refers to.
fn add_definition(name: &str, schemas: &mut Map<String, Value>) {
    if schemas.contains_key(name) {
        return;
    }
    let Some(definition) = builtin::definitions().get(name).cloned() else {
        return;
    };
    let (mut definition, mut referred) = (definition, Vec::new());
    rewrite_references(&mut definition, &mut referred);
    schemas.insert(name.to_owned(), definition);
    for name in referred {
        add_definition(&name, schemas);
    }
}

/// Makes references whole, and notes where they lead. Beside a reference nothing else may stand, so that it moves into `allOf`.
fn rewrite_references(value: &mut Value, referred: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            // The schema of a schema has a field of that name, which is an object.
            let name = fields.get("$ref").and_then(Value::as_str);
            if let Some(name) = name.map(str::to_owned) {
                fields.remove("$ref");
                let reference = json!({ "$ref": format!("{COMPONENTS}{name}") });
                if fields.is_empty() {
                    *value = reference;
                } else {
                    fields.insert("allOf".to_owned(), json!([reference]));
                }
                referred.push(name);
                return;
            }
            fields
                .values_mut()
                .for_each(|field| rewrite_references(field, referred));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rewrite_references(item, referred)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn add_paths(kind: &Kind, version: &Version, schema: &str, paths: &mut Map<String, Value>) {
    let prefix = match kind.group.as_str() {
        "" => format!("/api/{}", version.name),
        group => format!("/apis/{group}/{}", version.name),
    };
    let operation = |action: &str, parameters: &[&str]| {
        let parameters: Vec<Value> = parameters.iter().map(|name| json!({
            "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true },
        })).collect();
        let reply = json!({ "application/json": { "schema": { "$ref": format!("{COMPONENTS}{schema}") } } });
        json!({
            "parameters": parameters,
            "responses": { "200": { "description": "OK", "content": reply } },
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": { "group": kind.group, "version": version.name, "kind": kind.kind },
        })
    };
    let scope = if kind.namespaced {
        "/namespaces/{namespace}"
    } else {
        ""
    };
    let collection = format!("{prefix}{scope}/{}", kind.plural);
    let create = operation("post", &["dryRun", "fieldManager", "fieldValidation"]);
    if kind.virtual_only {
        paths.insert(collection, json!({ "post": create }));
        return;
    }
    let list = operation(
        "list",
        &[
            "continue",
            "fieldSelector",
            "labelSelector",
            "limit",
            "resourceVersion",
            "watch",
        ],
    );
    if kind.namespaced {
        paths.insert(format!("{prefix}/{}", kind.plural), json!({ "get": list }));
    }
    let mut patch = operation(
        "patch",
        &["dryRun", "fieldManager", "fieldValidation", "force"],
    );
    patch["requestBody"] = json!({ "required": true, "content": patches(kind) });
    let replace = operation("put", &["dryRun", "fieldManager", "fieldValidation"]);
    let delete = operation(
        "delete",
        &["dryRun", "gracePeriodSeconds", "propagationPolicy"],
    );
    paths.insert(
        format!("{collection}/{{name}}"),
        json!({
            "get": operation("get", &[]), "put": replace, "patch": patch, "delete": delete,
        }),
    );
    paths.insert(collection, json!({ "get": list, "post": create }));
}

fn patches(kind: &Kind) -> Value {
    let mut types = vec![
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/apply-patch+yaml",
    ];
    if !kind.custom {
        types.push("application/strategic-merge-patch+json");
    }
    let body = json!({ "schema": { "type": "object" } });
    types
        .into_iter()
        .map(|name| (name.to_owned(), body.clone()))
        .collect::<Map<_, _>>()
        .into()
}

/// FNV-1a with 64 bits: the same on every machine and in every release.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::builtin::kinds;
    use super::*;

    fn answer_for(path: &str) -> Option<Value> {
        answer(path, &kinds())
    }

    #[test]
    fn the_index_names_a_document_for_each_group_and_version() {
        let index = answer_for("/openapi/v3").unwrap();
        let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"]
            .as_str()
            .unwrap();
        assert!(url.starts_with("/openapi/v3/apis/apps/v1?hash="), "{url}");
        for path in index["paths"].as_object().unwrap().keys() {
            assert!(
                answer_for(&format!("/openapi/v3/{path}")).is_some(),
                "{path}"
            );
        }
        assert!(answer_for("/openapi/v3/apis/apps/v9").is_none());
    }

    #[test]
    fn a_document_holds_all_that_it_refers_to() {
        let document = answer_for("/openapi/v3/apis/apps/v1").unwrap();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        let references = text
            .split(COMPONENTS)
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap());
        let missing: Vec<_> = references
            .filter(|name| !schemas.contains_key(*name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        let deployment = &schemas["io.k8s.api.apps.v1.Deployment"];
        assert_eq!(
            deployment["x-kubernetes-group-version-kind"][0]["kind"],
            "Deployment"
        );
    }

    #[test]
    fn a_patch_says_its_parameters_and_forms() {
        let document = answer_for("/openapi/v3/api/v1").unwrap();
        let patch = &document["paths"]["/api/v1/namespaces/{namespace}/services/{name}"]["patch"];
        let parameters = patch["parameters"].as_array().unwrap();
        assert!(
            parameters
                .iter()
                .any(|parameter| parameter["name"] == "fieldValidation")
        );
        assert!(
            !patch["requestBody"]["content"]["application/strategic-merge-patch+json"].is_null()
        );
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Service");
    }

    #[test]
    fn a_custom_schema_gets_what_every_object_has() {
        let declared = json!({ "type": "object", "properties": { "spec": { "type": "object", "description": "what" } } });
        let schema = custom(&declared);
        assert_eq!(schema["properties"]["spec"]["description"], "what");
        assert_eq!(schema["properties"]["kind"]["type"], "string");
        assert_eq!(
            schema["properties"]["metadata"]["allOf"][0]["$ref"],
            format!("{COMPONENTS}{OBJECT_META}")
        );
        assert_eq!(
            model_name("listeners.example.tech", "v1", "A"),
            "tech.example.listeners.v1.A"
        );
    }
}
