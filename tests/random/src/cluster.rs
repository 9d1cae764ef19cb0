//! The cluster of a run, as an administrator sees and changes it: at once, without a client.

use http::{Method, Request};
use lifecycle_simulator::server::{Content, Server, User};
use serde_json::{Value, json};

use crate::things::{self, KINDS, Thing, path};

/// Finalizer that keeps an object from being removed.
const LINGERS: &str = "random.test/lingers";

/// A cluster with all kinds in it.
#[derive(Clone, Debug)]
pub struct Cluster(pub Server);

impl Cluster {
    /// A new one; others are copied from it.
    pub fn new() -> Self {
        let server = Server::new(1);
        let cluster = Self(server);
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for kind in 0..KINDS {
            let made = cluster.request(Method::POST, all, &things::definition::<Thing>(kind));
            made.expect("a kind can be defined");
        }
        cluster
    }

    /// The same with objects of its own.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self(self.0.copy())
    }

    /// One request; the status where it fails.
    pub(crate) fn request(&self, method: Method, path: &str, body: &Value) -> Result<Value, u16> {
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header(http::header::CONTENT_TYPE, "application/json")
            .body(body);
        let reply = self
            .0
            .serve(&User::admin(), &request.expect("the request is whole"));
        match reply.content {
            Content::Whole(bytes) if reply.status < 300 => {
                Ok(serde_json::from_slice(&bytes).unwrap_or_default())
            }
            Content::Whole(_) | Content::Watch(_) => Err(reply.status),
        }
    }

    /// All objects of a kind, by name.
    pub fn all(&self, kind: usize) -> Vec<Value> {
        let list = self.request(Method::GET, &path::<Thing>(kind), &Value::Null);
        let items = list
            .ok()
            .and_then(|mut list| list.get_mut("items").map(Value::take));
        let items = items
            .and_then(|items| items.as_array().cloned())
            .unwrap_or_default();
        let kinded = items.into_iter().map(|mut object| {
            object["kind"] = json!(format!("Thing{kind}"));
            object
        });
        kinded.collect()
    }

    /// One object.
    pub fn get(&self, kind: usize, name: &str) -> Option<Value> {
        self.request(
            Method::GET,
            &format!("{}/{name}", path::<Thing>(kind)),
            &Value::Null,
        )
        .ok()
    }

    /// Creates an object. Returns true if it did not exist.
    pub fn create(&self, kind: usize, name: &str, labels: &Value, spec: &Value) -> bool {
        let object = json!({
            "apiVersion": "random.test/v1", "kind": format!("Thing{kind}"),
            "metadata": { "name": name, "namespace": "default", "labels": labels }, "spec": spec,
        });
        let path = format!("{}?fieldManager=somebody", path::<Thing>(kind));
        self.request(Method::POST, &path, &object).is_ok()
    }

    /// Changes an object. Returns true if it exists.
    pub fn edit(&self, kind: usize, name: &str, change: impl FnOnce(&mut Value)) -> bool {
        let Some(mut object) = self.get(kind, name) else {
            return false;
        };
        change(&mut object);
        let path = format!("{}/{name}?fieldManager=somebody", path::<Thing>(kind));
        self.request(Method::PUT, &path, &object).is_ok()
    }

    /// Changes the status of an object. Returns true if it exists.
    pub fn set_answer(&self, kind: usize, name: &str, question: &str, points: u64) -> bool {
        let Some(mut object) = self.get(kind, name) else {
            return false;
        };
        object["status"]["answers"][question] = json!(points);
        let path = format!(
            "{}/{name}/status?fieldManager=somebody",
            path::<Thing>(kind)
        );
        self.request(Method::PUT, &path, &object).is_ok()
    }

    /// Deletes an object. `held` keeps it from being removed.
    pub fn delete(&self, kind: usize, name: &str, held: bool) -> bool {
        if held {
            self.edit(kind, name, |object| {
                let finalizers = object["metadata"]["finalizers"].as_array().cloned();
                let mut finalizers = finalizers.unwrap_or_default();
                finalizers.push(json!(LINGERS));
                object["metadata"]["finalizers"] = Value::Array(finalizers);
            });
        }
        self.request(
            Method::DELETE,
            &format!("{}/{name}", path::<Thing>(kind)),
            &Value::Null,
        )
        .is_ok()
    }

    /// Releases an object. Returns true if a finalizer was removed.
    pub fn loosen(&self, kind: usize, name: &str, finalizer: Option<&str>) -> bool {
        let finalizer = finalizer.unwrap_or(LINGERS);
        let mut found = false;
        self.edit(kind, name, |object| {
            if let Some(finalizers) = object["metadata"]["finalizers"].as_array_mut() {
                let before = finalizers.len();
                finalizers.retain(|f| f.as_str() != Some(finalizer));
                found = finalizers.len() < before;
            }
        });
        found
    }
}

impl Default for Cluster {
    fn default() -> Self {
        Self::new()
    }
}

/// `metadata.name`.
pub fn name(object: &Value) -> &str {
    object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
