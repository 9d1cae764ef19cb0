//! Dry run of the first write of each object on the live API server. The same request is sent again
//! with `dryRun=All`, so that the server does not persist it. Later writes follow from the first,
//! so the server cannot evaluate them.

use clap::ValueEnum;
use http::Request;
use kube::Client;
use lifecycle_client::kube::one_line;
use lifecycle_simulator::mirror::Write;
use serde_json::Value;

use crate::plan::changes::by_object;
use crate::plan::planned::{Change, Server};

/// Server that is queried about the acceptance of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// The copy alone.
    #[default]
    Copy,
    /// The live API server as well, with its webhooks, policies and quotas.
    Server,
}

/// Dry-runs each change.
pub(crate) async fn check_changes(live: &Client, writes: &[Write], changes: &mut [Change]) {
    for written in by_object(writes) {
        let first = written.writes[0];
        let same = |change: &&mut Change| {
            let namespace = change.namespace.as_deref().unwrap_or_default();
            (change.group.as_str(), change.kind.as_str()) == (&first.group, &first.kind)
                && (namespace, change.name.as_str()) == (&first.namespace, &first.name)
        };
        let Some(change) = changes.iter_mut().find(same) else {
            continue;
        };
        change.server = Some(match send_dry_run(live, first).await {
            Ok(_) => Server::Accepts,
            Err(error) => Server::Refuses(one_line(&error)),
        });
    }
}

async fn send_dry_run(live: &Client, write: &Write) -> Result<Value, kube::Error> {
    let version = match &write.before {
        Some(before) => {
            let path = write.uri.split('?').next().unwrap_or_default();
            let within = format!("/{}", write.subresource);
            let path = path.strip_suffix(&within).unwrap_or(path);
            let now = live.request::<Value>(request("GET", path, "", Vec::new())?);
            let copied = before["metadata"]["resourceVersion"].clone();
            Some((copied, now.await?["metadata"]["resourceVersion"].clone()))
        }
        None => None,
    };
    let mut body: Value = serde_json::from_slice(&write.body).unwrap_or_default();
    if let Some((copied, now)) = &version {
        replace(&mut body, copied, now);
    }
    let body = match body.is_null() {
        true => Vec::new(),
        false => body.to_string().into_bytes(),
    };
    let join = if write.uri.contains('?') { '&' } else { '?' };
    let uri = format!("{}{join}dryRun=All", write.uri);
    live.request(request(
        write.method.as_str(),
        &uri,
        &write.content_type,
        body,
    )?)
    .await
}

/// Replaces the copy's resource version with the live cluster's, wherever the body names it.
fn replace(body: &mut Value, copied: &Value, now: &Value) {
    match body {
        Value::Object(map) => {
            // As a test of a JSON patch.
            let is_test = map
                .get("path")
                .is_some_and(|path| path == "/metadata/resourceVersion");
            for (name, value) in map {
                let is_version = name == "resourceVersion" || is_test && name == "value";
                match is_version && value == copied {
                    true => *value = now.clone(),
                    false => replace(value, copied, now),
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                replace(value, copied, now);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn request(
    method: &str,
    uri: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Result<Request<Vec<u8>>, kube::Error> {
    let mut request = Request::builder().method(method).uri(uri);
    if !content_type.is_empty() {
        request = request.header(http::header::CONTENT_TYPE, content_type);
    }
    request.body(body).map_err(kube::Error::HttpError)
}
