//! Edits by others of everything that the operator writes, on a real API server. Every field of a
//! Service of each type, and of the status of a Listener, is restored within two seconds. Every
//! field that a mount writes is restored at the next publish or mount. Prints figures.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::core::v1::{PersistentVolume, Pod, Service};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::edits::{self, Object, Rules, Writer};
use lifecycle_tests::harness::{Case, Need, eventually};
use lifecycle_tests::named;
use serde_json::json;

use crate::PROGRAM;
use crate::listener_volume::PATIENCE;
use crate::listener_volume::site::Site;
use crate::listeners::{Cluster, ExpectedCondition, message};

const BINARIES: &[Need] = &[Need::Binaries];

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): m12_every_place_is_ours_again_whatever_others_do_to_it, every_place_of_a_mount_is_ours_again_at_the_next_publishing]
}

/// The operator's promise (`docs/install.md`).
const BOUND: Duration = Duration::from_secs(2);

/// How many Listeners of each type are edited at once.
const GROUPS: usize = 8;

const TYPES: [&str; 3] = ["ClusterIP", "NodePort", "LoadBalancer"];

async fn m12_every_place_is_ours_again_whatever_others_do_to_it() -> Result<()> {
    let cluster = Cluster::start_with(PROGRAM, Options::default()).await?;
    let began = Instant::now();
    for of in TYPES {
        let class = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "ListenerClass",
            "metadata": { "name": of.to_lowercase() },
            "spec": { "serviceType": of, "serviceAnnotations": { "class.example.org/is": of } },
        });
        cluster.make(cluster.all::<ListenerClass>(), class).await?;
    }
    let rules = Rules {
        groups: GROUPS,
        bound: BOUND,
        exclusive: &["spec.ports"],
        told: &["metadata.ownerReferences"],
    };
    let group = async |number: usize| group(&cluster, number).await;
    let counts = edits::all(&rules, group, &Operator(&cluster)).await;
    let counts = counts.map_err(|error| {
        // For an object that was not restored, its own log lines explain more than the end of the
        // log.
        let said = format!("{error:#}");
        let name = said
            .split("default/")
            .nth(1)
            .and_then(|rest| rest.split(':').next());
        let log = cluster.log();
        let about = format!("default/{}`", name.unwrap_or_default());
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(&about)).collect();
        error.context(lines.join("\n"))
    })?;
    eprintln!("all in {:?}", began.elapsed());
    let cases = |kind: &str| counts.get(kind).map_or(0, |counts| counts.cases);
    ensure!(
        (cases("Service"), cases("Listener status")) == (397, 175),
        "other places than before: {counts:?}"
    );
    Ok(())
}

/// A Listener of each type for its Service, and one for its status.
async fn group(cluster: &Cluster, number: usize) -> Result<Vec<Object>> {
    let spec = |class: &str| {
        json!({
            "className": class,
            "ports": [{ "name": "http", "port": 8080 }, { "name": "dns", "port": 53, "protocol": "UDP" }],
            "extraPodSelectorLabels": { "tier": "front" },
        })
    };
    let mut objects = Vec::new();
    for of in TYPES {
        let name = format!("{}-{number}", of.to_lowercase());
        cluster.create(&name, spec(&of.to_lowercase())).await?;
        let service = Object::new::<Service>(&cluster.client, "default", &name);
        objects.push(service.written_for::<Listener>(&name));
    }
    let told = format!("told-{number}");
    cluster.create(&told, spec("clusterip")).await?;
    for object in &objects {
        let made = ExpectedCondition("Programmed", "True", "Programmed");
        cluster.condition(object.name(), made).await?;
    }
    cluster.ready(&told).await?;
    let told = Object::new::<Listener>(&cluster.client, "default", &told);
    objects.insert(0, told.status());
    Ok(objects)
}

struct Operator<'a>(&'a Cluster);

impl Writer for Operator<'_> {
    /// Returns true if the Listener reports that its Service is owned by another controller or
    /// user.
    async fn reports_foreign(&self, object: &Object) -> Result<bool> {
        let listeners: Api<Listener> = self.0.namespaced();
        let listener = listeners.get(object.name()).await?;
        let foreign = ExpectedCondition("Ready", "False", "ForeignService");
        Ok(foreign.holds_in(&listener) && message(&listener, "Ready").contains(object.name()))
    }
}

/// Tests that the next publish restores every field of a mount. Only kubelet, by publishing again,
/// triggers a check of it.
async fn every_place_of_a_mount_is_ours_again_at_the_next_publishing() -> Result<()> {
    let server = ApiServer::start().await?;
    let site = Site::start_on(server.client()).await?;
    let began = Instant::now();
    let rules = Rules {
        groups: MOUNTS,
        bound: BOUND,
        exclusive: &[],
        told: &[],
    };
    let mounts = Mounts::default();
    let counts = edits::all(
        &rules,
        async |number| mounts.add(&site, number).await,
        &mounts,
    )
    .await?;
    eprintln!("all in {:?}", began.elapsed());
    let cases: Vec<_> = counts
        .iter()
        .map(|(kind, counts)| (kind.as_str(), counts.cases))
        .collect();
    ensure!(cases == OF_A_MOUNT, "other places than before: {cases:?}");
    Ok(())
}

/// How many mounts are edited at once.
const MOUNTS: usize = 3;
const OF_A_MOUNT: [(&str, usize); 3] =
    [("PersistentVolume", 17), ("Pod", 10), ("PodListeners", 56)];

/// Mounts that are published again, by kind and name of the objects written for them.
#[derive(Default)]
struct Mounts(Mutex<BTreeMap<(String, String), Site>>);

impl Mounts {
    /// One more Pod with a volume.
    async fn add(&self, all: &Site, number: usize) -> Result<Vec<Object>> {
        let (claim, volume) = (format!("web-{number}"), format!("pvc-{number}"));
        let pod = format!("{claim}-0");
        let site = all.with_names(&claim, &volume, &pod);
        site.claim(json!({ "listeners.stackable.tech/listener-class": "cluster-internal" }))
            .await?;
        let uid = site.pod().await?.uid().context("it has a uid")?;
        eventually("the class is there", PATIENCE, async || {
            Ok(site.provision().await.ok())
        })
        .await?;
        site.stage().await?;
        site.publish().await?;
        let client = &site.admin;
        let objects = vec![
            Object::new::<Pod>(client, "apps", &pod),
            Object::new::<PodListeners>(client, "apps", &format!("pod-{uid}")),
            Object::of_cluster::<PersistentVolume>(client, &volume),
        ];
        let of = objects
            .iter()
            .map(|object| (Self::key(object), site.clone()));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(of);
        Ok(objects)
    }

    fn key(object: &Object) -> (String, String) {
        (object.kind(), object.name().to_owned())
    }

    fn find_site(&self, object: &Object) -> Result<Site> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .get(&Self::key(object))
            .cloned()
            .context("it is no mount")
    }
}

impl Writer for Mounts {
    async fn reports_foreign(&self, object: &Object) -> Result<bool> {
        bail!("nothing of {object} is given up")
    }

    /// A volume is read again where it is mounted anew.
    async fn trigger(&self, object: &Object) -> Result<()> {
        let site = self.find_site(object)?;
        if object.kind() == "PersistentVolume" {
            site.unpublish().await?;
        }
        // The next publish observes a failure of this one.
        let _ = site.publish().await.is_ok();
        Ok(())
    }
}
