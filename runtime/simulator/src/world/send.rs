//! Sends operations: one request each, but for questions that only the server can answer.

use std::time::Duration;

use http::{Method, Request};
use kube::Client;
use serde_json::Value;

use super::cache::Cache;
use super::kinds::ObjectKey;
use super::object::{list, text};
use super::operation::{Operation, Removal};

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Done, or there was nothing to do: the watches will show.
    Well,
    /// Reconcile again after this time.
    Again(Duration),
}

/// Delay after a transient failure.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// How an operation ended, and the object as it is by it.
pub(super) type Outcome = (Ended, Option<(ObjectKey, Value)>);

/// Sends one operation.
pub(super) async fn apply(client: &Client, cache: &Cache, operation: Operation) -> Outcome {
    let (key, made) = match operation {
        Operation::Later(time) | Operation::Again(time) => return (Ended::Again(time), None),
        // The loop does these itself.
        Operation::Call(_) | Operation::Forget(_) => return (Ended::Well, None),
        Operation::IfGone(owners, operation) => {
            return if_gone(client, cache, owners, *operation).await;
        }
        Operation::EndNamespace(key, body) => {
            return (end_namespace(client, cache, &key, &body).await, None);
        }
        Operation::Delete(key, removal) => {
            let deleted = delete(client, &key, &removal).await;
            return (classify_outcome(deleted.map(drop)), None);
        }
        Operation::Bind(key, node, body) => {
            let path = format!("{}/binding", key.path());
            let bound = send(client, Method::POST, &path, (JSON, &body)).await;
            let pod = cache.get(&key).cloned();
            let bound = bound.map(|_| {
                let mut pod = pod.unwrap_or_default();
                pod["spec"]["nodeName"] = Value::from(node);
                pod
            });
            (key, bound)
        }
        Operation::Create(key, body) => {
            let made = send(client, Method::POST, &key.collection(), (JSON, &body)).await;
            (key, made)
        }
        Operation::Replace(key, body) => {
            let made = send(client, Method::PUT, &key.path(), (JSON, &body)).await;
            (key, made)
        }
        Operation::Patch(key, sub, body) => {
            let path = match sub {
                Some(sub) => format!("{}/{sub}", key.path()),
                None => key.path(),
            };
            let made = send(client, Method::PATCH, &path, (MERGE, &body)).await;
            (key, made)
        }
    };
    match made {
        Ok(object) => (Ended::Well, Some((key, object))),
        Err(error) => (classify_outcome(Err(error)), None),
    }
}

/// Classifies the result of a request. Conflicts and absent objects need no action, because the
/// watches will show them.
fn classify_outcome(outcome: kube::Result<()>) -> Ended {
    match outcome {
        Ok(()) => Ended::Well,
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404 | 422) => {
            tracing::debug!("the world is refused: {}", status.message);
            Ended::Well
        }
        Err(_) => Ended::Again(AGAIN),
    }
}

async fn delete(client: &Client, key: &ObjectKey, removal: &Removal) -> kube::Result<Value> {
    let options = removal.options();
    send(client, Method::DELETE, &key.path(), (JSON, &options)).await
}

async fn if_gone(
    client: &Client,
    cache: &Cache,
    owners: Vec<(ObjectKey, String)>,
    operation: Operation,
) -> Outcome {
    for (key, uid) in owners {
        match send(client, Method::GET, &key.path(), (JSON, &Value::Null)).await {
            Ok(found) if text(&found, "/metadata/uid").as_ref() == Some(&uid) => {
                return (Ended::Again(AGAIN), None);
            }
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(_) => return (Ended::Again(AGAIN), None),
        }
    }
    Box::pin(apply(client, cache, operation)).await
}

async fn end_namespace(client: &Client, cache: &Cache, key: &ObjectKey, body: &Value) -> Ended {
    for kind in cache.kinds().iter().filter(|k| k.namespaced) {
        let path = format!("{}?limit=1", kind.path(Some(&key.name)));
        match send(client, Method::GET, &path, (JSON, &Value::Null)).await {
            Ok(found) if list(&found, "/items").is_empty() => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Ok(_) | Err(_) => return Ended::Again(AGAIN),
        }
    }
    let path = format!("{}/finalize", key.path());
    classify_outcome(
        send(client, Method::PUT, &path, (JSON, body))
            .await
            .map(drop),
    )
}

pub(super) async fn send(
    client: &Client,
    method: Method,
    path: &str,
    (kind, body): (&str, &Value),
) -> kube::Result<Value> {
    let body = match body.is_null() {
        true => Vec::new(),
        false => body.to_string().into_bytes(),
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(http::header::CONTENT_TYPE, kind)
        .body(body)
        .map_err(|e| kube::Error::BuildRequest(kube::core::request::Error::BuildRequest(e)))?;
    client.request(request).await
}

/// Creates an object if it does not exist yet.
pub(super) async fn ensure(client: &Client, key: &ObjectKey, object: &Value, status: Value) {
    let made = send(client, Method::POST, &key.collection(), (JSON, object)).await;
    if made.is_ok() {
        let patch = Operation::Patch(key.clone(), Some("status"), status);
        apply(client, &Cache::default(), patch).await;
    }
}
