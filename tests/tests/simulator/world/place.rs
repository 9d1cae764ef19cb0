//! A namespace on a server with the world around it, simulated or real.

use std::time::Duration;

use anyhow::{Context, Result};
use http::{Method, Request};
use kube::{Client, CustomResourceExt};
use lifecycle_simulator::server::{Server, User};
use lifecycle_simulator::world::World;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::lifecycles::bucket::Bucket;
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(120);

/// A server, its world, and the namespace `ns`.
pub(crate) struct TestCluster {
    pub(crate) client: Client,
    _world: Option<Running>,
}

struct Running(tokio::task::JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// One case as two: on the simulated server, on paused time, and on a real one.
pub(crate) fn both<R>(
    simulated: &'static str,
    real: &'static str,
    run: fn(TestCluster) -> R,
) -> [Case; 2]
where
    R: Future<Output = Result<()>> + 'static,
{
    let on_paused_time = move || async move {
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .start_paused(true)
                .build()?;
            runtime.block_on(async {
                let client = Server::new(1).client(&User::admin());
                run(TestCluster::around(client).await?).await
            })
        });
        tokio::task::spawn_blocking(move || thread.join())
            .await?
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    };
    let for_real = move || async move {
        let server = ApiServer::start().await?;
        run(TestCluster::around(server.client()).await?).await
    };
    [
        case(simulated, &[], on_paused_time),
        case(real, &[Need::Binaries], for_real),
    ]
}

impl TestCluster {
    /// The same place, where nothing runs any more.
    pub(crate) fn alone(mut self) -> Self {
        self._world = None;
        self
    }

    async fn around(client: Client) -> Result<Self> {
        let world = World::full().origin(jiff::Timestamp::now());
        let world = Running(tokio::spawn(world.run(client.clone())));
        let place = Self {
            client,
            _world: Some(world),
        };
        let definition = serde_json::to_value(Bucket::crd())?;
        place
            .post(
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                definition,
            )
            .await?;
        place
            .post(
                "/api/v1/namespaces",
                build_object("v1", "Namespace", "ns", json!({})),
            )
            .await?;
        place
            .wait_present(&core_path("serviceaccounts", "default"))
            .await?;
        Ok(place)
    }

    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> kube::Result<Value> {
        let kind = match method == Method::PATCH {
            true => "application/merge-patch+json",
            false => "application/json",
        };
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind);
        self.client
            .request(request.body(body).expect("a path"))
            .await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Result<Value> {
        let made = self.request(Method::POST, path, &body).await;
        made.with_context(|| format!("cannot create {body}"))
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Result<Value> {
        let patched = self.request(Method::PATCH, path, &body).await;
        patched.with_context(|| format!("cannot patch {path}"))
    }

    pub(crate) async fn delete(&self, path: &str, policy: &str) -> Result<()> {
        let options =
            json!({ "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy });
        let deleted = self.request(Method::DELETE, path, &options).await;
        deleted
            .map(drop)
            .with_context(|| format!("cannot delete {path}"))
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Option<Value>> {
        match self.request(Method::GET, path, &Value::Null).await {
            Ok(found) => Ok(Some(found)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {path}")),
        }
    }

    /// Waits until an object fulfils something.
    pub(crate) async fn comes_to(
        &self,
        path: &str,
        what: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let last = std::cell::RefCell::new(Value::Null);
        let found = eventually(what, SOON, async || {
            let found = self.get(path).await?;
            last.replace(found.clone().unwrap_or_default());
            Ok(found.filter(&fits))
        })
        .await;
        found.with_context(|| format!("{path} is {}", last.borrow()))
    }

    /// Waits until the object exists.
    pub(crate) async fn wait_present(&self, path: &str) -> Result<Value> {
        self.comes_to(path, "it is there", |_| true).await
    }

    /// Waits until it is gone.
    pub(crate) async fn gone(&self, path: &str) -> Result<()> {
        eventually(&format!("{path} is gone"), SOON, async || {
            Ok(self.get(path).await?.is_none().then_some(()))
        })
        .await
    }

    /// Waits until this many objects match.
    pub(crate) async fn counts(
        &self,
        path: &str,
        count: usize,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Value>> {
        let last = std::cell::RefCell::new(Value::Null);
        let found = eventually(&format!("{count} of {path}"), SOON, async || {
            let found = self.get(path).await?.unwrap_or_default();
            last.replace(found.clone());
            let items = found["items"].as_array().cloned().unwrap_or_default();
            let fit: Vec<_> = items.into_iter().filter(&fits).collect();
            Ok((fit.len() == count).then_some(fit))
        })
        .await;
        found.with_context(|| format!("{path} is {}", last.borrow()))
    }
}

/// An object in `ns`, where its kind lives in a namespace.
pub(crate) fn build_object(version: &str, kind: &str, name: &str, more: Value) -> Value {
    let mut object = json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name } });
    merge(&mut object, more);
    object
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The path of an object of a core kind in `ns`.
pub(crate) fn core_path(plural: &str, name: &str) -> String {
    format!("/api/v1/namespaces/ns/{plural}/{name}")
}

/// A reference to an owner.
pub(crate) fn owned_by(owner: &Value, blocks: bool) -> Value {
    let (version, kind) = (&owner["apiVersion"], &owner["kind"]);
    let meta = &owner["metadata"];
    json!({ "apiVersion": version, "kind": kind, "name": meta["name"], "uid": meta["uid"], "blockOwnerDeletion": blocks })
}
