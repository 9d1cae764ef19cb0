//! Check that the structure of the simulated server's built-in kinds is the one that the real
//! server publishes. `BLESS=1 cargo test --workspace --test simulator schemas::` rewrites the data;
//! review the difference like code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use http::Request;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case};
use serde_json::{Map, Value};

const DATA: &str = "../runtime/simulator/src/schema/builtin.json";

/// Keywords that decide how values are merged; all others are for people.
const KEPT: [&str; 11] = [
    "type",
    "format",
    "required",
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-map-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
];

/// Served, and of no kind that the simulated server has.
const LEFT_OUT: [&str; 3] = [".k8s.io/v1alpha", ".k8s.io/v1beta", "internal.apiserver"];

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "the_structure_of_built_in_kinds_is_what_the_real_server_publishes",
        &[Need::Binaries],
        is_current,
    )]
}

async fn is_current() -> Result<()> {
    let published = published().await?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(DATA);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, published)?;
        return Ok(());
    }
    let data = std::fs::read_to_string(&path)?;
    let differs = data
        .lines()
        .zip(published.lines())
        .find(|(left, right)| left != right);
    ensure!(
        data == published,
        "{DATA} differs from what the API server publishes, first in {differs:?}; bless it and review the difference"
    );
    Ok(())
}

async fn published() -> Result<String> {
    let server = ApiServer::start().await?;
    let get = async |path: &str| -> Result<Value> {
        let text = server
            .client()
            .request_text(Request::get(path).body(Vec::new())?)
            .await;
        Ok(serde_json::from_str(
            &text.with_context(|| format!("cannot get {path}"))?,
        )?)
    };
    let index = get("/openapi/v3").await?;
    let paths = index["paths"].as_object().context("an index has paths")?;
    let (mut definitions, mut kinds) = (BTreeMap::new(), BTreeMap::new());
    for (name, path) in paths {
        let is_version =
            name == "api/v1" || (name.starts_with("apis/") && name.matches('/').count() == 2);
        if !is_version || LEFT_OUT.iter().any(|part| name.contains(part)) {
            continue;
        }
        let url = path["serverRelativeURL"]
            .as_str()
            .context("a path has a URL")?;
        let document = get(url).await?;
        let schemas = document["components"]["schemas"].as_object();
        for (name, schema) in schemas.into_iter().flatten() {
            if let Some(kind) = kind_of(schema) {
                kinds.insert(kind, name.clone());
            }
            definitions.insert(name.clone(), trimmed(schema));
        }
    }
    let mut reached = BTreeSet::new();
    for name in kinds.values() {
        reach(&definitions, name, &mut reached);
    }
    definitions.retain(|name, _| reached.contains(name));
    let kinds = kinds
        .into_iter()
        .map(|(kind, name)| (kind, Value::from(name)));
    Ok(format!(
        "{{\"definitions\":{{\n{}\n}},\"kinds\":{{\n{}\n}}}}\n",
        lines(definitions),
        lines(kinds)
    ))
}

/// Group, version and kind of a definition that is one, unless it is a list.
fn kind_of(schema: &Value) -> Option<String> {
    let [kind] = schema["x-kubernetes-group-version-kind"]
        .as_array()?
        .as_slice()
    else {
        return None;
    };
    let text = |name: &str| kind[name].as_str().unwrap_or_default();
    let slash = if text("group").is_empty() { "" } else { "/" };
    let is_list = text("kind").ends_with("List");
    (!is_list).then(|| {
        format!(
            "{}{slash}{}/{}",
            text("group"),
            text("version"),
            text("kind")
        )
    })
}

fn trimmed(schema: &Value) -> Value {
    let mut out = Map::new();
    let all_of = schema["allOf"].as_array().filter(|all| all.len() == 1);
    let reference = schema
        .get("$ref")
        .or_else(|| all_of.and_then(|all| all[0].get("$ref")));
    if let Some(name) = reference
        .and_then(Value::as_str)
        .and_then(|path| path.rsplit('/').next())
    {
        out.insert("$ref".to_owned(), name.into());
    }
    for name in KEPT {
        if let Some(value) = schema.get(name) {
            out.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(properties) = schema["properties"].as_object() {
        let properties: Map<String, Value> = properties
            .iter()
            .map(|(name, schema)| (name.clone(), trimmed(schema)))
            .collect();
        out.insert("properties".to_owned(), properties.into());
    }
    for name in ["items", "additionalProperties"] {
        match schema.get(name) {
            None => {}
            Some(Value::Bool(allowed)) => {
                out.insert(name.to_owned(), (*allowed).into());
            }
            Some(below) => {
                out.insert(name.to_owned(), trimmed(below));
            }
        }
    }
    if let Some(one_of) = schema["oneOf"].as_array() {
        out.insert(
            "oneOf".to_owned(),
            one_of.iter().map(trimmed).collect::<Vec<Value>>().into(),
        );
    }
    Value::Object(out)
}

fn reach(definitions: &BTreeMap<String, Value>, name: &str, reached: &mut BTreeSet<String>) {
    if !reached.insert(name.to_owned()) {
        return;
    }
    let mut waiting: Vec<&Value> = definitions.get(name).into_iter().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                    reach(definitions, name, reached);
                }
                waiting.extend(fields.values());
            }
            Value::Array(items) => waiting.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// One entry a line, so that differences can be read.
fn lines(entries: impl IntoIterator<Item = (String, Value)>) -> String {
    let mut text = String::new();
    for (name, value) in entries {
        let comma = if text.is_empty() { "" } else { ",\n" };
        // Writing to a string does not fail.
        let _ = write!(text, "{comma}{}:{value}", Value::from(name));
    }
    text
}
