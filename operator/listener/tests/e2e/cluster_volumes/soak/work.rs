//! Operations of people and workloads during a soak, chosen by a seeded generator: edits of specs,
//! edits of objects that the operator owns, Pods that come and go. Records the state in the specs,
//! and the operations on each object.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::dice::Dice;
use super::specs::{ClaimRequest, Class, ManualListener, Mounting, Specs, VOLUME, made_labels};

/// Between two operations.
const PAUSE: Duration = Duration::from_millis(600);
/// Of Listeners that are made by hand, at once.
const MOST_MADE: usize = 10;
/// Of Pods at once: each is a container.
const MOST_PODS: usize = 7;
/// Number of operations of an object that an error shows.
const LAST: usize = 8;

/// The nodes, by index.
pub(super) const NODES: [&str; 2] = ["node1", "node2"];
/// Class with a changing type.
const TURNS: &str = "soak-turns";
/// Name, type, pinning.
const CLASSES: [(&str, bool, bool); 4] = [
    ("soak-inside", false, false),
    ("soak-outside", true, false),
    ("soak-pinned", true, true),
    (TURNS, false, false),
];
/// Classes of manually created Listeners: the pinning of a volume is decided at its creation.
const UNPINNED: [&str; 3] = ["soak-inside", "soak-outside", TURNS];

/// Everything that was done so far.
pub(super) struct Work {
    classes: Api<ListenerClass>,
    listeners: Api<Listener>,
    services: Api<Service>,
    lists: Api<PodListeners>,
    pods: Api<Pod>,
    claims: Api<PersistentVolumeClaim>,
    pub(super) specs: Specs,
    dice: Dice,
    number: u64,
    /// How often, by kind.
    counts: BTreeMap<&'static str, usize>,
    /// By object.
    history: BTreeMap<String, Vec<String>>,
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: usize = self.counts.values().sum();
        let counts = self.counts.iter();
        let counts: Vec<String> = counts
            .map(|(kind, times)| format!("{kind} {times}"))
            .collect();
        let (made, pods) = (self.specs.made.len(), self.specs.pods.len());
        write!(
            f,
            "{all} operations ({}); {made} Listeners by hand and {pods} Pods at the end",
            counts.join(", ")
        )
    }
}

impl Work {
    pub(super) fn new(client: &Client, seed: u64) -> Self {
        Self {
            classes: Api::all(client.clone()),
            listeners: Api::default_namespaced(client.clone()),
            services: Api::default_namespaced(client.clone()),
            lists: Api::default_namespaced(client.clone()),
            pods: Api::default_namespaced(client.clone()),
            claims: Api::default_namespaced(client.clone()),
            specs: Specs::default(),
            dice: Dice::new(seed),
            number: 0,
            counts: BTreeMap::new(),
            history: BTreeMap::new(),
        }
    }

    /// Creates the classes and the permanent Pods: on the first node one with a Listener of its
    /// own, on the second one that shares a Listener.
    pub(super) async fn begin(&mut self) -> Result<()> {
        for (name, node_port, pinned) in CLASSES {
            let class = Class::new(node_port, pinned);
            let object = json!({
                "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
                "metadata": { "name": name }, "spec": class.spec(),
            });
            create(&self.classes, object).await?;
            self.specs.classes.insert(name.to_owned(), class);
        }
        self.create_listener("shared", "soak-outside").await?;
        let asks = [
            ClaimRequest::Class(TURNS.to_owned()),
            ClaimRequest::Listener("shared".to_owned()),
        ];
        for (node, asks) in asks.into_iter().enumerate() {
            let mounting = Mounting {
                node,
                asks,
                ephemeral: false,
                stays: true,
            };
            self.create_pod(&format!("stays-{node}"), mounting).await?;
        }
        Ok(())
    }

    /// One operation after another.
    pub(super) async fn go_on(&mut self, over: impl Fn() -> bool) -> Result<()> {
        while !over() {
            self.number += 1;
            self.operate().await?;
            self.tend().await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// The last operations on an object, or on the one that it was made for.
    pub(super) fn history(&self, object: &str) -> String {
        let is_about = |key: &&String| {
            object == key.as_str() || object.strip_prefix(key.as_str()) == Some("-listener")
        };
        let about = self.history.keys().find(is_about);
        let operations = about.and_then(|key| self.history.get(key));
        let operations = operations.map_or(&[][..], Vec::as_slice);
        operations[operations.len().saturating_sub(LAST)..].join(", ")
    }

    fn record(&mut self, object: &str, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
        let entry = self.history.entry(object.to_owned()).or_default();
        entry.push(format!("#{} {kind}", self.number));
    }

    async fn operate(&mut self) -> Result<()> {
        match self.dice.random_below(20) {
            0 | 1 => self.make_listener().await,
            2..=4 => self.edit_listener().await,
            5 => self.delete_listener().await,
            6 => self.edit_class().await,
            7 => self.turn().await,
            8 => self.delete_service().await,
            9 | 10 => self.edit_service().await,
            11 => self.edit_status().await,
            12 => self.remove_label().await,
            13 => self.edit_list().await,
            14 => self.delete_list().await,
            15..=17 => self.start_pod().await,
            18 => self.end_pod().await,
            _ => self.restart_pod().await,
        }
    }

    async fn make_listener(&mut self) -> Result<()> {
        if self.specs.made.len() >= MOST_MADE {
            return self.edit_listener().await;
        }
        let class = UNPINNED[self.dice.index(UNPINNED.len())];
        // A name is used once, as in the churn on an API server alone.
        let name = format!("made-{:04}", self.number);
        self.create_listener(&name, class).await
    }

    async fn create_listener(&mut self, name: &str, class: &str) -> Result<()> {
        let made = ManualListener {
            class: class.to_owned(),
            port: self.port(),
            publish: self.dice.among(&[None, Some(true), Some(false)]),
            extra: self.dice.coin(),
            own: None,
        };
        let object = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
            "metadata": { "name": name, "labels": made_labels() }, "spec": made.spec(name),
        });
        create(&self.listeners, object).await?;
        self.record(name, "create Listener");
        self.specs.made.insert(name.to_owned(), made);
        Ok(())
    }

    fn port(&mut self) -> u16 {
        8000 + u16::try_from(self.dice.random_below(1000)).unwrap_or_default()
    }

    async fn edit_listener(&mut self) -> Result<()> {
        let Some(name) = self.dice.name(self.specs.made.keys()) else {
            return Ok(());
        };
        let (port, number) = (self.port(), self.number);
        let class = UNPINNED[self.dice.index(UNPINNED.len())];
        let publish = self.dice.among(&[None, Some(true), Some(false)]);
        let kind = self.dice.index(5);
        let Some(made) = self.specs.made.get_mut(&name) else {
            return Ok(());
        };
        let kind = match kind {
            0 => {
                made.port = port;
                "edit ports"
            }
            1 => {
                made.class = class.to_owned();
                "edit className"
            }
            2 => {
                made.publish = publish;
                "edit publishNotReadyAddresses"
            }
            3 => {
                made.extra = !made.extra;
                "edit extraPodSelectorLabels"
            }
            _ => {
                made.own = made.own.is_none().then_some(number);
                "edit objectOverrides"
            }
        };
        let spec = made.spec(&name);
        replace_spec(&self.listeners, &name, spec).await?;
        self.record(&name, kind);
        Ok(())
    }

    async fn delete_listener(&mut self) -> Result<()> {
        let free = self.specs.made.keys();
        let free = free.filter(|name| !self.specs.is_mounted(name));
        let Some(name) = self.dice.name(free) else {
            return Ok(());
        };
        delete(&self.listeners, &name).await?;
        self.record(&name, "delete Listener");
        self.specs.made.remove(&name);
        Ok(())
    }

    async fn edit_class(&mut self) -> Result<()> {
        let Some(name) = self.dice.name(self.specs.classes.keys()) else {
            return Ok(());
        };
        let (number, of_overrides) = (self.number, self.dice.coin());
        let Some(class) = self.specs.classes.get_mut(&name) else {
            return Ok(());
        };
        let kind = match of_overrides {
            true => {
                class.overrides = number;
                "edit serviceOverrides"
            }
            false => {
                class.round = number;
                "edit serviceAnnotations"
            }
        };
        let spec = class.spec();
        replace_spec(&self.classes, &name, spec).await?;
        self.record(&name, kind);
        Ok(())
    }

    /// Changes the type of a class while Pods mount its Listeners.
    pub(super) async fn turn(&mut self) -> Result<()> {
        let class = self.specs.classes.get_mut(TURNS);
        let class = class.context("the class is there from the beginning")?;
        class.node_port = !class.node_port;
        let spec = class.spec();
        replace_spec(&self.classes, TURNS, spec).await?;
        self.record(TURNS, "edit serviceType");
        Ok(())
    }

    /// The name of a Listener, and so of its Service.
    fn exposed(&mut self) -> Option<String> {
        let exposures = self.specs.exposures();
        self.dice.name(exposures.keys())
    }

    async fn delete_service(&mut self) -> Result<()> {
        let Some(name) = self.exposed() else {
            return Ok(());
        };
        delete(&self.services, &name).await?;
        self.record(&name, "delete Service");
        Ok(())
    }

    async fn edit_service(&mut self) -> Result<()> {
        let Some(name) = self.exposed() else {
            return Ok(());
        };
        let patch = self.dice.among(&[
            json!({ "spec": { "selector": { "x": "1" } } }),
            json!({ "spec": { "publishNotReadyAddresses": false, "type": "NodePort" } }),
            json!({ "spec": { "ports": [{ "name": "other", "port": 9, "protocol": "TCP" }] } }),
            json!({ "metadata": { "labels": { "app.kubernetes.io/name": "kafka" } } }),
            json!({ "metadata": { "annotations": { "soak.example.org/round": null } } }),
        ]);
        merge(&self.services, &name, patch).await?;
        self.record(&name, "edit Service");
        Ok(())
    }

    async fn edit_status(&mut self) -> Result<()> {
        let Some(name) = self.exposed() else {
            return Ok(());
        };
        // Two that write the same status again and again count as two controllers; a person does not.
        let service = format!("mallory-{}", self.number);
        let patch = json!({ "status": { "serviceName": service, "conditions": null } });
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        may_be_gone(self.listeners.patch_status(&name, &params, &patch).await)?;
        self.record(&name, "edit status");
        Ok(())
    }

    /// A Pod of the soak that exists now.
    async fn a_pod(&mut self) -> Result<Option<Pod>> {
        let Some(name) = self.dice.name(self.specs.pods.keys()) else {
            return Ok(None);
        };
        Ok(self.pods.get_opt(&name).await?)
    }

    async fn remove_label(&mut self) -> Result<()> {
        let Some(pod) = self.a_pod().await? else {
            return Ok(());
        };
        let name = pod.name_any();
        let mounts = pod.labels().keys().filter(|key| key.contains("/mnt."));
        let without: BTreeMap<&String, Value> = mounts.map(|key| (key, Value::Null)).collect();
        merge(
            &self.pods,
            &name,
            json!({ "metadata": { "labels": without } }),
        )
        .await?;
        self.record(&name, "remove Pod label");
        Ok(())
    }

    async fn edit_list(&mut self) -> Result<()> {
        let Some(pod) = self.a_pod().await? else {
            return Ok(());
        };
        let wrong =
            json!([{ "address": "192.0.2.1", "addressType": "IP", "ports": { "http": 1 } }]);
        let entry = json!({ "scope": "Cluster", "ingressAddresses": wrong });
        let patch = json!({ "spec": { "listeners": { VOLUME: entry } } });
        merge(&self.lists, &list_of(&pod), patch).await?;
        self.record(&pod.name_any(), "edit PodListeners");
        Ok(())
    }

    async fn delete_list(&mut self) -> Result<()> {
        let Some(pod) = self.a_pod().await? else {
            return Ok(());
        };
        delete(&self.lists, &list_of(&pod)).await?;
        self.record(&pod.name_any(), "delete PodListeners");
        Ok(())
    }

    async fn start_pod(&mut self) -> Result<()> {
        if self.specs.pods.len() >= MOST_PODS {
            return self.end_pod().await;
        }
        let shared = self.dice.name(self.specs.made.keys());
        let asks = match (self.dice.index(3), shared) {
            (0, Some(name)) => ClaimRequest::Listener(name),
            _ => ClaimRequest::Class(CLASSES[self.dice.index(CLASSES.len())].0.to_owned()),
        };
        let mounting = Mounting {
            node: self.dice.index(NODES.len()),
            asks,
            ephemeral: self.dice.coin(),
            stays: false,
        };
        self.create_pod(&format!("pod-{:04}", self.number), mounting)
            .await
    }

    async fn create_pod(&mut self, name: &str, mounting: Mounting) -> Result<()> {
        if let Some(claim) = mounting.claim_object(name) {
            create(&self.claims, claim).await?;
        }
        create(&self.pods, mounting.object(name, NODES[mounting.node])).await?;
        let kind = match mounting.ephemeral {
            true => "create Pod with an ephemeral volume",
            false => "create Pod with a claim",
        };
        self.record(name, kind);
        self.specs.pods.insert(name.to_owned(), mounting);
        Ok(())
    }

    async fn end_pod(&mut self) -> Result<()> {
        let pods = self.specs.pods.iter().filter(|(_, pod)| !pod.stays);
        let Some(name) = self.dice.name(pods.map(|(name, _)| name)) else {
            return Ok(());
        };
        delete(&self.pods, &name).await?;
        let mounting = self.specs.pods.remove(&name);
        if mounting.is_some_and(|mounting| !mounting.ephemeral) {
            delete(&self.claims, &name).await?;
        }
        self.record(&name, "delete Pod");
        Ok(())
    }

    /// Deletes a Pod that `tend` makes again with the same name and claim, as a StatefulSet does.
    async fn restart_pod(&mut self) -> Result<()> {
        let pods = self.specs.pods.iter();
        let pods = pods.filter(|(_, pod)| !pod.stays && !pod.ephemeral);
        let Some(name) = self.dice.name(pods.map(|(name, _)| name)) else {
            return Ok(());
        };
        delete(&self.pods, &name).await?;
        self.record(&name, "delete Pod and keep its claim");
        Ok(())
    }

    /// Controls the Pods: makes those with a claim again when they are gone, and forgets the others.
    pub(super) async fn tend(&mut self) -> Result<()> {
        let listed = self.pods.list(&ListParams::default()).await?;
        for pod in &listed {
            let phase = pod
                .status
                .as_ref()
                .and_then(|status| status.phase.as_deref());
            let has_ended = matches!(phase, Some("Failed" | "Succeeded"));
            if has_ended && pod.metadata.deletion_timestamp.is_none() {
                delete(&self.pods, &pod.name_any()).await?;
            }
        }
        let there: BTreeSet<String> = listed.iter().map(ResourceExt::name_any).collect();
        let gone = self.specs.pods.iter();
        let gone = gone.filter(|(name, _)| !there.contains(*name));
        let gone: Vec<(String, Mounting)> = gone
            .map(|(name, pod)| (name.clone(), pod.clone()))
            .collect();
        for (name, mounting) in gone {
            if mounting.ephemeral {
                self.specs.pods.remove(&name);
                self.record(&name, "lose Pod with its node");
                continue;
            }
            create(&self.pods, mounting.object(&name, NODES[mounting.node])).await?;
            self.record(&name, "create Pod again");
        }
        Ok(())
    }
}

/// The name of the PodListeners of a Pod.
fn list_of(pod: &Pod) -> String {
    format!("pod-{}", pod.uid().unwrap_or_default())
}

async fn create<K>(api: &Api<K>, object: Value) -> Result<()>
where
    K: Resource + Serialize + DeserializeOwned + Clone + fmt::Debug,
{
    let what = format!("cannot create {object}");
    let object: K = serde_json::from_value(object)?;
    let created = api.create(&PostParams::default(), &object).await;
    created.map(drop).context(what)
}

async fn replace_spec<K>(api: &Api<K>, name: &str, spec: Value) -> Result<()>
where
    K: Resource + DeserializeOwned + Clone + fmt::Debug,
{
    let what = format!("cannot replace the spec of {name} by {spec}");
    let patch = json!([{ "op": "replace", "path": "/spec", "value": spec }]);
    let patch = Patch::Json::<()>(serde_json::from_value(patch)?);
    let patched = api.patch(name, &PatchParams::default(), &patch).await;
    patched.map(drop).context(what)
}

async fn merge<K>(api: &Api<K>, name: &str, patch: Value) -> Result<()>
where
    K: Resource + DeserializeOwned + Clone + fmt::Debug,
{
    let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
    may_be_gone(api.patch(name, &params, &patch).await)
}

async fn delete<K>(api: &Api<K>, name: &str) -> Result<()>
where
    K: Resource + DeserializeOwned + Clone + fmt::Debug,
{
    may_be_gone(api.delete(name, &DeleteParams::default()).await)
}

/// An object that is not there, or is no longer, cannot be edited.
fn may_be_gone<T>(answer: kube::Result<T>) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        other => other.map(drop).context("an edit is refused"),
    }
}
