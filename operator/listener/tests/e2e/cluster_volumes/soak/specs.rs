//! The specs that a soak has written so far, and the state that they ask for: a small model of the contract, which shares no code with the operator.
//! Pure: knows no client.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::cluster_volumes::pods::{claim, class, ephemeral, listener, of_claim, pod_spec};

/// The volume of each Pod, which it mounts at `/listener`.
pub(super) const VOLUME: &str = "listener";

/// Annotations of Services: by the class, by the overrides of the class, by those of the Listener.
const ROUND: &str = "soak.example.org/round";
const OF_CLASS: &str = "soak.example.org/class";
const OWN: &str = "soak.example.org/own";

/// A ListenerClass.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) node_port: bool,
    pub(super) pinned: bool,
    /// The value of its annotation.
    pub(super) round: u64,
    /// The value of the annotation that its overrides set.
    pub(super) overrides: u64,
}

impl Class {
    pub(super) fn new(node_port: bool, pinned: bool) -> Self {
        Self {
            node_port,
            pinned,
            round: 0,
            overrides: 0,
        }
    }

    pub(super) fn service_type(&self) -> &'static str {
        match self.node_port {
            true => "NodePort",
            false => "ClusterIP",
        }
    }

    pub(super) fn spec(&self) -> Value {
        let overrides = json!({ OF_CLASS: self.overrides.to_string() });
        json!({
            "serviceType": self.service_type(),
            "pinnedNodePorts": self.pinned,
            "serviceAnnotations": { ROUND: self.round.to_string() },
            "serviceOverrides": { "metadata": { "annotations": overrides } },
        })
    }
}

/// A Listener that a user made.
#[derive(Clone, Debug)]
pub(super) struct ManualListener {
    pub(super) class: String,
    pub(super) port: u16,
    pub(super) publish: Option<bool>,
    /// Restricts the selector to the label that all Pods of the soak have.
    pub(super) extra: bool,
    /// The value of the annotation that an override of its own sets.
    pub(super) own: Option<u64>,
}

impl ManualListener {
    pub(super) fn spec(&self, name: &str) -> Value {
        let mut spec = json!({
            "className": self.class,
            "ports": [{ "name": "http", "port": self.port }],
            "extraPodSelectorLabels": {},
            "objectOverrides": [],
        });
        if let Some(publish) = self.publish {
            spec["publishNotReadyAddresses"] = json!(publish);
        }
        if self.extra {
            spec["extraPodSelectorLabels"] = pod_labels();
        }
        if let Some(own) = self.own {
            let annotations = json!({ OWN: own.to_string() });
            let metadata =
                json!({ "name": name, "namespace": "default", "annotations": annotations });
            spec["objectOverrides"] =
                json!([{ "apiVersion": "v1", "kind": "Service", "metadata": metadata }]);
        }
        spec
    }
}

/// The labels that each Pod of the soak is made with.
fn pod_labels() -> Value {
    json!({ "app": "served" })
}

/// The labels that each Listener made by hand has.
pub(super) fn made_labels() -> Value {
    json!({ "soak.example.org/made": "by-hand" })
}

/// The request of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClaimRequest {
    Class(String),
    Listener(String),
}

impl ClaimRequest {
    fn annotations(&self) -> Value {
        match self {
            Self::Class(name) => class(name),
            Self::Listener(name) => listener(name),
        }
    }
}

/// A Pod with one Listener volume.
#[derive(Clone, Debug)]
pub(super) struct Mounting {
    /// The index of its node.
    pub(super) node: usize,
    pub(super) asks: ClaimRequest,
    /// Its claim comes and goes with it. Otherwise the claim has its name, and a Pod that is lost is made again.
    pub(super) ephemeral: bool,
    /// No operation deletes it.
    pub(super) stays: bool,
}

impl Mounting {
    /// The name of the claim of a Pod of this name.
    pub(super) fn claim(&self, pod: &str) -> String {
        match self.ephemeral {
            true => format!("{pod}-{VOLUME}"),
            false => pod.to_owned(),
        }
    }

    /// The name of the Listener that a Pod of this name mounts.
    pub(super) fn listener(&self, pod: &str) -> String {
        match &self.asks {
            ClaimRequest::Class(_) => self.claim(pod),
            ClaimRequest::Listener(name) => name.clone(),
        }
    }

    /// The claim as an object, unless it comes with the Pod.
    pub(super) fn claim_object(&self, pod: &str) -> Option<Value> {
        (!self.ephemeral).then(|| claim(&self.claim(pod), &self.asks.annotations()))
    }

    pub(super) fn object(&self, pod: &str, node: &str) -> Value {
        let volume = match self.ephemeral {
            true => ephemeral(VOLUME, &self.asks.annotations()),
            false => of_claim(VOLUME, &self.claim(pod)),
        };
        let mut spec = pod_spec(&[volume]);
        spec["nodeSelector"] = json!({ "kubernetes.io/hostname": node });
        json!({ "metadata": { "name": pod, "labels": pod_labels() }, "spec": spec })
    }
}

/// All that was written and not deleted again, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Specs {
    pub(super) classes: BTreeMap<String, Class>,
    pub(super) made: BTreeMap<String, ManualListener>,
    pub(super) pods: BTreeMap<String, Mounting>,
}

impl Specs {
    pub(super) fn is_mounted(&self, listener: &str) -> bool {
        let mut pods = self.pods.iter();
        pods.any(|(name, pod)| pod.listener(name) == listener)
    }

    /// Returns each Listener that must exist, with its expected properties, by name.
    pub(super) fn exposures(&self) -> BTreeMap<String, Exposure> {
        let made = self.made.iter().filter_map(|(name, made)| {
            let exposure = Exposure {
                class: self.classes.get(&made.class)?.clone(),
                spec: made.spec(name),
                port: made.port,
                is_made: true,
                publish: made.publish != Some(false),
                extra: made.extra,
                own: made.own,
                nodes: BTreeSet::new(),
            };
            Some((name.clone(), exposure))
        });
        let of_claims = self.pods.iter().filter_map(|(pod, mounting)| {
            let ClaimRequest::Class(class_name) = &mounting.asks else {
                return None;
            };
            let port = json!({ "name": "http", "port": 8080, "protocol": "TCP" });
            let exposure = Exposure {
                class: self.classes.get(class_name)?.clone(),
                spec: json!({ "className": class_name, "publishNotReadyAddresses": true, "ports": [port] }),
                port: 8080,
                is_made: false,
                publish: true,
                extra: false,
                own: None,
                nodes: BTreeSet::new(),
            };
            Some((mounting.listener(pod), exposure))
        });
        let mut all: BTreeMap<String, Exposure> = made.chain(of_claims).collect();
        for (pod, mounting) in &self.pods {
            if let Some(exposure) = all.get_mut(&mounting.listener(pod)) {
                exposure.nodes.insert(mounting.node);
            }
        }
        all
    }
}

/// A Listener as it has to be.
#[derive(Clone, Debug)]
pub(super) struct Exposure {
    pub(super) class: Class,
    /// Each field that the spec of the Listener must have.
    pub(super) spec: Value,
    port: u16,
    /// True if a user made it; otherwise a claim did.
    pub(super) is_made: bool,
    publish: bool,
    extra: bool,
    own: Option<u64>,
    /// The indices of the nodes on which Pods mount it.
    nodes: BTreeSet<usize>,
}

impl Exposure {
    pub(super) fn labels(&self) -> Value {
        match self.is_made {
            true => made_labels(),
            false => json!({}),
        }
    }

    /// The fields of the Service. `mount` is the label of Pods that mount the Listener.
    pub(super) fn service(&self, name: &str, uid: &Value, mount: &str) -> Value {
        let mut labels = self.labels();
        for (key, value) in [
            ("instance", name),
            ("name", "listener"),
            ("managed-by", "listeners.stackable.tech_listener"),
        ] {
            labels[format!("app.kubernetes.io/{key}")] = json!(value);
        }
        let mut annotations = json!({
            ROUND: self.class.round.to_string(),
            OF_CLASS: self.class.overrides.to_string(),
        });
        if let Some(own) = self.own {
            annotations[OWN] = json!(own.to_string());
        }
        let mut selector = match self.extra {
            true => pod_labels(),
            false => json!({}),
        };
        selector[mount] = json!(name);
        json!({
            "labels": labels,
            "annotations": annotations,
            "ownerReferences": [{
                "apiVersion": "listeners.stackable.tech/v1alpha1",
                "kind": "Listener",
                "name": name,
                "uid": uid,
                "controller": true,
                "blockOwnerDeletion": true,
            }],
            "type": self.class.service_type(),
            "selector": selector,
            "ports": [["http", "TCP", self.port]],
            "publishNotReadyAddresses": self.publish,
        })
    }

    /// The addresses of the status. `nodes` are the addresses of the nodes, in the order of their names.
    pub(super) fn addresses(&self, name: &str, nodes: &[String], node_port: &Value) -> Vec<Value> {
        if !self.class.node_port {
            let address = format!("{name}.default.svc.cluster.local");
            return vec![ingress(&address, "Hostname", &json!(self.port))];
        }
        let behind = self.nodes.iter().filter_map(|index| nodes.get(*index));
        behind
            .map(|address| ingress(address, "IP", node_port))
            .collect()
    }

    /// The entry of a Pod that mounts it: behind a node port its own node, otherwise all addresses.
    pub(super) fn entry(&self, name: &str, node: &str, node_port: &Value) -> Value {
        match self.class.node_port {
            true => {
                json!({ "scope": "Node", "ingressAddresses": [ingress(node, "IP", node_port)] })
            }
            false => {
                let addresses = self.addresses(name, &[], node_port);
                json!({ "scope": "Cluster", "ingressAddresses": addresses })
            }
        }
    }
}

fn ingress(address: &str, of_type: &str, port: &Value) -> Value {
    json!({ "address": address, "addressType": of_type, "ports": { "http": port } })
}

/// The label of Pods that mount the Listener with this uid.
pub(super) fn mount_label(uid: &Value) -> String {
    let uid = uid.as_str().unwrap_or_default().replace('-', "");
    format!("listener.stackable.tech/mnt.{uid}")
}
