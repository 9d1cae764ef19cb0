//! The generated suites of volumes: fixtures of the directory driver and of the Listener volume. Decides nothing about what must hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lifecycle_operator::args::Preset;
use lifecycle_operator::listener::Exposure;
use lifecycle_operator::volume::Mount;
use lifecycle_operator::{presets, volume};
use lifecycle_proto::csi;
use lifecycle_runtime::Operator;
use lifecycle_runtime::lifecycle::CreatedVolume;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::testing::volumes::{Around, Fixture, Start, Suite};
use lifecycle_specs::{crds, listener as specs};
use serde_json::{Value, json};

use super::client::create;
use super::{Places, operator};

const DRIVER: &str = "listeners.stackable.tech";
const VOLUME: &str = "pvc-1";
const CLASS: &str = "listeners.stackable.tech/listener-class";
const NAME: &str = "listeners.stackable.tech/listener-name";

/// The suite of the directory driver.
pub fn directory() -> Suite {
    directory_of(Arc::new(|folder: &Path| {
        vec![operator(Places::inside(folder))]
    }))
}

/// The suite of the directory driver, started in another way.
pub fn directory_of(start: Start) -> Suite {
    let files = [
        ("pods/9/volume/mount/kept", "of another Pod"),
        ("pods/0/volume/vol_data.json", "{}"),
        ("staging.other/kept", "of another volume"),
    ];
    Suite::new("directory", start).fixture(Fixture {
        name: "two Pods",
        stays: Vec::new(),
        goes: Vec::new(),
        others: Vec::new(),
        files: named(&files),
        own: vec!["disk".to_owned()],
        create: create(VOLUME),
        written: Arc::new(|_| Vec::new()),
        pods: vec![BTreeMap::new(), BTreeMap::new()],
        around: None,
        brief: false,
    })
}

/// The suite of the Listener volume.
pub fn listener() -> Suite {
    listener_of(Arc::new(|_: &Path| {
        let controller = volume::provisions(Operator::new(DRIVER).instance("controller"), "c.sock");
        let mount = Mount {
            endpoint: "n.sock".to_owned(),
            node: "node-1".to_owned(),
            registration: None,
        };
        let node = volume::mounts(Operator::new(DRIVER).instance("node"), mount);
        vec![controller, node]
    }))
}

/// The suite of the Listener volume, started in another way.
pub fn listener_of(start: Start) -> Suite {
    let by_class = json!({ CLASS: "cluster-internal" });
    let by_name = json!({ NAME: "outside" });
    Suite::new("Listener", start)
        .fixture(of_listener("a Listener of their own", by_class, None))
        .fixture(of_listener(
            "a Listener that is there",
            by_name,
            Some(outside()),
        ))
}

fn of_listener(name: &'static str, annotations: Value, listener: Option<Value>) -> Fixture {
    let files = [
        ("pods/9/volume/mount/kept", "of another Pod"),
        ("pods/0/volume/vol_data.json", "{}"),
        ("pods/0/volume/mount.other/address", "of another volume"),
    ];
    let brief = listener.is_some();
    Fixture {
        name,
        stays: stays(),
        goes: [
            claim("web", annotations),
            pod("web-0", "web"),
            pod("web-1", "web"),
        ]
        .into_iter()
        .chain(listener)
        .collect(),
        others: others(),
        files: named(&files),
        own: Vec::new(),
        create: csi::CreateVolumeRequest {
            parameters: named(&[
                ("csi.storage.k8s.io/pvc/name", "web"),
                ("csi.storage.k8s.io/pvc/namespace", "apps"),
            ]),
            ..create(VOLUME)
        },
        written: Arc::new(|made| vec![persistent_volume(VOLUME, "web", made)]),
        pods: ["web-0", "web-1"].map(told).into(),
        around: Some(controller()),
        brief,
    }
}

fn named(all: &[(&str, &str)]) -> BTreeMap<String, String> {
    let all = all.iter();
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// What a driver is told of a Pod.
fn told(pod: &str) -> BTreeMap<String, String> {
    named(&[
        ("csi.storage.k8s.io/pod.name", pod),
        ("csi.storage.k8s.io/pod.namespace", "apps"),
        ("csi.storage.k8s.io/ephemeral", "false"),
    ])
}

/// The operator beside the driver, which tells addresses.
fn controller() -> Around {
    Arc::new(|client| {
        Box::pin(async move {
            let (_trigger, shutdown) = Shutdown::pair();
            let exposure = Exposure {
                cluster_domain: "cluster.local".to_owned(),
            };
            let operator = Operator::new(DRIVER).instance("operator").seed(1);
            let running = operator.run(specs::machine(exposure));
            if let Err(error) = running.start(client, shutdown).await {
                panic!("the operator ended: {error}");
            }
        })
    })
}

fn stays() -> Vec<Value> {
    let definitions = crds::listeners().into_iter();
    let definitions = definitions.map(|d| serde_json::to_value(d).expect("it is an object"));
    let classes = presets::classes(Preset::EphemeralNodes).into_iter();
    let classes = classes.map(|c| serde_json::to_value(c).expect("it is an object"));
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": { "name": "node-1" },
        "status": { "addresses": [
            { "type": "InternalIP", "address": "10.0.0.1" }, { "type": "ExternalIP", "address": "192.0.2.1" },
        ] },
    });
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "apps" } });
    let all = definitions.chain(classes).chain([node, namespace]);
    all.collect()
}

/// Another Pod with its own volume.
fn others() -> Vec<Value> {
    let made = CreatedVolume::new("pvc-2").with_context(CLASS, "cluster-internal");
    vec![
        claim("other", json!({ CLASS: "cluster-internal" })),
        pod("other", "other"),
        persistent_volume("pvc-2", "other", &made),
    ]
}

fn outside() -> Value {
    json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "outside", "namespace": "apps" },
        "spec": { "className": "external-unstable", "ports": [{ "name": "http", "port": 80 }] },
    })
}

fn claim(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": name, "namespace": "apps", "annotations": annotations },
        "spec": { "accessModes": ["ReadWriteMany"], "resources": { "requests": { "storage": "1" } } },
    })
}

fn pod(name: &str, claim: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "namespace": "apps" },
        "spec": {
            "nodeName": "node-1",
            "containers": [{ "name": "c", "image": "i", "ports": [{ "name": "http", "containerPort": 80 }] }],
            "volumes": [{ "name": "listener", "persistentVolumeClaim": { "claimName": claim } }],
        },
    })
}

fn persistent_volume(name: &str, claim: &str, made: &CreatedVolume) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": name },
        "spec": {
            "accessModes": ["ReadWriteMany"], "capacity": { "storage": "1" },
            "claimRef": { "name": claim, "namespace": "apps" },
            "csi": { "driver": DRIVER, "volumeHandle": made.volume_id, "volumeAttributes": made.context },
        },
    })
}
