//! One of the two servers, queried over a plain client. Both get the same requests, regardless of
//! their answers.

use anyhow::{Context, Result};
use futures::{AsyncBufReadExt as _, TryStreamExt as _};
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};

use super::LIMIT;
use super::kinds::{self, Kind};
use super::plan::{Named, Patch, Sequence, Step, Target};

/// Name of the object that ends a watch.
const SENTINEL: &str = "zz-sentinel";

/// An answer: the code and the body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

/// All answers of a server to a sequence.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    /// One for each step.
    pub(crate) answers: Vec<Answer>,
    /// Remaining objects, by kind.
    pub(crate) left: Vec<Answer>,
    /// The events of the kind that is watched.
    pub(crate) events: Vec<Value>,
}

/// A server.
pub(crate) struct End {
    client: Client,
}

impl End {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Sends a request and accepts any answer.
    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        content: &str,
        body: &Value,
    ) -> Result<Answer> {
        let bytes = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body)?
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content)
            .header("user-agent", "differential")
            .body(Body::from(bytes))?;
        let asked = async {
            let response = self.client.send(request).await?;
            let code = response.status().as_u16();
            let bytes = response.into_body().collect_bytes().await?;
            let body = serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&bytes).into_owned()));
            anyhow::Ok(Answer { code, body })
        };
        let answer = tokio::time::timeout(LIMIT, asked).await;
        answer
            .with_context(|| format!("no answer in time to {path}"))?
            .with_context(|| format!("cannot ask {path}"))
    }

    async fn json(&self, method: Method, path: &str, body: &Value) -> Result<Answer> {
        self.request(method, path, "application/json", body).await
    }

    async fn get(&self, path: &str) -> Result<Answer> {
        self.json(Method::GET, path, &Value::Null).await
    }

    /// Sends a sequence within a namespace that is new.
    pub(crate) async fn run(&self, namespace: &str, sequence: &Sequence) -> Result<Transcript> {
        let object =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        let made = self
            .json(Method::POST, "/api/v1/namespaces", &object)
            .await?;
        let start = made.body["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let mut answers = Vec::new();
        for step in &sequence.steps {
            answers.push(self.step(namespace, step).await?);
        }
        let mut left = Vec::new();
        for kind in Kind::ALL {
            left.push(self.get(&kind.path(namespace)).await?);
        }
        let events = self.events(namespace, sequence.watched, &start).await?;
        Ok(Transcript {
            answers,
            left,
            events,
        })
    }

    async fn step(&self, namespace: &str, step: &Step) -> Result<Answer> {
        let path = |target: &Target| {
            let status = if target.status { "/status" } else { "" };
            format!("{}/{}{status}", target.kind.path(namespace), target.name)
        };
        match step {
            Step::Create(target, object) => {
                self.json(Method::POST, &target.kind.path(namespace), object)
                    .await
            }
            Step::Put(target, change, version) => {
                let plain = format!("{}/{}", target.kind.path(namespace), target.name);
                let live = self.get(&plain).await?;
                if live.code != 200 {
                    return Ok(live);
                }
                let mut object = live.body;
                kinds::merge(&mut object, change);
                name_version(&mut object, *version);
                self.json(Method::PUT, &path(target), &object).await
            }
            Step::Patch(target, patch, body) => {
                let content = match patch {
                    Patch::Json => "application/json-patch+json",
                    Patch::Merge => "application/merge-patch+json",
                    Patch::Strategic => "application/strategic-merge-patch+json",
                };
                self.request(
                    Method::PATCH,
                    &format!("{}?fieldManager=patcher", path(target)),
                    content,
                    body,
                )
                .await
            }
            Step::Apply {
                target,
                manager,
                force,
                object,
            } => {
                let path = format!("{}?fieldManager={manager}&force={force}", path(target));
                self.request(Method::PATCH, &path, "application/apply-patch+yaml", object)
                    .await
            }
            Step::Delete {
                target,
                version,
                uid,
                propagation,
            } => {
                let plain = path(target);
                let live = self.get(&plain).await?;
                let mut preconditions = json!({});
                let metadata = &live.body["metadata"];
                for (name, named, stale) in [
                    ("resourceVersion", version, "1"),
                    ("uid", uid, "00000000-0000-0000-0000-000000000000"),
                ] {
                    match named {
                        Named::Nothing => {}
                        Named::Current => preconditions[name] = metadata[name].clone(),
                        Named::Stale => preconditions[name] = stale.into(),
                    }
                }
                let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
                if preconditions != json!({}) {
                    options["preconditions"] = preconditions;
                }
                if let Some(policy) = propagation {
                    options["propagationPolicy"] = (*policy).into();
                }
                self.json(Method::DELETE, &plain, &options).await
            }
            Step::Get(target) => self.get(&path(target)).await,
            Step::List(kind, query) => self.get(&format!("{}?{query}", kind.path(namespace))).await,
        }
    }

    /// Every event of a kind since a version, up to an object that is made for the purpose.
    async fn events(&self, namespace: &str, kind: Kind, start: &str) -> Result<Vec<Value>> {
        let path = kind.path(namespace);
        let object = kind.object(SENTINEL, kind.least());
        let made = self.json(Method::POST, &path, &object).await?;
        anyhow::ensure!(
            made.code == 201,
            "cannot make what ends a watch: {}",
            made.body
        );
        let request = Request::get(format!(
            "{path}?watch=true&resourceVersion={start}&timeoutSeconds=60"
        ));
        let read = async {
            let stream = self
                .client
                .request_stream(request.body(Vec::new())?)
                .await?;
            let mut lines = stream.lines();
            let mut events = Vec::new();
            while let Some(line) = lines.try_next().await? {
                let event: Value = serde_json::from_str(&line)?;
                if event["object"]["metadata"]["name"] == SENTINEL {
                    return anyhow::Ok(events);
                }
                events.push(event);
            }
            anyhow::bail!("the watch ended early")
        };
        tokio::time::timeout(LIMIT, read)
            .await
            .context("the watch shows no end")?
    }
}

fn name_version(object: &mut Value, version: Named) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return;
    };
    match version {
        Named::Nothing => {
            metadata.remove("resourceVersion");
        }
        Named::Current => {}
        Named::Stale => {
            metadata.insert("resourceVersion".to_owned(), "1".into());
        }
    }
}
