//! The kinds that sequences are about: where they are served, the least object of each, and the custom ones' definitions.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::LIMIT;
use super::end::End;

/// A kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    ConfigMap,
    Service,
    Pod,
    Deployment,
    Widget,
    Gadget,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::ConfigMap,
        Self::Service,
        Self::Pod,
        Self::Deployment,
        Self::Widget,
        Self::Gadget,
    ];

    /// Returns true if the status is written separately.
    pub(crate) fn has_status(self) -> bool {
        match self {
            Self::ConfigMap | Self::Gadget => false,
            Self::Service | Self::Pod | Self::Deployment | Self::Widget => true,
        }
    }

    fn resource_names(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::ConfigMap => ("v1", "ConfigMap", "configmaps"),
            Self::Service => ("v1", "Service", "services"),
            Self::Pod => ("v1", "Pod", "pods"),
            Self::Deployment => ("apps/v1", "Deployment", "deployments"),
            Self::Widget => ("test.example.com/v1", "Widget", "widgets"),
            Self::Gadget => ("test.example.com/v1", "Gadget", "gadgets"),
        }
    }

    pub(crate) fn path(self, namespace: &str) -> String {
        let (api_version, _, plural) = self.resource_names();
        let root = if api_version == "v1" { "api" } else { "apis" };
        format!("/{root}/{api_version}/namespaces/{namespace}/{plural}")
    }

    /// An object of the kind with a name and more fields.
    pub(crate) fn object(self, name: &str, fields: Value) -> Value {
        let (api_version, kind, _) = self.resource_names();
        let mut object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
        merge(&mut object, &fields);
        object
    }

    /// The fewest fields that are accepted.
    pub(crate) fn least(self) -> Value {
        let containers = json!([{"name": "main", "image": "a"}]);
        match self {
            Self::ConfigMap => json!({"data": {"a": "1"}}),
            Self::Service => json!({"spec": {"ports": [{"port": 80}]}}),
            Self::Pod => json!({"spec": {"containers": containers}}),
            Self::Deployment => json!({"spec": {
                "selector": {"matchLabels": {"app": "a"}},
                "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}},
            }}),
            Self::Widget => json!({"spec": {"name": "ab"}}),
            Self::Gadget => json!({"spec": {}}),
        }
    }
}

/// A merge patch done to a value.
pub(crate) fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        value.clone_from(patch);
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    for (name, patch) in patch {
        if patch.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), patch);
        }
    }
}

/// Installs the definitions of the custom kinds and waits until they are served.
pub(crate) async fn install(end: &End) -> Result<()> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for definition in [
        definition(Kind::Widget, widget(), true),
        definition(Kind::Gadget, gadget(), false),
    ] {
        let made = end
            .request(Method::POST, path, "application/json", &definition)
            .await?;
        anyhow::ensure!(
            made.code == 201,
            "cannot install a definition: {}",
            made.body
        );
    }
    for kind in [Kind::Widget, Kind::Gadget] {
        let path = kind.path("default");
        eventually("the custom kinds are served", LIMIT, async || {
            let object = kind.object("probe", kind.least());
            let made = end
                .request(Method::POST, &path, "application/json", &object)
                .await?;
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok((made.code == 201 || made.code == 409).then_some(()))
        })
        .await?;
    }
    Ok(())
}

fn definition(kind: Kind, schema: Value, has_status: bool) -> Value {
    let (_, name, plural) = kind.resource_names();
    let subresources = if has_status {
        json!({"status": {}})
    } else {
        json!({})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.test.example.com")},
        "spec": {
            "group": "test.example.com", "scope": "Namespaced",
            "names": {"kind": name, "plural": plural, "singular": name.to_lowercase(), "listKind": format!("{name}List")},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": subresources,
                "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

/// Returns a schema with lists of every sort, defaults, limits, and rules over the new and the old
/// state.
fn widget() -> Value {
    let item = json!({
        "type": "object", "required": ["id"],
        "properties": {
            "id": {"type": "string"}, "zone": {"type": "string", "default": "east"},
            "size": {"type": "integer", "maximum": 9}, "note": {"type": "string", "nullable": true},
        },
    });
    json!({"type": "object", "required": ["spec"], "properties": {
        "spec": {
            "type": "object", "required": ["name"],
            "x-kubernetes-validations": [
                {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "low must not be above high"},
                {"rule": "!has(oldSelf.fixed) || (has(self.fixed) && self.fixed == oldSelf.fixed)", "message": "fixed stays", "fieldPath": ".fixed"},
            ],
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
                "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
                "low": {"type": "integer", "minimum": 1}, "high": {"type": "integer", "format": "int32"},
                "ratio": {"type": "number"}, "on": {"type": "boolean", "default": false},
                "fixed": {"type": "string"}, "port": {"x-kubernetes-int-or-string": true},
                "tags": {"type": "array", "maxItems": 3, "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "steps": {"type": "array", "items": {"type": "string"}},
                "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id", "zone"], "items": item},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                "deep": {"type": "object", "default": {"a": "x"}, "properties": {
                    "a": {"type": "string", "default": "y"}, "b": {"type": "integer", "default": 3},
                }},
            },
        },
        "status": {"type": "object", "properties": {
            "phase": {"type": "string"},
            "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"], "items": {
                "type": "object", "required": ["type"],
                "properties": {"type": {"type": "string"}, "status": {"type": "string"}},
            }},
        }},
    }})
}

/// Free-form, without a status of its own.
fn gadget() -> Value {
    json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "integer"},
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        "extra": {"type": "object", "additionalProperties": true},
    }})
}
