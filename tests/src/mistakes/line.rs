//! Wrong runtimes and wrong servers: a layer between the two changes requests and answers on their
//! way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use kube::Client;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::suites::layer::{Once, answering, changing, made_up, seeing, versionless, watching};

/// So much later than its answer a write is seen.
const SEEN_AFTER: Duration = Duration::from_millis(50);

/// Removes the version to wait for from answers to writes, and delays the observation of a write
/// until after the next reconciliation.
pub(super) fn fence(client: Client) -> Client {
    let until: Arc<Mutex<Option<Instant>>> = Arc::default();
    answering(move |client, asked| {
        let until = Arc::clone(&until);
        async move {
            let is_watch = asked.uri.contains("watch=true");
            if asked.is_write() && !asked.uri.contains("/events") {
                let mut until = until.lock().unwrap_or_else(PoisonError::into_inner);
                *until = Some(Instant::now() + SEEN_AFTER);
            } else if is_watch {
                let answer = asked.send(&client).await?;
                let until = move || *until.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok(answer.map(|content| content.late(until)));
            } else {
                return asked.send(&client).await;
            }
            versionless(asked.send(&client).await?).await
        }
    })(client)
}

pub(super) fn creation(client: Client) -> Client {
    changing(|asked| {
        if asked.creates()
            && let Some(Value::Object(meta)) = asked.body.pointer_mut("/metadata")
        {
            meta.remove("resourceVersion");
        }
    })(client)
}

pub(super) fn identity(client: Client) -> Client {
    changing(|asked| {
        if asked.method == Method::PATCH
            && let Some(Value::Object(meta)) = asked.body.pointer_mut("/metadata")
        {
            meta.remove("uid");
        }
    })(client)
}

/// Shows an object without owners with the owners seen earlier on an object of its kind and name.
pub(super) fn adoption(client: Client) -> Client {
    let known: Arc<Mutex<BTreeMap<(String, String), Value>>> = Arc::default();
    seeing(move |event| {
        let object = &mut event["object"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let key = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let owners = object["metadata"]["ownerReferences"].clone();
        if !owners.is_null() {
            known.insert(key, owners);
        } else if let Some(owners) = known.get(&key) {
            object["metadata"]["ownerReferences"] = owners.clone();
        }
        true
    })(client)
}

/// Shows the field managers of an object as they were seen first.
pub(super) fn takeover(client: Client) -> Client {
    let first: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
    seeing(move |event| {
        let meta = &mut event["object"]["metadata"];
        let uid = meta["uid"].as_str().unwrap_or_default().to_owned();
        let now = meta["managedFields"].clone();
        if !now.is_null() {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            meta["managedFields"] = first.entry(uid).or_insert(now).clone();
        }
        true
    })(client)
}

pub(super) fn twice(client: Client) -> Client {
    answering(|client, asked| async move {
        if asked.is_write() && !asked.uri.contains("/events") {
            asked.send(&client).await?;
        }
        asked.send(&client).await
    })(client)
}

pub(super) fn breakdown(client: Client) -> Client {
    let failed = Once::default();
    answering(move |client, asked| {
        let failed = failed.clone();
        async move {
            if asked.is_write() && failed.has_been() {
                return Ok(made_up(503, &unavailable()));
            }
            let answer = asked.send(&client).await?;
            if answer.status().is_server_error() {
                failed.is_first();
            }
            Ok(answer)
        }
    })(client)
}

fn unavailable() -> Value {
    json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503,
        "reason": "ServiceUnavailable", "message": "the circuit is open",
    })
}

pub(super) fn reach(client: Client) -> Client {
    changing(|asked| {
        let path = asked.uri.split('?').next().unwrap_or_default();
        if let Some((all, _)) = path.rsplit_once('/')
            && asked.method == Method::DELETE
        {
            asked.uri = all.to_owned();
            asked.body = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
        }
    })(client)
}

pub(super) fn silence(client: Client) -> Client {
    answering(|client, mut asked| async move {
        let object = asked.uri.split_once("/status");
        if let Some((object, _)) = object.filter(|_| asked.is_write()) {
            asked.uri = object.to_owned();
            asked.method = Method::GET;
            asked.body = Value::Null;
        }
        asked.send(&client).await
    })(client)
}

pub(super) fn falsehood(client: Client) -> Client {
    changing(|asked| {
        let rows = asked.body.pointer_mut("/status/conditions");
        for row in rows.and_then(Value::as_array_mut).into_iter().flatten() {
            row["status"] = json!("True");
        }
    })(client)
}

/// Returns true if an event concerns an object that is neither a subject of the lifecycle nor made
/// for one.
fn is_only_watched(event: &Value, subject: &str) -> bool {
    let object = &event["object"];
    event["type"] != "BOOKMARK"
        && object["kind"] != subject
        && object["metadata"]["ownerReferences"].is_null()
}

pub(super) fn deafness(subject: &str, client: Client) -> Client {
    let subject = subject.to_owned();
    seeing(move |event| !(event["type"] == "MODIFIED" && is_only_watched(event, &subject)))(client)
}

pub(super) fn blindness(subject: &str, client: Client) -> Client {
    let subject = subject.to_owned();
    watching(move || {
        let (listed, subject) = (Once::default(), subject.clone());
        move |event: &mut Value| {
            let end = "/object/metadata/annotations/k8s.io~1initial-events-end";
            if event.pointer(end).is_some() {
                listed.is_first();
            }
            !(listed.has_been() && is_only_watched(event, &subject))
        }
    })(client)
}

pub(super) fn lease(client: Client) -> Client {
    answering(|client, asked| async move {
        let answer = asked.send(&client).await?;
        if asked.is_lease() && answer.status().as_u16() == 503 && !asked.body.is_null() {
            return Ok(made_up(200, &asked.body));
        }
        Ok(answer)
    })(client)
}
