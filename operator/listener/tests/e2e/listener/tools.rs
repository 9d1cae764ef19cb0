//! Readings of a Listener by tools that wait for it: each version that existed, as read by the
//! library that these tools use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, WatchEvent, WatchParams};
use lifecycle_specs_listener::crds;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::binaries::kstatus_of;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};

const NEEDS: &[Need] = &[Need::Binaries, Need::Kstatus];

/// Longer than an operator needs to repeat a write that was not kept.
const QUIET: Duration = Duration::from_secs(4);

/// Upper bound on refused writes in that time; more of them would be a hot loop.
const SLOW: usize = 4;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b36_tools_take_a_listener_for_done_exactly_where_it_is",
            NEEDS,
            read_by_tools,
        ),
        case(
            "a_definition_of_before_is_told_of_and_heals",
            NEEDS,
            definition_of_before,
        ),
    ]
}

/// Every version of the Listeners, as any client observes it.
struct Versions {
    all: Arc<Mutex<Vec<Value>>>,
    watching: JoinHandle<()>,
}

impl Drop for Versions {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

fn listeners(cluster: &Cluster) -> Api<DynamicObject> {
    let kind = ApiResource::erase::<Listener>(&());
    Api::default_namespaced_with(cluster.client.clone(), &kind)
}

impl Versions {
    async fn start(cluster: &Cluster) -> Result<Self> {
        let params = WatchParams::default();
        let mut events = listeners(cluster).watch(&params, "0").await?.boxed();
        let all: Arc<Mutex<Vec<Value>>> = Arc::default();
        let into = Arc::clone(&all);
        let watching = tokio::spawn(async move {
            while let Ok(Some(event)) = events.try_next().await {
                if let WatchEvent::Added(object) | WatchEvent::Modified(object) = event {
                    let object = serde_json::to_value(object).expect("it is an object");
                    into.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(object);
                }
            }
        });
        Ok(Self { all, watching })
    }

    fn seen(&self) -> Vec<Value> {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the reading of each version by tools.
    async fn read(&self) -> Result<Vec<(Value, String)>> {
        let all = self.seen();
        let objects = all.clone();
        let read = tokio::task::spawn_blocking(move || kstatus_of(&objects)).await??;
        Ok(all.into_iter().zip(read).collect())
    }

    /// Returns the reading of the last version by tools.
    async fn now(&self) -> Result<String> {
        let read = self.read().await?;
        let (_, last) = read.into_iter().next_back().context("there is one")?;
        Ok(last)
    }

    async fn comes_to(&self, wanted: &str) -> Result<()> {
        let what = format!("what tools read as {wanted}");
        eventually(&what, SOON, async || {
            Ok((self.now().await? == wanted).then_some(()))
        })
        .await
    }

    /// Waits until the edit is observed, and returns the reading that tools make then.
    async fn of_generation(&self, generation: i64) -> Result<String> {
        let is_there = |object: &Value| object["metadata"]["generation"] == generation;
        eventually("the edit", SOON, async || {
            Ok(self.seen().last().is_some_and(is_there).then_some(()))
        })
        .await?;
        self.now().await
    }
}

async fn read_by_tools() -> Result<()> {
    let mut cluster = Cluster::start(PROGRAM).await?;
    cluster.stop_operator()?;
    let versions = Versions::start(&cluster).await?;
    cluster.expose("web", "cluster-internal").await?;
    // No operator has reconciled it yet.
    ensure!(versions.of_generation(1).await? == "InProgress");
    cluster.run_operator(&[]).await?;
    versions.comes_to("Current").await?;
    cluster.stop_operator()?;
    let edit = json!({ "spec": { "ports": [{ "name": "http", "port": 8081 }] } });
    cluster.patch::<Listener>("web", edit).await?;
    // The status still reports success, but for the previous generation.
    ensure!(versions.of_generation(2).await? == "InProgress");
    cluster.run_operator(&[]).await?;
    versions.comes_to("Current").await?;
    let edit = json!({ "spec": { "className": "missing" } });
    cluster.patch::<Listener>("web", edit).await?;
    versions.comes_to("Failed").await?;
    let edit = json!({ "spec": { "className": "cluster-internal" } });
    cluster.patch::<Listener>("web", edit).await?;
    versions.comes_to("Current").await?;
    for (object, read) in versions.read().await? {
        let (meta, status) = (&object["metadata"], &object["status"]);
        let is_done =
            status["phase"] == "Ready" && status["observedGeneration"] == meta["generation"];
        ensure!((read == "Current") == is_done, "{read}: {object:#}");
    }
    let written = versions.seen().len();
    tokio::time::sleep(QUIET).await;
    ensure!(versions.seen().len() == written, "it rests");
    Ok(())
}

/// Tests definitions of a previous version, which a user maintains by hand: an API server refuses
/// to apply a field that they lack.
async fn definition_of_before() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let definitions: Api<CustomResourceDefinition> = cluster.all();
    for definition in crds() {
        let mut definition = serde_json::to_value(definition)?;
        let status = "/spec/versions/0/schema/openAPIV3Schema/properties/status";
        if let Some(Value::Object(status)) = definition.pointer_mut(status) {
            status.remove("default");
            let fields = status.get_mut("properties");
            let fields = fields.and_then(Value::as_object_mut);
            let fields = fields.context("a status has fields")?;
            fields.remove("observedGeneration");
        }
        cluster.make(definitions.clone(), definition).await?;
    }
    cluster.run_operator(&["--disable-crd-maintenance"]).await?;
    cluster.prepared().await?;
    let versions = Versions::start(&cluster).await?;
    cluster.expose("web", "cluster-internal").await?;
    let services: Api<Service> = cluster.namespaced();
    eventually("the Service", SOON, async || {
        Ok(services.get_opt("web").await?)
    })
    .await?;
    eventually("what is in the way, in the log", SOON, async || {
        let log = cluster.log();
        let is_told = log.contains(".status.observedGeneration: field not declared in schema");
        Ok(is_told.then_some(()))
    })
    .await?;
    let writes = async || anyhow::Ok(cluster.requests().await?.counts().writes);
    tokio::time::sleep(QUIET).await;
    let before = writes().await?;
    tokio::time::sleep(QUIET).await;
    let more = writes().await? - before;
    ensure!(more <= SLOW, "{more} writes of what is refused");
    // The status is incomplete, and nothing in it reports unfinished work.
    ensure!(versions.now().await? == "Current");
    cluster.stop_operator()?;
    cluster.run_operator(&[]).await?;
    // A server ends watches of a definition that changes.
    let listeners = listeners(&cluster);
    eventually("the status", SOON, async || {
        let listener = serde_json::to_value(listeners.get("web").await?)?;
        Ok((listener["status"]["observedGeneration"] == 1).then_some(()))
    })
    .await?;
    ensure!(Versions::start(&cluster).await?.of_generation(1).await? == "Current");
    cluster.ready("web").await.map(drop)
}
