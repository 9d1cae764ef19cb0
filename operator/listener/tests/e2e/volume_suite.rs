//! The generated suite of the Listener volume: disturbed lives end in the same result, and seeded
//! bugs are found.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lifecycle_csi::{Driver, Plugin, Volumes};
use lifecycle_listener::args::Preset;
use lifecycle_listener::volume::{Mount, Mounting, provisions};
use lifecycle_listener::{presets, volume};
use lifecycle_proto::csi;
use lifecycle_runtime::lifecycle::CreatedVolume;
use lifecycle_specs_listener::{crds, listener_mount};
use lifecycle_suite::volumes::{Fixture, Start, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::wrapped::Wrapped;
use lifecycle_tests::volumes::client::create;
use lifecycle_tests::volumes::seeded::{Mistake, seeded};
use lifecycle_tests::volumes::suites::{VOLUME, named, passes};
use serde_json::{Value, json};

use crate::suites;

const DRIVER: &str = "listeners.stackable.tech";
const CLASS: &str = "listeners.stackable.tech/listener-class";
const NAME: &str = "listeners.stackable.tech/listener-name";

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): nothing_changes_where_a_listener_volume_ends, an_operator_that_says_that_it_is_done_and_is_not_is_found, a_file_of_another_owner_is_found, a_call_that_writes_what_is_written_is_found, a_code_that_is_not_declared_is_found]
}

/// An even choice; all of them, which take minutes, with `LIFECYCLE_VOLUME_SCHEDULES=all`.
fn nothing_changes_where_a_listener_volume_ends() {
    match std::env::var("LIFECYCLE_VOLUME_SCHEDULES").as_deref() {
        Ok("all") => passes(&listener(), 380),
        Ok(other) => panic!("LIFECYCLE_VOLUME_SCHEDULES is `{other}`; say `all` or leave it out"),
        Err(_) => passes(&listener().budget(100), 240),
    }
}

/// The suite of the Listener volume.
fn listener() -> Suite {
    listener_of(Arc::new(|_: &Path| processes()))
}

/// The driver's two processes: for the cluster, and for its node.
fn processes() -> Vec<Volumes> {
    let controller = provisions(DRIVER, "c.sock");
    let mount = Mount {
        endpoint: "n.sock".to_owned(),
        node: "node-1".to_owned(),
        registration: None,
    };
    vec![controller, volume::mounts(DRIVER, mount)]
}

/// The suite of the Listener volume, started in another way, with the operator beside it.
fn listener_of(start: Start) -> Suite {
    let by_balancer = json!({ CLASS: "external-stable" });
    let by_name = json!({ NAME: "outside" });
    let suite = alone(start).together_with(suites::listener());
    suite
        .fixture(of_listener("a load balancer", by_balancer, None, true))
        .fixture(of_listener(
            "a Listener that is there",
            by_name,
            Some(outside()),
            true,
        ))
}

/// Returns the suite of the Listener volume without a controller that reports the addresses of a
/// Listener.
fn alone(start: Start) -> Suite {
    let by_class = json!({ CLASS: "cluster-internal" });
    let fixture = of_listener("a Listener of their own", by_class, None, false);
    Suite::new("Listener", start).fixture(fixture)
}

fn of_listener(
    name: &'static str,
    annotations: Value,
    listener: Option<Value>,
    brief: bool,
) -> Fixture {
    let files = [
        ("pods/9/volume/mount/kept", "of another Pod"),
        ("pods/0/volume/vol_data.json", "{}"),
        ("pods/0/volume/mount.other/address", "of another volume"),
    ];
    Fixture {
        name,
        stays: permanent_objects(),
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
        pods: ["web-0", "web-1"].map(pod_info).into(),
        around: None,
        brief,
    }
}

/// Returns the Pod data that a driver receives.
fn pod_info(pod: &str) -> BTreeMap<String, String> {
    named(&[
        ("csi.storage.k8s.io/pod.name", pod),
        ("csi.storage.k8s.io/pod.namespace", "apps"),
        ("csi.storage.k8s.io/ephemeral", "false"),
    ])
}

fn permanent_objects() -> Vec<Value> {
    let definitions = crds().into_iter();
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

/// The first finding about the node side of the Listener volume with a mistake.
fn finding(mistake: Mistake) -> String {
    let suite = listener_of(Arc::new(move |_: &Path| {
        let node = "node-1".to_owned();
        let mounts = seeded(listener_mount::machine(Mounting { node }), mistake);
        let plugin = Plugin::new(DRIVER, "1.0").with_controller();
        let driver = Driver::node(plugin, "n.sock", "node-1");
        vec![
            provisions(DRIVER, "c.sock"),
            Volumes::new(DRIVER).serve(mounts, driver),
        ]
    }));
    let report = suite.most_findings(1).run().expect("it begins");
    report.findings.first().cloned().unwrap_or_default()
}

#[track_caller]
fn check(found: &str, expected: &str) {
    assert!(found.contains(expected), "{found}");
}

fn a_file_of_another_owner_is_found() {
    let expected =
        "it touches what is not its own, while it is mounted: `pods/0/volume/vol_data.json`";
    check(&finding(Mistake::Touches), expected);
}

fn a_call_that_writes_what_is_written_is_found() {
    let expected = "undisturbed: a repeated call of completed work makes 2 writes";
    check(&finding(Mistake::Repeats), expected);
}

fn a_code_that_is_not_declared_is_found() {
    let expected = "NodePublishVolume answers Internal, which it does not declare";
    check(&finding(Mistake::Breaks), expected);
}

/// Tests that a false report is found: the operator settles in Ready and never reports its class. A
/// mount still waits, although the state claims to be done.
fn an_operator_that_says_that_it_is_done_and_is_not_is_found() {
    let beside = suites::listener().running(|machine| {
        let ir = machine.ir();
        let silent = move |_: &_, field: usize, value| match ir.fields[field].name {
            "observedClass" => Value::Null,
            _ => value,
        };
        Arc::new(Wrapped::around(machine).field(silent))
    });
    let start: Start = Arc::new(|_: &Path| processes());
    let report = alone(start).together_with(beside).budget(1).run();
    let report = report.expect("it begins");
    let expected = "`exposes` is open, which Listener keeps in Stranded | Idle | Provisioning | Ready: Listener `apps/web` settles in";
    assert!(
        report.findings.iter().any(|found| found.contains(expected)),
        "{report}"
    );
}
