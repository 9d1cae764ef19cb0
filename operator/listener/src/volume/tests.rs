//! Observations and desired objects of a mount, as tables: no cluster, no client, no disk.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, PersistentVolume, PersistentVolumeClaim, Pod};
use lifecycle_runtime::lifecycle::request::{Access, AccessMode, Capability, Requested};
use lifecycle_runtime::lifecycle::{CreatedVolume, Request};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::listener_mount::{
    Aim, ClaimPorts, Exposed, ListenerMountLogic, Namesake, PodAddresses,
};
use lifecycle_specs_listener::listener_provisioning::{
    Allowed, Asked, ListenerProvisioningLogic, Seen, Source,
};
use lifecycle_specs_listener::pod_listeners::PodListenerScope;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

fn parsed<T: DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).expect("it is an object of its kind")
}

fn claim(annotations: Value) -> PersistentVolumeClaim {
    parsed(json!({ "metadata": {
        "name": "data", "namespace": "apps", "annotations": annotations, "labels": {"team": "a"},
    } }))
}

fn pod(spec: Value) -> Pod {
    parsed(json!({
        "metadata": { "name": "web-0", "namespace": "apps", "uid": "1-2", "labels": {
            "app.kubernetes.io/name": "web", "app.kubernetes.io/managed-by": "helm", "team": "b",
        } },
        "spec": spec,
    }))
}

fn class(spec: Value) -> ListenerClass {
    parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": "c", "uid": "class", "generation": 3 }, "spec": spec,
    }))
}

/// A Listener of the class `c` in its generation 2, as its lifecycle left it.
fn listener(status: &Value) -> Listener {
    let mut whole = json!({
        "observedClass": { "uid": "class", "serviceType": "ClusterIP", "addressType": "Hostname" },
        "conditions": [{
            "type": "Ready", "status": "False", "reason": "R", "message": "the cloud is out of addresses",
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 2,
        }],
    });
    let fields = whole.as_object_mut().expect("it is an object");
    for (key, value) in status.as_object().into_iter().flatten() {
        fields.insert(key.clone(), value.clone());
    }
    parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "web", "namespace": "apps", "uid": "12-34", "generation": 2 },
        "spec": { "className": "c" },
        "status": whole,
    }))
}

#[test]
fn m21_a_claim_is_promised_what_its_annotation_names() {
    let table = [
        (
            json!({"listeners.stackable.tech/listener-class": "c"}),
            Source::Class,
        ),
        (
            json!({"listeners.stackable.tech/listener-name": "n"}),
            Source::Name,
        ),
        (json!({}), Source::Bad),
        (
            json!({"listeners.stackable.tech/listener-class": "c", "listeners.stackable.tech/listener-name": "n"}),
            Source::Bad,
        ),
    ];
    for (annotations, expected) in table {
        let claim = claim(annotations);
        assert_eq!(Provisioning.source(&claim).value, expected, "{claim:?}");
    }
}

/// The answer to `CreateVolume` for a claim and its class.
fn promised(
    claim: &PersistentVolumeClaim,
    class: &ListenerClass,
    request: &Requested,
) -> CreatedVolume {
    Provisioning.created_volume(&Seen {
        request: Request::new(request),
        pv: None,
        claim: Some(claim),
        chosen: None,
        class: Some(class),
    })
}

/// Tests that a volume copies only the annotations that it needs: `kubectl apply` keeps the whole
/// claim in one, and the parameters of a volume are immutable.
#[test]
fn b40_a_new_volume_carries_only_what_its_claim_asks_for() {
    let class = class(json!({ "serviceType": "ClusterIP" }));
    for asks in [
        "listeners.stackable.tech/listener-class",
        "listeners.stackable.tech/listener-name",
    ] {
        let claim = claim(json!({
            asks: "c", "team": "a",
            "kubectl.kubernetes.io/last-applied-configuration": "{\"kind\":\"PersistentVolumeClaim\"}",
            "volume.kubernetes.io/selected-node": "node-1",
        }));
        let volume = promised(&claim, &class, &Requested::default());
        assert_eq!(volume.context, [(asks.to_owned(), "c".to_owned())].into());
    }
}

/// Tests that the first preferred topology, the node of the Pod, is used with and without the rest
/// of the cluster in the request.
#[test]
fn b50_of_a_thousand_nodes_a_pinned_volume_gets_the_one_of_its_pod() {
    let place = |n: usize| BTreeMap::from([(TOPOLOGY.to_owned(), format!("node-{n}"))]);
    let claim = claim(json!({ "listeners.stackable.tech/listener-class": "c" }));
    let check = |spec: &Value, request: &Requested, expected: &[BTreeMap<String, String>]| {
        let class = class(spec.clone());
        let volume = promised(&claim, &class, request);
        assert_eq!(volume.accessible, expected, "{spec}");
    };
    let every = Requested {
        requisite: (0..1000).map(place).collect(),
        preferred: (700..1000).chain(0..700).map(place).collect(),
        ..Requested::default()
    };
    let strict = Requested {
        requisite: vec![place(700)],
        preferred: vec![place(700)],
        ..Requested::default()
    };
    for request in [every, strict] {
        let pinned = json!({ "serviceType": "NodePort", "pinnedNodePorts": true });
        check(&pinned, &request, &[place(700)]);
        check(&json!({ "serviceType": "NodePort" }), &request, &[]);
        let other = json!({ "serviceType": "LoadBalancer", "pinnedNodePorts": true });
        check(&other, &request, &[]);
    }
}

/// Before a volume is made, and not only when a Pod mounts it.
#[test]
fn a_claim_in_a_namespace_that_its_class_does_not_allow_is_promised_nothing() {
    let allowed = |namespaces: Value| {
        let class = class(json!({ "serviceType": "ClusterIP", "allowedNamespaces": namespaces }));
        let answer = Provisioning.allowed(Some(&claim(json!({}))), &class);
        (answer.value, answer.sentence)
    };
    assert_eq!(allowed(Value::Null).0, Allowed::Yes);
    assert_eq!(allowed(json!(["ap*"])).0, Allowed::Yes);
    let sentence = "ListenerClass `c` does not allow namespace `apps`; name another class, or add it to `spec.allowedNamespaces`";
    for namespaces in [json!([]), json!(["app", "team-*"])] {
        assert_eq!(allowed(namespaces), (Allowed::No, sentence.to_owned()));
    }
}

#[test]
fn a_listener_of_the_name_of_a_claim_is_named_with_the_claim_and_what_to_do() {
    let volume: PersistentVolume = parsed(json!({ "metadata": { "name": "pvc-1", "uid": "v" } }));
    let claim = claim(json!({}));
    let owner = |kind: &str, uid: &str, controller: bool| json!({ "apiVersion": "v1", "kind": kind, "name": "o", "uid": uid, "controller": controller });
    // With these for `data` and `o` it is still short.
    let usual = [
        "simple-kafka-broker-default-0-listener",
        "pvc-c0ffee00-0000-0000-0000-000000000042",
    ];
    let check = |owners: Value, expected: Namesake, words: &[&str]| {
        let mut known = listener(&json!({}));
        known.metadata.owner_references = parsed(owners.clone());
        let mounting = Mounting {
            node: "n".to_owned(),
        };
        let answer = mounting.namesake(&volume, &claim, Some(&known));
        assert_eq!(answer.value, expected, "{owners}");
        let said = answer.sentence;
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        let whole = said.replace("`data`", &format!("`{}`", usual[0]));
        let whole = whole.replace("`o`", &format!("`{}`", usual[1]));
        assert!(whole.len() <= 200, "{whole}");
    };
    let other = [
        "Listener `data`",
        "rename the claim",
        "`listeners.stackable.tech/listener-name`",
    ];
    let volume_of = |uid: &str| owner("PersistentVolume", uid, false);
    check(json!([]), Namesake::Other, &other);
    check(json!([owner("Pod", "p", false)]), Namesake::Other, &other);
    let controlled = json!([volume_of("v"), owner("Pod", "p", true)]);
    check(controlled, Namesake::Other, &other);
    let controlled = json!([volume_of("before"), owner("Pod", "p", true)]);
    check(controlled, Namesake::Other, &other);
    let earlier = [
        "Listener `data`",
        "volume `o`",
        "wait, or delete that volume",
    ];
    check(json!([volume_of("before")]), Namesake::Earlier, &earlier);
}

#[test]
fn b42_block_volumes_and_unknown_access_modes_do_not_fit() {
    let mount = || Access::Mount {
        fs_type: String::new(),
        flags: Vec::new(),
    };
    let asked = |access, mode| {
        let capabilities = [Capability { access, mode }];
        Provisioning.asked(&capabilities).value
    };
    assert_eq!(asked(mount(), AccessMode::SingleNodeWriter), Asked::Mount);
    assert_eq!(
        asked(mount(), AccessMode::MultiNodeReaderOnly),
        Asked::Mount
    );
    assert_eq!(asked(mount(), AccessMode::Unknown), Asked::Unfit);
    assert_eq!(
        asked(Access::Block, AccessMode::SingleNodeWriter),
        Asked::Unfit
    );
}

#[test]
fn m25_a_pod_uses_a_claim_by_its_name_or_by_an_ephemeral_volume() {
    let claim =
        |name: &str| -> PersistentVolumeClaim { parsed(json!({"metadata": {"name": name}})) };
    let pod = pod(json!({ "containers": [], "volumes": [
        { "name": "a", "persistentVolumeClaim": { "claimName": "data" } },
        { "name": "b", "ephemeral": { "volumeClaimTemplate": { "spec": {} } } },
        { "name": "c", "emptyDir": {} },
    ] }));
    assert_eq!(pod::volume_of(&pod, &claim("data")), Some("a"));
    assert_eq!(pod::volume_of(&pod, &claim("web-0-b")), Some("b"));
    assert_eq!(pod::volume_of(&pod, &claim("web-0-c")), None);
    assert_eq!(pod::volume_of(&pod, &claim("other")), None);
}

#[test]
fn m24_b30_b56_the_listener_of_a_claim_is_the_one_of_the_contract() {
    let pod = pod(json!({
        "initContainers": [
            { "name": "once", "ports": [{ "containerPort": 1 }] },
            { "name": "sidecar", "restartPolicy": "Always", "ports": [{ "name": "admin", "containerPort": 9 }] },
        ],
        "containers": [{ "name": "c", "ports": [
            { "name": "http", "containerPort": 80, "protocol": "TCP" }, { "containerPort": 53, "protocol": "UDP" },
        ] }],
    }));
    let volume: PersistentVolume = parsed(json!({"metadata": {"name": "pvc-1", "uid": "v"}}));
    let ports = listener::ports(None, &pod);
    let claim = claim(json!({}));
    let expected = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": {
            "name": "data", "namespace": "apps",
            "labels": { "team": "a", "app.kubernetes.io/name": "web" },
            "ownerReferences": [{ "apiVersion": "v1", "kind": "PersistentVolume", "name": "pvc-1", "uid": "v" }],
        },
        "spec": { "className": "c", "publishNotReadyAddresses": true, "ports": [
            { "name": "admin", "port": 9 },
            { "name": "http", "port": 80, "protocol": "TCP" },
            { "name": "port-53", "port": 53, "protocol": "UDP" },
        ] },
    });
    assert_eq!(
        listener::build(Some("c"), &volume, &claim, &pod, &ports),
        expected
    );
}

#[test]
fn b52_pods_of_one_claim_give_the_union_of_their_ports_in_any_order() {
    let of = |ports: Value| pod(json!({ "containers": [{ "name": "c", "ports": ports }] }));
    let one = of(json!([{ "name": "a", "containerPort": 1 }, { "name": "b", "containerPort": 2 }]));
    let two = of(json!([{ "name": "b", "containerPort": 2 }, { "name": "c", "containerPort": 3 }]));
    let first = listener::ports(Some(&known(&listener::ports(None, &one))), &two);
    let second = listener::ports(Some(&known(&listener::ports(None, &two))), &one);
    assert_eq!(first, second);
    assert_eq!(first.named_by, None, "no two name a port differently");
    assert_eq!(numbers(&first), [1, 2, 3]);
    let again = listener::ports(Some(&known(&first)), &one);
    assert_eq!(again, first, "a repeated mount changes nothing");
    let moved = of(json!([{ "name": "a", "containerPort": 9 }]));
    let ports = listener::ports(Some(&known(&first)), &moved);
    assert_eq!(numbers(&ports), [9, 2, 3]);
}

/// A Listener with these ports, as a mount leaves it.
fn known(ports: &ClaimPorts) -> Listener {
    let mut known = listener(&json!({}));
    let volume: PersistentVolume = parsed(json!({ "metadata": { "name": "pvc-1", "uid": "v" } }));
    let built = listener::build(None, &volume, &claim(json!({})), &pod(json!({})), ports);
    let built: Listener = parsed(built);
    (known.spec, known.metadata.annotations) = (built.spec, built.metadata.annotations);
    known
}

fn numbers(ports: &ClaimPorts) -> Vec<i32> {
    ports.ports.iter().map(|port| port.port).collect()
}

#[test]
fn b52_of_two_pods_that_name_a_port_differently_the_newer_decides_whoever_mounts_last() {
    let of = |uid: &str, created: &str, name: &str| {
        let mut pod = pod(json!({ "containers": [
            { "name": "c", "ports": [{ "name": name, "containerPort": 80 }, { "name": uid, "containerPort": 9 }] },
        ] }));
        pod.metadata.uid = Some(uid.to_owned());
        pod.metadata.creation_timestamp = Some(parsed(json!(created)));
        pod
    };
    let old = of("z", "2026-01-01T00:00:00Z", "http");
    let new = of("a", "2026-01-01T00:00:01Z", "web");
    let same_second = of("b", "2026-01-01T00:00:01Z", "web-b");
    let names = |ports: &ClaimPorts| {
        let named = ports.ports.iter().filter(|port| port.port == 80);
        named.map(|port| port.name.clone()).collect::<Vec<_>>()
    };
    for (first, second, expected) in [
        (&old, &new, "web"),
        (&new, &old, "web"),
        (&new, &same_second, "web-b"),
        (&same_second, &new, "web-b"),
    ] {
        let mut ports = listener::ports(None, first);
        // Who mounts last is known no sooner than the others have mounted again.
        for pod in [second, first, second] {
            ports = listener::ports(Some(&known(&ports)), pod);
        }
        assert_eq!(names(&ports), [expected]);
        for pod in [first, second] {
            let again = listener::ports(Some(&known(&ports)), pod);
            assert_eq!(again, ports, "a repeated publishing changes nothing");
        }
    }
    // A change of the containers is followed.
    let before = listener::ports(None, &old);
    assert_eq!(
        names(&listener::ports(Some(&known(&before)), &new)),
        ["web"]
    );
}

/// Never an address of before: neither of another class, nor of an older one, nor of an older Listener.
#[test]
fn b37_a_status_counts_only_if_it_speaks_of_the_class_and_the_listener_of_now() {
    let class = class(json!({ "serviceType": "ClusterIP" }));
    let served = json!({
        "serviceName": "web", "ingressAddresses": [],
        "observedClass": { "uid": "class", "serviceType": "ClusterIP", "addressType": "Hostname" },
    });
    let check = |listener: &Listener, expected: Exposed| {
        let answer = exposure::exposed(listener, Some(&class));
        assert_eq!(answer.value, expected, "{:?}", listener.status);
    };
    check(&listener(&served), Exposed::Yes);
    let mut older = served.clone();
    older["observedClass"]["serviceType"] = "NodePort".into();
    check(&listener(&older), Exposed::No);
    let mut other = served.clone();
    other["observedClass"]["uid"] = "other".into();
    check(&listener(&other), Exposed::No);
    let mut unsaid = served.clone();
    unsaid["observedClass"] = Value::Null;
    check(&listener(&unsaid), Exposed::No);
    let mut edited = listener(&served);
    edited.metadata.generation = Some(3);
    check(&edited, Exposed::No);
    let mut classless = listener(&served);
    classless.spec.class_name = None;
    check(&classless, Exposed::NoClass);
    let unmade = listener(&json!({}));
    let answer = exposure::exposed(&unmade, Some(&class));
    assert_eq!(answer.value, Exposed::No);
    assert!(
        answer.sentence.contains("the cloud is out of addresses"),
        "{answer:?}"
    );
}

#[test]
fn m27_a_node_port_pod_is_told_its_own_node_and_others_the_whole_list() {
    let node: Node = parsed(
        json!({ "metadata": { "name": "n1" }, "status": { "addresses": [
        { "type": "InternalIP", "address": "10.0.0.1" }, { "type": "Hostname", "address": "n1.example.com" },
    ] } }),
    );
    let both = json!([
        { "address": "10.0.0.1", "addressType": "IP", "ports": {"http": 30080} },
        { "address": "10.0.0.2", "addressType": "IP", "ports": {"http": 30080} },
    ]);
    let node_port = listener(
        &json!({ "serviceName": "web", "nodePorts": {"http": 30080}, "ingressAddresses": both }),
    );
    let told = |listener: &Listener, class: &ListenerClass| {
        exposure::pod_addresses(Some(listener), Some(class), Some(&node))
    };
    let addresses = |told: &PodAddresses| -> Vec<String> {
        told.addresses.iter().map(|a| a.address.clone()).collect()
    };
    let by_ip = told(&node_port, &class(json!({ "serviceType": "NodePort" })));
    assert_eq!(
        (addresses(&by_ip), by_ip.scope),
        (vec!["10.0.0.1".to_owned()], PodListenerScope::Node)
    );
    assert_eq!(by_ip.addresses[0].ports["http"], 30080);
    let by_name = told(
        &node_port,
        &class(json!({ "serviceType": "NodePort", "preferredAddressType": "Hostname" })),
    );
    assert_eq!(addresses(&by_name), ["n1.example.com"]);
    let balanced = listener(&json!({ "serviceName": "web", "ingressAddresses": both }));
    let all = told(&balanced, &class(json!({ "serviceType": "LoadBalancer" })));
    assert_eq!(
        (all.addresses.len(), all.scope),
        (2, PodListenerScope::Cluster)
    );
}

#[test]
fn b53_a_mount_repeats_a_condition_in_one_short_sentence() {
    let class = class(json!({ "serviceType": "ClusterIP" }));
    let said = |message: &str| {
        let mut listener = listener(&json!({}));
        let conditions = listener.status.as_mut().and_then(|s| s.conditions.as_mut());
        conditions.expect("it has conditions")[0].message = message.to_owned();
        exposure::exposed(&listener, Some(&class)).sentence
    };
    assert_eq!(said("no"), "Listener `web` is not ready: no");
    let long = "l".repeat(200);
    assert_eq!(said(&long), long);
    assert_eq!(said(&"ö".repeat(201)), format!("{}..", "ö".repeat(198)));
}

#[test]
fn a_node_port_pod_is_told_what_its_class_adds_behind_its_own_node() {
    let node: Node = parsed(
        json!({ "metadata": { "name": "n1" }, "status": { "addresses": [
        { "type": "InternalIP", "address": "10.0.0.1" }, { "type": "InternalIP", "address": "fd00::1" },
    ] } }),
    );
    let mut listener = listener(&json!({ "serviceName": "web", "nodePorts": {"http": 30080} }));
    listener.spec.external_names = Some(vec!["web.example.org".into(), "web.example.net".into()]);
    let told = |class: Value| {
        let told = exposure::pod_addresses(Some(&listener), Some(&self::class(class)), Some(&node));
        assert_eq!(told.scope, PodListenerScope::Node);
        let addresses = told.addresses.into_iter().map(|a| a.address);
        addresses.collect::<Vec<_>>()
    };
    assert_eq!(told(json!({ "serviceType": "NodePort" })), ["10.0.0.1"]);
    let adding = json!({
        "serviceType": "NodePort", "allowedExternalNameSuffixes": ["example.org"],
        "additionalNodeAddressTypes": ["InternalIP"],
    });
    assert_eq!(told(adding), ["10.0.0.1", "fd00::1", "web.example.org"]);
}

#[test]
fn m30_what_is_written_about_a_pod_is_what_the_contract_says() {
    let aim = Aim {
        namespace: "apps".to_owned(),
        name: "web".to_owned(),
        uid: "1234".to_owned(),
    };
    assert_eq!(
        pod::label(&aim)["metadata"]["labels"],
        json!({ "listener.stackable.tech/mnt.1234": "web" })
    );
    let pod = pod(json!({ "containers": [] }));
    let told = PodAddresses {
        addresses: Vec::new(),
        scope: PodListenerScope::Cluster,
    };
    let entry = pod::entry(&pod, "node-1", ("data", &told));
    assert_eq!(entry["metadata"]["name"], "pod-1-2");
    assert_eq!(
        entry["metadata"]["labels"],
        json!({ "listeners.stackable.tech/node": "node-1" })
    );
    assert_eq!(
        entry["metadata"]["ownerReferences"][0]["controller"],
        Value::Null
    );
    assert_eq!(
        entry["spec"]["listeners"],
        json!({ "data": { "scope": "Cluster", "ingressAddresses": [] } })
    );
}

#[test]
fn a_call_means_the_pod_that_it_names_by_its_uid() {
    let pod = pod(json!({ "containers": [] }));
    let check = |uid: Option<&str>, expected: bool| {
        let context = uid.map(|uid| ("csi.storage.k8s.io/pod.uid".to_owned(), uid.to_owned()));
        let request = Requested {
            volume_context: context.into_iter().collect(),
            ..Requested::default()
        };
        let mounting = Mounting {
            node: "n".to_owned(),
        };
        let answer = mounting.meant(Request::new(&request), &pod);
        assert_eq!(answer.value, expected, "{uid:?}");
    };
    check(Some("1-2"), true);
    check(Some("1-3"), false);
    check(Some(""), true);
    check(None, true);
}

#[test]
fn the_name_of_a_node_becomes_a_label_whatever_its_length() {
    let long = |end: &str| format!("{}{end}", "n".repeat(100));
    for node in ["node-1", "ip-10-0-0-1.eu-west-1.compute.internal"] {
        assert_eq!(pod::node_label(node), node);
    }
    let (one, two) = (pod::node_label(&long("a")), pod::node_label(&long("b")));
    assert_eq!((one.len(), two.len()), (63, 63));
    assert_ne!(one, two);
    assert_eq!(one, pod::node_label(&long("a")));
}
