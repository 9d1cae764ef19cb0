//! Content of a case: a server of either kind, a namespace of its own, and a record of the answers.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::{AsyncBufReadExt, Future, TryStreamExt};
use http::Request;
use kube::Client;
use kube::client::Body;
use lifecycle_simulator::User;
use serde_json::{Value, json};

pub(crate) const MERGE: &str = "application/merge-patch+json";
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const APPLY: &str = "application/apply-patch+yaml";

/// Time limit for an event of a watch.
const PATIENCE: Duration = Duration::from_secs(120);

type Run = fn(Api) -> Pin<Box<dyn Future<Output = Result<()>>>>;

/// A case and its name.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
}

/// Cases by the names of their functions.
macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        pub(crate) fn cases() -> Vec<super::api::Entry> {
            vec![$(super::api::Entry {
                name: stringify!($name),
                run: |api| Box::pin($name(api)),
            }),*]
        }
    };
}
pub(crate) use cases;

/// All users that cases ask as.
pub(crate) fn users() -> Vec<User> {
    vec![
        User::admin(),
        User::new("alice", &["testers"]),
        User::new("bob", &[]),
    ]
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Answer {
    /// The body, if the code is the expected one.
    pub(crate) fn is(self, code: u16) -> Result<Value> {
        ensure!(
            self.code == code,
            "{} instead of {code}: {}",
            self.code,
            self.body
        );
        Ok(self.body)
    }

    /// Checks a refusal with this code and reason, whose message contains these words.
    pub(crate) fn refuses(self, code: u16, reason: &str, words: &str) -> Result<Value> {
        let body = self.is(code)?;
        let (found, message) = (
            &body["reason"],
            body["message"].as_str().unwrap_or_default(),
        );
        ensure!(
            found.as_str().unwrap_or_default() == reason,
            "{found} instead of {reason}: {message}"
        );
        ensure!(message.contains(words), "no `{words}` in: {message}");
        Ok(body)
    }
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) request: String,
    pub(crate) code: u16,
    pub(crate) body: Value,
}

/// A server, as a case sees it.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) namespace: String,
    client: Arc<dyn Fn(&User) -> Client + Send + Sync>,
    user: User,
    transcript: Arc<Mutex<Vec<Exchange>>>,
    silent: bool,
}

impl Api {
    pub(crate) fn new(case: &str, client: Arc<dyn Fn(&User) -> Client + Send + Sync>) -> Self {
        let name: String = case.replace('_', "-").chars().take(60).collect();
        Self {
            namespace: name.trim_end_matches('-').to_owned(),
            client,
            user: User::admin(),
            transcript: Arc::default(),
            silent: false,
        }
    }

    /// Makes the namespace of the case.
    pub(crate) async fn begin(&self) -> Result<()> {
        let body = json!({"metadata": {"name": self.namespace}});
        self.clone()
            .silently()
            .post("/api/v1/namespaces", &body)
            .await?
            .is(201)?;
        Ok(())
    }

    /// The same server for another user.
    pub(crate) fn by(&self, name: &str) -> Self {
        let user = users().into_iter().find(|user| user.name == name);
        Self {
            user: user.expect("a user of the list"),
            ..self.clone()
        }
    }

    /// Returns the same server, with answers in which two servers may differ.
    pub(crate) fn silently(&self) -> Self {
        Self {
            silent: true,
            ..self.clone()
        }
    }

    pub(crate) fn transcript(&self) -> Vec<Exchange> {
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The path of core objects in the namespace of the case: `configmaps/a`.
    pub(crate) fn core(&self, rest: &str) -> String {
        format!("/api/v1/namespaces/{}/{rest}", self.namespace)
    }

    /// The path of grouped objects in the namespace of the case.
    pub(crate) fn group(&self, group: &str, rest: &str) -> String {
        format!("/apis/{group}/v1/namespaces/{}/{rest}", self.namespace)
    }

    /// A name for something without a namespace that no other case uses.
    pub(crate) fn own(&self, name: &str) -> String {
        format!("{}-{name}", self.namespace)
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Answer> {
        self.send("GET", path, "", Vec::new()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send("POST", path, "application/json", body.to_string().into())
            .await
    }

    /// As `post`, of a text.
    pub(crate) async fn post_text(&self, path: &str, body: &str) -> Result<Answer> {
        self.send("POST", path, "application/json", body.into())
            .await
    }

    /// As `post`, by who takes answers of these media types alone.
    pub(crate) async fn post_for(&self, accept: &str, path: &str, body: &Value) -> Result<Answer> {
        let kinds = ["application/json", accept];
        self.send_for("POST", path, kinds, body.to_string().into())
            .await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send("PUT", path, "application/json", body.to_string().into())
            .await
    }

    pub(crate) async fn patch(&self, kind: &str, path: &str, body: &Value) -> Result<Answer> {
        self.send("PATCH", path, kind, body.to_string().into())
            .await
    }

    /// A server-side apply of `wanted` by a manager.
    pub(crate) async fn apply(&self, path: &str, manager: &str, wanted: &Value) -> Result<Answer> {
        let path = format!("{path}?fieldManager={manager}");
        self.patch(APPLY, &path, wanted).await
    }

    pub(crate) async fn force(&self, path: &str, manager: &str, wanted: &Value) -> Result<Answer> {
        let path = format!("{path}?fieldManager={manager}&force=true");
        self.patch(APPLY, &path, wanted).await
    }

    pub(crate) async fn delete(&self, path: &str, options: &Value) -> Result<Answer> {
        self.send(
            "DELETE",
            path,
            "application/json",
            options.to_string().into(),
        )
        .await
    }

    /// A deletion without a body.
    pub(crate) async fn send_delete(&self, path: &str) -> Result<Answer> {
        self.send("DELETE", path, "", Vec::new()).await
    }

    /// Makes a ConfigMap and returns it.
    pub(crate) async fn map(&self, name: &str) -> Result<Value> {
        let body = json!({"metadata": {"name": name}, "data": {"a": "1", "b": "2"}});
        self.post(&self.core("configmaps"), &body).await?.is(201)
    }

    /// The first events of a watch, bookmarks that are only due now and then left out.
    pub(crate) async fn watch(&self, path: &str, events: usize) -> Result<Vec<Value>> {
        let request = Request::get(path).body(Vec::new())?;
        let reading = async {
            let stream = (self.client)(&self.user).request_stream(request).await?;
            let mut lines = stream.lines();
            let mut found = Vec::new();
            while found.len() < events {
                let line = lines.try_next().await?.context("the watch ended")?;
                let event: Value = serde_json::from_str(&line)?;
                let bookmark = event["type"] == "BOOKMARK";
                if !bookmark || event["object"]["metadata"]["annotations"].is_object() {
                    found.push(event);
                }
            }
            Ok::<_, anyhow::Error>(found)
        };
        let found = tokio::time::timeout(PATIENCE, reading).await;
        let found = found.with_context(|| format!("no {events} events of {path}"))??;
        for event in &found {
            self.record(format!("WATCH {path}"), 200, event.clone());
        }
        Ok(found)
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: Vec<u8>) -> Result<Answer> {
        self.send_for(method, path, [kind, ""], body).await
    }

    async fn send_for(
        &self,
        method: &str,
        path: &str,
        kinds: [&str; 2],
        body: Vec<u8>,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, kind) in ["content-type", "accept"].into_iter().zip(kinds) {
            if !kind.is_empty() {
                request = request.header(name, kind);
            }
        }
        let shown = String::from_utf8_lossy(&body).into_owned();
        let response = (self.client)(&self.user)
            .send(request.body(Body::from(body))?)
            .await;
        let response = response.with_context(|| format!("{method} {path}"))?;
        let code = response.status().as_u16();
        let bytes = response.into_body().collect_bytes().await?;
        let body: Value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).trim().into());
        self.record(format!("{method} {path} {shown}"), code, body.clone());
        Ok(Answer { code, body })
    }

    fn record(&self, request: String, code: u16, body: Value) {
        if !self.silent {
            let exchange = Exchange {
                request,
                code,
                body,
            };
            let mut transcript = self
                .transcript
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            transcript.push(exchange);
        }
    }
}

/// The version of an object.
pub(crate) fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
}

/// Checks that two answers have the same version.
pub(crate) fn unchanged(before: &Value, after: &Value) -> Result<()> {
    if version(before) != version(after) {
        bail!("it was written: {before} and then {after}");
    }
    Ok(())
}

/// The names of a list's items.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    let items = list["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let names = items.iter().map(|item| item["metadata"]["name"].as_str());
    names.map(Option::unwrap_or_default).collect()
}
