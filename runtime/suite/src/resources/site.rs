//! Plain requests of an administrator, by path. They keep promises, and moves consist of them.

use std::any::Any;
use std::sync::Arc;

use http::Request;
use kube::Client;
use serde_json::{Value, json};

use super::cluster::Later;
use super::external::ExternalSystem;
use super::fixture::split;

/// Environment of one object of the lifecycle, in which a promise is kept.
#[derive(Clone)]
pub struct Site {
    pub(crate) client: Client,
    /// Object to which the promise was made, as its last reconciliation observed it.
    pub object: Arc<Value>,
    pub(crate) outside: Arc<dyn ExternalSystem>,
}

/// Keeps a promise. Returns true if it changed anything.
pub(crate) type PromiseKeeper =
    Arc<dyn Fn(Site) -> Later<'static, kube::Result<bool>> + Send + Sync>;

impl Site {
    /// A client that may do everything.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the external system of this run if it has this type.
    pub fn outside<O: ExternalSystem>(&self) -> Option<&O> {
        let outside: &dyn Any = &*self.outside;
        outside.downcast_ref()
    }

    /// Reads an object.
    ///
    /// # Errors
    /// Returns an error of the server, except for an object that does not exist.
    pub async fn get(&self, path: &str) -> kube::Result<Option<Value>> {
        get(&self.client, path).await
    }

    /// Changes an object, including its status, if it exists. Returns true if it existed and has
    /// changed.
    ///
    /// # Errors
    /// Those of the server.
    pub async fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) -> kube::Result<bool> {
        let Some(before) = self.get(path).await? else {
            return Ok(false);
        };
        let mut after = before.clone();
        change(&mut after);
        if without_nulls(&before) == without_nulls(&after) {
            return Ok(false);
        }
        let status = after.get("status").cloned();
        let mut changed = after;
        if without_status(&changed) != without_status(&before) {
            changed = put(&self.client, path, &changed).await?;
        }
        if let Some(status) =
            status.filter(|s| before.get("status").map(without_nulls) != Some(without_nulls(s)))
        {
            changed["status"] = status;
            put(&self.client, &format!("{path}/status"), &changed).await?;
        }
        Ok(true)
    }

    /// The path of an object of a kind in the namespace of the object: `site.beside("/api/v1", "services", name)`.
    pub fn sibling_path(&self, root: &str, plural: &str, name: &str) -> String {
        let namespace = self.object.pointer("/metadata/namespace");
        match namespace.and_then(Value::as_str) {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{plural}/{name}"),
            None => format!("{root}/{plural}/{name}"),
        }
    }

    /// `metadata.name` of the object.
    pub fn name(&self) -> &str {
        let name = self.object.pointer("/metadata/name");
        name.and_then(Value::as_str).unwrap_or_default()
    }
}

/// Returns a value without fields that are null. A server shows some null fields that no client
/// set, such as times of conditions.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let given = fields.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                given
                    .map(|(name, value)| (name.clone(), without_nulls(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn without_status(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("status");
    }
    object
}

fn request(
    method: http::Method,
    path: &str,
    body: &Value,
    kind: &str,
) -> kube::Result<Request<Vec<u8>>> {
    let body = if body.is_null() {
        Vec::new()
    } else {
        body.to_string().into_bytes()
    };
    Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, kind)
        .body(body)
        .map_err(|e| kube::Error::BuildRequest(kube::core::request::Error::BuildRequest(e)))
}

const JSON: &str = "application/json";
/// Field manager for the operations of other controllers and users.
pub(crate) const SOMEBODY: &str = "somebody";

pub(crate) async fn get(client: &Client, path: &str) -> kube::Result<Option<Value>> {
    let asked = request(http::Method::GET, path, &Value::Null, JSON)?;
    match client.request::<Value>(asked).await {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) async fn post(client: &Client, all: &str, object: &Value) -> kube::Result<Value> {
    let path = format!("{all}?fieldManager={SOMEBODY}");
    client
        .request(request(http::Method::POST, &path, object, JSON)?)
        .await
}

pub(crate) async fn put(client: &Client, path: &str, object: &Value) -> kube::Result<Value> {
    let path = format!("{path}?fieldManager={SOMEBODY}");
    client
        .request(request(http::Method::PUT, &path, object, JSON)?)
        .await
}

pub(crate) async fn patch(client: &Client, path: &str, patch: &Value) -> kube::Result<Value> {
    let path = format!("{path}?fieldManager={SOMEBODY}");
    let kind = "application/merge-patch+json";
    client
        .request(request(http::Method::PATCH, &path, patch, kind)?)
        .await
}

/// Applies fields by force.
pub(crate) async fn apply(client: &Client, path: &str, fields: Value) -> kube::Result<Value> {
    let path = format!("{path}?fieldManager={SOMEBODY}&force=true");
    let kind = "application/apply-patch+yaml";
    client
        .request(request(http::Method::PATCH, &path, &fields, kind)?)
        .await
}

/// Deletes an object. Returns true if it existed.
pub(crate) async fn delete(client: &Client, path: &str) -> kube::Result<bool> {
    let options = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", "gracePeriodSeconds": 0 });
    let asked = request(http::Method::DELETE, path, &options, JSON)?;
    match client.request::<Value>(asked).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a fixture, with the status that it has.
pub(crate) async fn create(client: &Client, all: &str, object: &Value) -> kube::Result<()> {
    let mut made = post(client, all, object).await?;
    let Some(status) = object.get("status") else {
        return Ok(());
    };
    if made.get("status") == Some(status) {
        return Ok(());
    }
    let name = made.pointer("/metadata/name").and_then(Value::as_str);
    let path = format!("{all}/{}/status", name.unwrap_or_default());
    made["status"] = status.clone();
    put(client, &path, &made).await.map(drop)
}

/// Replaces the existing object by another variant of a fixture. The object keeps its identity.
pub(crate) async fn replace(client: &Client, path: &str, object: &Value) -> kube::Result<()> {
    let live = get(client, path).await?.unwrap_or_default();
    let mut wanted = object.clone();
    for key in [
        "uid",
        "resourceVersion",
        "finalizers",
        "ownerReferences",
        "creationTimestamp",
    ] {
        if let Some(value) = live.pointer(&format!("/metadata/{key}")) {
            wanted["metadata"][key] = value.clone();
        }
    }
    // Annotations of other users stay, as they do when a user applies a manifest.
    let noted = live
        .pointer("/metadata/annotations")
        .and_then(Value::as_object);
    for (key, value) in noted.into_iter().flatten() {
        let own = &mut wanted["metadata"]["annotations"];
        if own.get(key).is_none() {
            own[key.as_str()] = value.clone();
        }
    }
    let status = wanted.get("status").cloned();
    if let Some(old) = live.get("status") {
        wanted["status"] = old.clone();
    }
    let mut changed = put(client, path, &wanted).await?;
    if let Some(status) = status.filter(|s| changed.get("status") != Some(s)) {
        changed["status"] = status;
        put(client, &format!("{path}/status"), &changed).await?;
    }
    Ok(())
}

/// Returns an object of another user with the content of one of ours.
pub(crate) fn as_foreign(ours: &Value, path: &str) -> Value {
    let mut foreign = ours.clone();
    if let Some(fields) = foreign.as_object_mut() {
        fields.remove("status");
    }
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or_default();
    let mut meta = serde_json::Map::new();
    meta.insert("name".to_owned(), json!(name));
    if let Some(labels) = ours.pointer("/metadata/labels") {
        meta.insert("labels".to_owned(), labels.clone());
    }
    let namespace = path.split("/namespaces/").nth(1);
    if let Some(namespace) = namespace.and_then(|rest| rest.split('/').next()) {
        meta.insert("namespace".to_owned(), json!(namespace));
    }
    foreign["metadata"] = Value::Object(meta);
    foreign
}

/// The path of all objects beside one.
pub(crate) fn all_of(path: &str) -> &str {
    split(path).map_or(path, |(all, _)| all)
}
