//! Schema of a kind in an API server's OpenAPI document. It is enough to know the values that a
//! field may have. This module does not depend on any object.

use anyhow::{Context, Result};
use http::Request;
use kube::Client;
use kube::core::ApiResource;
use serde_json::{Map, Value, json};

/// All schemas of one group and version.
#[derive(Clone, Debug)]
pub(super) struct Schemas(Map<String, Value>);

/// One of them, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema<'a> {
    all: &'a Map<String, Value>,
    node: &'a Value,
}

impl Schemas {
    /// Fetches the schemas from the API server.
    ///
    /// # Errors
    /// It does not answer, or has no such document.
    pub(super) async fn fetch(client: &Client, kind: &ApiResource) -> Result<Self> {
        let path = match kind.group.as_str() {
            "" => format!("/openapi/v3/api/{}", kind.version),
            group => format!("/openapi/v3/apis/{group}/{}", kind.version),
        };
        let request = Request::get(&path).body(Vec::new())?;
        let document: Value = client.request(request).await?;
        let all = document.pointer("/components/schemas");
        let all = all.and_then(Value::as_object).cloned();
        Ok(Self(all.with_context(|| format!("{path} has no schemas"))?))
    }

    pub(super) fn of_kind(&self, kind: &ApiResource) -> Result<Schema<'_>> {
        let named = json!({ "group": kind.group, "version": kind.version, "kind": kind.kind });
        let is_it = |schema: &&Value| {
            let kinds = schema["x-kubernetes-group-version-kind"].as_array();
            kinds.is_some_and(|kinds| kinds.contains(&named))
        };
        let node = self.0.values().find(is_it);
        Ok(Schema {
            all: &self.0,
            node: node.with_context(|| format!("no schema of {named}"))?,
        })
    }
}

impl<'a> Schema<'a> {
    fn part(self, node: &'a Value) -> Self {
        let whole = node.get("allOf").and_then(|all| all.get(0)).unwrap_or(node);
        let name = whole.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|name| name.rsplit('/').next());
        let node = name.and_then(|name| self.all.get(name)).unwrap_or(whole);
        Self { node, ..self }
    }

    /// Returns the schema of a field, or of any entry if this is a map.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        let property = self.node.get("properties").and_then(|all| all.get(name));
        let any = self.node.get("additionalProperties");
        Some(self.part(property.or(any)?))
    }

    /// Returns the schema of an element.
    pub(super) fn element(self) -> Option<Self> {
        Some(self.part(self.node.get("items")?))
    }

    /// Returns true if it is a map, whose keys can be chosen freely.
    pub(super) fn is_map(self) -> bool {
        self.node.get("additionalProperties").is_some()
    }

    /// Returns other values that a scalar may have, the most useful first.
    pub(super) fn others(self, value: &Value) -> Vec<Value> {
        let listed = self.node.get("enum").and_then(Value::as_array);
        let mut all: Vec<Value> = listed.into_iter().flatten().cloned().collect();
        match value {
            Value::Bool(is) => all.push(json!(!is)),
            Value::Number(number) => {
                let number = number.as_i64().unwrap_or_default();
                all.extend([json!(number + 1), json!(number - 1)]);
            }
            Value::String(text) if self.node["format"] == "byte" => {
                all.extend([json!("ZWRpdGVk"), json!(text.clone() + "ZWRpdGVk")]);
            }
            Value::String(text) => {
                // Words of Kubernetes that schemas do not list.
                let words = KNOWN.iter().filter(|words| words.contains(&text.as_str()));
                all.extend(words.flat_map(|words| words.iter().map(|word| json!(word))));
                let longer = [format!("{text}x"), format!("1{text}"), format!("{text}-x")];
                all.extend(longer.map(Value::from));
            }
            Value::Null | Value::Array(_) | Value::Object(_) => {}
        }
        all.retain(|other| other != value && other != "");
        all
    }
}

const KNOWN: [&[&str]; 5] = [
    &["ClusterIP", "NodePort", "LoadBalancer"],
    &["TCP", "UDP"],
    &["Cluster", "Local"],
    &["True", "False", "Unknown"],
    &["Hostname", "IP"],
];
