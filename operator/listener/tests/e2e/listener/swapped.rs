//! A cluster as the replaced operator leaves it, in which ours starts, stops, and starts again: no
//! Service is written, and no address is lost.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::PROGRAM;
use crate::listeners::{Cluster, SOON};
use crate::replaced::{Address, CLASS, LISTENER_NAME, Release, Replaced, mount_label};
use anyhow::{Context, Result, ensure};
use futures::StreamExt;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::{AddressType, Listener, ListenerStatus};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::audit::Cost;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;
use serde_json::json;
use tokio::task::JoinHandle;

use super::BINARIES;

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): a_cluster_of_the_replaced_operator_is_swapped_there_and_back_and_over_again]
}

const NODE: &str = "node-1";
const NODE_ADDRESS: &str = "10.0.0.1";
const BALANCED: &str = "192.0.2.7";

/// Before a watch begins again.
const AGAIN: Duration = Duration::from_millis(10);

/// A Listener of a claim that the replaced operator made, its Pod of the same name.
struct Exposed {
    name: &'static str,
    class: &'static str,
    release: Release,
    /// The node that its volume is tied to.
    reserved: Option<&'static str>,
    address: &'static str,
    kind: AddressType,
}

/// One Listener of each type. One is tied to a node without a Pod of it, with a volume without
/// labels. One has a Service to which another controller has added an annotation.
const WORLD: [Exposed; 5] = [
    Exposed {
        name: "inside",
        class: "cluster-internal",
        release: Release::Current,
        reserved: None,
        address: "inside.default.svc.cluster.test",
        kind: AddressType::Hostname,
    },
    Exposed {
        name: "outside",
        class: "external-unstable",
        release: Release::Current,
        reserved: None,
        address: NODE_ADDRESS,
        kind: AddressType::IP,
    },
    Exposed {
        name: "reserved",
        class: "pinned",
        release: Release::Unlabelled,
        reserved: Some(NODE),
        address: NODE_ADDRESS,
        kind: AddressType::IP,
    },
    Exposed {
        name: "balanced",
        class: "external-stable",
        release: Release::Current,
        reserved: None,
        address: BALANCED,
        kind: AddressType::IP,
    },
    Exposed {
        name: "annotated",
        class: "external-stable",
        release: Release::Current,
        reserved: None,
        address: BALANCED,
        kind: AddressType::IP,
    },
];

impl Exposed {
    fn addresses(&self) -> [Address; 1] {
        [(self.address.to_owned(), self.kind)]
    }

    fn is_balanced(&self) -> bool {
        self.class == "external-stable"
    }

    /// Writes as the replaced operator does whenever it mounts the volume and reconciles the Listener.
    async fn is_written_by(&self, replaced: &Replaced) -> Result<()> {
        replaced.mounts(self.name, self.name, self.release).await?;
        replaced.reconciles(self.name, &self.addresses()).await?;
        replaced.lists(self.name, "listener", self.name).await
    }
}

async fn a_cluster_of_the_replaced_operator_is_swapped_there_and_back_and_over_again() -> Result<()>
{
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let replaced = Replaced::new(cluster.client.clone(), "default");
    make_world(&cluster, &replaced).await?;
    for round in 0..2 {
        if round > 0 {
            // Back: the replaced operator finds all that it needs, and writes it in its way again.
            replaced.defines().await?;
            for one in &WORLD {
                one.is_written_by(&replaced).await?;
            }
        }
        is_as_replaced(&cluster).await?;
        let services = versions(&cluster).await?;
        let watched = Watched::start(&cluster).await?;
        let began = Timestamp::now();
        cluster.run_operator(&[]).await?;
        is_settled(&cluster).await?;
        watched.lost_nothing(&cluster).await?;
        let asked = cluster.requests().await?.since(began);
        let written = asked.of_resource("services").of_cost(Cost::Write);
        ensure!(
            written.is_empty(),
            "round {round}: Services were written:\n{}",
            written.lines()
        );
        ensure!(
            services == versions(&cluster).await?,
            "round {round}: a Service is another one, or was written"
        );
        cluster.stop_operator()?;
        is_kept_for_the_way_back(&cluster).await?;
    }
    Ok(())
}

async fn make_world(cluster: &Cluster, replaced: &Replaced) -> Result<()> {
    replaced.defines().await?;
    replaced.creates_classes().await?;
    replaced.creates_class("pinned", "NodePort", true).await?;
    cluster.node(NODE, &[("InternalIP", NODE_ADDRESS)]).await?;
    for one in &WORLD {
        replaced
            .provisions(one.name, one.class, one.reserved)
            .await?;
        let pod = json!({
            "metadata": { "name": one.name },
            "spec": {
                "nodeName": NODE,
                "containers": [{ "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 8080 }] }],
                "volumes": [{ "name": "listener", "persistentVolumeClaim": { "claimName": one.name } }],
            },
        });
        cluster.make(cluster.namespaced::<Pod>(), pod).await?;
        one.is_written_by(replaced)
            .await
            .with_context(|| format!("{} cannot be made", one.name))?;
        if one.is_balanced() {
            cluster
                .balance(one.name, json!([{ "ip": BALANCED }]))
                .await?;
        }
    }
    cluster.endpoints("outside", &[NODE]).await?;
    let note = json!({ "metadata": { "annotations": { "balancer.example.org/pool": "first" } } });
    let params = PatchParams {
        field_manager: Some("balancer".to_owned()),
        ..PatchParams::default()
    };
    let services = cluster.namespaced::<Service>();
    services
        .patch("annotated", &params, &Patch::Merge(note))
        .await?;
    Ok(())
}

/// Checks the fixture: no status has a field of ours, the definitions call a webhook, and an
/// annotation may be beside an empty map.
async fn is_as_replaced(cluster: &Cluster) -> Result<()> {
    for one in &WORLD {
        let status = status(cluster, one.name).await?;
        ensure!(
            status.conditions.is_none() && status.phase.is_none(),
            "{status:?}"
        );
    }
    let definitions = cluster.all::<CustomResourceDefinition>();
    let definition = definitions
        .get("listeners.listeners.stackable.tech")
        .await?
        .spec;
    let strategy = definition.conversion.map(|one| one.strategy);
    ensure!(strategy.as_deref() == Some("Webhook"), "{strategy:?}");
    let annotated = cluster.namespaced::<Service>().get("annotated").await?;
    ensure!(
        annotated.annotations().len() == 1,
        "{:?}",
        annotated.metadata
    );
    Ok(())
}

/// Each Service by name: its uid and its version.
async fn versions(cluster: &Cluster) -> Result<BTreeMap<String, [Option<String>; 2]>> {
    let services = cluster
        .namespaced::<Service>()
        .list(&ListParams::default())
        .await?;
    let all = services.into_iter();
    Ok(all
        .map(|one| (one.name_any(), [one.uid(), one.resource_version()]))
        .collect())
}

async fn status(cluster: &Cluster, name: &str) -> Result<ListenerStatus> {
    let listener = cluster.namespaced::<Listener>().get(name).await?;
    listener
        .status
        .with_context(|| format!("{name} has a status"))
}

/// Every Listener is Ready, and every volume has the label of its Listener.
async fn is_settled(cluster: &Cluster) -> Result<()> {
    for one in &WORLD {
        cluster.ready(one.name).await?;
    }
    let volumes = cluster.all::<PersistentVolume>();
    let labelled = eventually("every volume is labelled", SOON, async || {
        let all = volumes.list(&ListParams::default()).await?;
        let mut labels = all.items.iter().map(|volume| volume.labels());
        Ok(labels
            .all(|labels| labels.contains_key(LISTENER_NAME))
            .then_some(()))
    });
    cluster.explain(labelled.await)
}

/// Checks that the fields of the replaced operator are filled, volumes have their labels, and every
/// object that names a Pod or a Listener exists.
async fn is_kept_for_the_way_back(cluster: &Cluster) -> Result<()> {
    let claims = cluster.namespaced::<PersistentVolumeClaim>();
    for one in &WORLD {
        let listener = cluster.namespaced::<Listener>().get(one.name).await?;
        let status = listener.status.clone().unwrap_or_default();
        ensure!(
            status.service_name.as_deref() == Some(one.name)
                && status_addresses(&listener) == [one.address]
                && status.node_ports.is_some() == (one.address == NODE_ADDRESS),
            "{status:?}"
        );
        let claim = claims.get(one.name).await?.spec.unwrap_or_default();
        let volume = claim.volume_name.context("it is bound")?;
        let volume = cluster.all::<PersistentVolume>().get(&volume).await?;
        let owners = listener.owner_references();
        ensure!(
            owners.len() == 1
                && Some(&owners[0].uid) == volume.uid().as_ref()
                && owners[0].controller.is_none(),
            "{owners:?}"
        );
        let csi = volume.spec.and_then(|spec| spec.csi);
        let attributes = csi.and_then(|csi| csi.volume_attributes);
        let attributes = attributes.unwrap_or_default();
        ensure!(attributes.get(CLASS).map(String::as_str) == Some(one.class));
        let pod = cluster.namespaced::<Pod>().get(one.name).await?;
        ensure!(
            pod.labels()
                .get(&mount_label(&listener))
                .map(String::as_str)
                == Some(one.name),
            "{:?}",
            pod.labels()
        );
        let list = format!("pod-{}", pod.uid().unwrap_or_default());
        let list = cluster.namespaced::<PodListeners>().get(&list).await?;
        ensure!(list.spec.listeners.contains_key("listener"));
    }
    Ok(())
}

/// The addresses in a status.
fn status_addresses(listener: &Listener) -> Vec<&str> {
    let status = listener.status.iter();
    let told = status.flat_map(|status| status.ingress_addresses.iter().flatten());
    told.map(|ingress| ingress.address.as_str()).collect()
}

/// Every version of every Listener, in the order of arrival.
struct Watched {
    seen: Arc<Mutex<Vec<Listener>>>,
    watching: JoinHandle<()>,
}

impl Watched {
    async fn start(cluster: &Cluster) -> Result<Self> {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let watching = tokio::spawn(watch(cluster.namespaced(), Arc::clone(&seen)));
        let watched = Self { seen, watching };
        eventually("the watch begins", SOON, async || {
            Ok((watched.seen().len() >= WORLD.len()).then_some(()))
        })
        .await?;
        Ok(watched)
    }

    fn seen(&self) -> Vec<Listener> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }

    /// Waits until the last version of each Listener came, and looks for one that lacks its address.
    async fn lost_nothing(self, cluster: &Cluster) -> Result<()> {
        let listeners = cluster.namespaced::<Listener>();
        eventually("the watch has come to the end", SOON, async || {
            let now = listeners.list(&ListParams::default()).await?;
            let seen = self.seen();
            let came = |one: &Listener| {
                let version = one.resource_version();
                seen.iter().any(|other| other.resource_version() == version)
            };
            Ok(now.items.iter().all(came).then_some(()))
        })
        .await?;
        self.watching.abort();
        for listener in self.seen() {
            let name = listener.name_any();
            let wanted = WORLD.iter().find(|one| one.name == name);
            let wanted = wanted.with_context(|| format!("{name} is of nobody"))?;
            ensure!(
                status_addresses(&listener) == [wanted.address],
                "{name} lost its address: {:?}",
                listener.status
            );
        }
        Ok(())
    }
}

/// Watches Listeners. A change of the definition ends a watch, which then restarts with the
/// existing objects.
async fn watch(listeners: Api<Listener>, seen: Arc<Mutex<Vec<Listener>>>) {
    let note = |more: Vec<Listener>| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(more);
    };
    loop {
        tokio::time::sleep(AGAIN).await;
        let Ok(list) = listeners.list(&ListParams::default()).await else {
            continue;
        };
        let version = list.metadata.resource_version.clone().unwrap_or_default();
        note(list.items);
        let params = WatchParams::default();
        let Ok(events) = listeners.watch(&params, &version).await else {
            continue;
        };
        let mut events = pin!(events);
        while let Some(Ok(event)) = events.next().await {
            match event {
                WatchEvent::Added(one) | WatchEvent::Modified(one) => note(vec![one]),
                WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => {}
                WatchEvent::Error(_) => break,
            }
        }
    }
}
