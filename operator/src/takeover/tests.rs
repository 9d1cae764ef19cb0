//! Each row of the judgement, on objects as the replaced operator leaves them.

mod workloads;

use jiff::Timestamp;
use kube::api::DynamicObject;
use lifecycle_listener::args::Preset;
use lifecycle_listener::controller::KINDS;
use lifecycle_runtime::yaml;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::finding::{Chosen, Finding, Severity};
use super::found::ClusterObjects;
use super::judge::judge;
use super::read::Read;
use super::*;

const REPLACED: &str = include_str!("replaced.yaml");
const DEPLOYMENT: &str = "Deployment stackable-operators/listener-operator-csi-provisioner";
const DAEMON_SET: &str = "DaemonSet stackable-operators/listener-operator-csi-node-driver";

/// A cluster as a list of objects, which a test edits.
struct Cluster(Vec<Value>);

impl Cluster {
    fn replaced() -> Self {
        let mut all: Vec<Value> = yaml::all(REPLACED).unwrap();
        let definitions = (KINDS.definitions)().into_iter();
        all.extend(definitions.map(|one| serde_json::to_value(one).unwrap()));
        Self(all)
    }

    /// Returns a cluster in which nothing of the replaced operator runs any more.
    fn cleared() -> Self {
        let mut cluster = Self::replaced();
        let is_left = |one: &Value| one["kind"] != "Deployment" && one["kind"] != "DaemonSet";
        cluster.0.retain(is_left);
        cluster.add_object(class(
            "external-stable",
            &json!({ "serviceType": "NodePort", "pinnedNodePorts": true }),
        ));
        cluster
    }

    fn add_object(&mut self, object: Value) -> &mut Self {
        self.0.push(object);
        self
    }

    /// Returns the first object of this kind whose name has this prefix.
    fn object(&mut self, kind: &str, name: &str) -> &mut Value {
        let mut all = self.0.iter_mut();
        let found = all.find(|one| {
            one["kind"] == kind && one["metadata"]["name"].as_str().unwrap().starts_with(name)
        });
        found.unwrap()
    }

    fn deployment(&mut self) -> &mut Value {
        self.object("Deployment", "listener-operator")
    }

    fn daemon_set(&mut self) -> &mut Value {
        self.object("DaemonSet", "listener-operator")
    }

    fn objects_of_kind<K: DeserializeOwned>(&self, kind: &str) -> Read<K> {
        let all = self.0.iter().filter(|one| one["kind"] == kind);
        Ok(all
            .map(|one| serde_json::from_value(one.clone()).unwrap())
            .collect())
    }

    fn found(&self, namespace: &str) -> ClusterObjects {
        let mut namespaces: Vec<k8s_openapi::api::core::v1::Namespace> =
            self.objects_of_kind("Namespace").unwrap();
        namespaces.retain(|one| one.metadata.name.as_deref() == Some(namespace));
        ClusterObjects {
            deployments: self.objects_of_kind("Deployment"),
            daemon_sets: self.objects_of_kind("DaemonSet"),
            leases: self.objects_of_kind("Lease"),
            drivers: self.objects_of_kind("CSIDriver"),
            storage_classes: self.objects_of_kind("StorageClass"),
            definitions: self.objects_of_kind::<DynamicObject>("CustomResourceDefinition"),
            classes: self.objects_of_kind::<DynamicObject>("ListenerClass"),
            namespaces: Ok(namespaces),
            volumes: self.objects_of_kind("PersistentVolume"),
        }
    }

    fn judged(&self, chosen: &Chosen) -> Vec<Finding> {
        judge(&self.found(&chosen.namespace), chosen)
    }
}

fn class(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": name }, "spec": spec,
    })
}

fn lease(namespace: &str, holder: &str, renewed: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": { "name": "listeners.stackable.tech-controller", "namespace": namespace },
        "spec": { "holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed },
    })
}

fn chosen() -> Chosen {
    Chosen {
        namespace: "listener-operator".to_owned(),
        preset: Preset::StableNodes,
        maintain_crds: true,
        kubelet: "/var/lib/kubelet".to_owned(),
        now: "2026-11-01T12:00:10Z".parse::<Timestamp>().unwrap(),
    }
}

/// The findings of one object, with how much each matters.
pub(super) fn object_findings(findings: &[Finding], object: &str) -> Vec<(Severity, String)> {
    let all = findings.iter().filter(|one| one.object == object);
    all.map(|one| (one.severity, format!("{}. {}", one.found, one.todo)))
        .collect()
}

/// The only finding of one object.
#[track_caller]
pub(super) fn only(findings: &[Finding], object: &str, severity: Severity, words: &[&str]) {
    let all = object_findings(findings, object);
    let [(found, text)] = &all[..] else {
        panic!("{object}: {all:#?}")
    };
    assert_eq!(*found, severity, "{text}");
    for word in words {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
}

pub(super) fn blocking(findings: &[Finding]) -> Vec<&str> {
    let all = findings
        .iter()
        .filter(|one| one.severity == Severity::Blocks);
    all.map(|one| one.object.as_str()).collect()
}

#[test]
fn fields_of_the_driver_and_its_class_block_if_nobody_can_change_them() {
    let mut cluster = Cluster::cleared();
    let driver = "CSIDriver listeners.stackable.tech";
    only(
        &cluster.judged(&chosen()),
        driver,
        Severity::Note,
        &["`requiresRepublish` is false and not true"],
    );
    cluster.object("CSIDriver", "listeners")["spec"]["requiresRepublish"] = json!(true);
    assert!(object_findings(&cluster.judged(&chosen()), driver).is_empty());
    // The order is irrelevant.
    cluster.object("CSIDriver", "listeners")["spec"]["volumeLifecycleModes"] =
        json!(["Persistent", "Ephemeral"]);
    assert!(object_findings(&cluster.judged(&chosen()), driver).is_empty());
    cluster.object("CSIDriver", "listeners")["spec"]["volumeLifecycleModes"] = Value::Null;
    cluster.object("CSIDriver", "listeners")["spec"]["attachRequired"] = Value::Null;
    let words = [
        "`attachRequired` is true and not false",
        "`volumeLifecycleModes` is [\"Persistent\"] and not",
    ];
    only(&cluster.judged(&chosen()), driver, Severity::Blocks, &words);
    let class = "StorageClass listeners.stackable.tech";
    assert!(object_findings(&cluster.judged(&chosen()), class).is_empty());
    for (field, value, said) in [
        ("provisioner", json!("other"), "`provisioner` is \"other\""),
        (
            "reclaimPolicy",
            json!("Retain"),
            "`reclaimPolicy` is \"Retain\"",
        ),
        (
            "volumeBindingMode",
            Value::Null,
            "`volumeBindingMode` is \"Immediate\"",
        ),
        (
            "parameters",
            json!({ "a": "b" }),
            "`parameters` is {\"a\":\"b\"}",
        ),
    ] {
        let mut cluster = Cluster::cleared();
        cluster.object("StorageClass", "listeners")[field] = value;
        only(&cluster.judged(&chosen()), class, Severity::Blocks, &[said]);
    }
}

#[test]
fn a_definition_blocks_if_its_webhook_stays_or_objects_are_of_another_version() {
    let mut cluster = Cluster::cleared();
    let by_hand = Chosen {
        maintain_crds: false,
        ..chosen()
    };
    let object = "CustomResourceDefinition listeners.listeners.stackable.tech";
    assert!(object_findings(&cluster.judged(&by_hand), object).is_empty());
    cluster.object("CustomResourceDefinition", "listeners")["spec"]["conversion"] =
        json!({ "strategy": "Webhook" });
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Note,
        &["conversion webhook"],
    );
    let command = "kubectl patch crd listeners.listeners.stackable.tech --type json";
    only(
        &cluster.judged(&by_hand),
        object,
        Severity::Blocks,
        &[command],
    );
    cluster.object("CustomResourceDefinition", "listeners")["spec"]["conversion"] = Value::Null;
    cluster.object("CustomResourceDefinition", "listeners")["status"]["storedVersions"] =
        json!(["v1alpha1", "v1alpha2"]);
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Blocks,
        &["v1alpha2"],
    );
    cluster.object("CustomResourceDefinition", "listeners")["status"]["storedVersions"] =
        json!(["v1alpha1"]);
    assert!(object_findings(&cluster.judged(&by_hand), object).is_empty());
    cluster
        .0
        .retain(|one| one["metadata"]["name"] != "listeners.listeners.stackable.tech");
    assert!(object_findings(&cluster.judged(&chosen()), object).is_empty());
    only(
        &cluster.judged(&by_hand),
        object,
        Severity::Blocks,
        &["lifecycle-operator crd"],
    );
}

#[test]
fn classes_are_noted_where_they_are_missing_or_differ_and_block_if_they_are_none() {
    let mut cluster = Cluster::cleared();
    let findings = cluster.judged(&chosen());
    assert!(object_findings(&findings, "ListenerClass cluster-internal").is_empty());
    assert!(object_findings(&findings, "ListenerClass external-stable").is_empty());
    let object = "ListenerClass external-unstable";
    only(
        &findings,
        object,
        Severity::Note,
        &["stays as it is", "`spec.serviceAnnotations`"],
    );
    let findings = Cluster::replaced().judged(&chosen());
    let stable = "ListenerClass external-stable";
    only(
        &findings,
        stable,
        Severity::Note,
        &["NodePort, and each Pod stays on its node"],
    );
    cluster.object("ListenerClass", "external-unstable")["spec"] = json!({ "serviceType": 3 });
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Blocks,
        &["correct it"],
    );
    let none = Chosen {
        preset: Preset::None,
        ..chosen()
    };
    assert!(object_findings(&cluster.judged(&none), object).is_empty());
}

#[test]
fn a_namespace_must_admit_what_nodes_need() {
    let mut cluster = Cluster::cleared();
    let object = "Namespace listener-operator";
    assert!(object_findings(&cluster.judged(&chosen()), object).is_empty());
    let label = "pod-security.kubernetes.io/enforce";
    cluster.object("Namespace", "listener-operator")["metadata"]["labels"] =
        json!({ label: "baseline" });
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Blocks,
        &["`baseline`", "enforce=privileged --overwrite"],
    );
    cluster.object("Namespace", "listener-operator")["metadata"]["labels"] = Value::Null;
    assert!(object_findings(&cluster.judged(&chosen()), object).is_empty());
    cluster.0.retain(|one| one["kind"] != "Namespace");
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Note,
        &["does not exist"],
    );
}

#[test]
fn volumes_that_get_labels_are_counted() {
    let mut cluster = Cluster::cleared();
    let object = "PersistentVolume pvc-0b0f5dbb";
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Note,
        &["its Listener is not named"],
    );
    let mut other = cluster.object("PersistentVolume", "pvc").clone();
    other["metadata"]["name"] = json!("pvc-1");
    let mut labelled = other.clone();
    labelled["metadata"]["labels"] = json!({ "listeners.stackable.tech/listener-name": "web" });
    cluster.add_object(other).add_object(labelled);
    only(
        &cluster.judged(&chosen()),
        object,
        Severity::Note,
        &["and 1 more of"],
    );
}

#[test]
fn what_may_not_be_read_outweighs_what_blocks() {
    let cluster = Cluster::replaced();
    let mut found = cluster.found("listener-operator");
    let all = judge(&found, &chosen());
    assert_eq!(code(&all, Some(Verdict::Something)), BLOCKED);
    assert_eq!(code(&all, None), UNKNOWN);
    found.storage_classes = Err("no".to_owned());
    let all = judge(&found, &chosen());
    only(
        &all,
        "StorageClass",
        Severity::Unread,
        &["no", "get storageclasses.storage.k8s.io"],
    );
    assert_eq!(code(&all, Some(Verdict::Something)), UNKNOWN);
    let text = text::text(&all, "controller");
    assert!(
        text.contains("3 findings block the takeover, but 1 check could not be made.\n"),
        "{text}"
    );
    let order: Vec<Severity> = all.iter().map(|one| one.severity).collect();
    assert!(order.is_sorted(), "{order:?}");
}

#[test]
fn nothing_blocks_once_the_replaced_operator_is_gone() {
    let findings = Cluster::cleared().judged(&chosen());
    assert_eq!(blocking(&findings), [""; 0]);
    assert_eq!(code(&findings, Some(Verdict::Nothing)), 0);
    assert_eq!(code(&findings, Some(Verdict::Unknown)), UNKNOWN);
}
