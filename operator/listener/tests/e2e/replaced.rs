//! Objects exactly as the replaced operator leaves them. They are written through an API server as it writes them, so that managers, managed
//! fields and owner references are those of its own writes. Knows the contract, and nothing of the code that takes over.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_specs_listener::crds;
use lifecycle_specs_listener::listener::{AddressType, Listener};
use lifecycle_specs_listener::listener_class::{ListenerClass, ServiceType};
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Annotation of a claim: the class of the Listener that is made for it.
pub(crate) const CLASS: &str = "listeners.stackable.tech/listener-class";

/// Label of a PersistentVolume that is reserved for a Listener.
pub(crate) const LISTENER_NAME: &str = "listeners.stackable.tech/listener-name";

const LISTENER_NAMESPACE: &str = "listeners.stackable.tech/listener-namespace";
const DRIVER: &str = "listeners.stackable.tech";
const VERSION: &str = "listeners.stackable.tech/v1alpha1";

/// Manager of Services.
const OF_SERVICES: &str = "listeners.stackable.tech/listeners.stackable.tech_listener";
/// Manager of the status of Listeners.
const OF_STATUS: &str = "listeners.stackable.tech/listener";
/// Manager of Listeners of claims, and of the labels of PersistentVolumes.
const OF_VOLUMES: &str = "listeners.stackable.tech/volume";
/// Manager of Pod labels, of PodListeners and of the classes of the preset.
const OF_PODS: &str = "listeners.stackable.tech";
/// Manager of the definitions.
const OF_DEFINITIONS: &str = "listener-operator";

/// More than `kubectl apply` adds to a small claim.
const ANNOTATION: usize = 5 * 1024;

const SERVED: Duration = Duration::from_secs(60);

/// The release of the replaced operator that mounted a volume last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// Before 24.11: it labelled no PersistentVolume.
    Unlabelled,
    /// From 24.11 on.
    Current,
}

/// An address as a status has it.
pub(crate) type Address = (String, AddressType);

/// The replaced operator, as far as it writes into one namespace.
#[derive(Clone)]
pub(crate) struct Replaced {
    client: Client,
    namespace: &'static str,
}

impl Replaced {
    pub(crate) fn new(client: Client, namespace: &'static str) -> Self {
        Self { client, namespace }
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), self.namespace)
    }

    fn all<K: Resource<DynamicType = ()>>(&self) -> Api<K> {
        Api::all(self.client.clone())
    }

    /// Applies its definitions, which ask a webhook of its own for conversion.
    ///
    /// # Errors
    /// The API server refuses one.
    pub(crate) async fn defines(&self) -> Result<()> {
        let definitions = self.all::<CustomResourceDefinition>();
        let service = json!({ "name": "listener-operator", "namespace": "listener-operator", "path": "/convert", "port": 8443 });
        for definition in crds() {
            let name = definition.name_any();
            let mut definition = serde_json::to_value(definition)?;
            definition["spec"]["conversion"] = json!({
                "strategy": "Webhook",
                "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": { "service": service } },
            });
            let patch = Patch::Apply(&definition);
            definitions
                .patch(&name, &applied(OF_DEFINITIONS), &patch)
                .await
                .with_context(|| format!("its definition {name} is refused"))?;
        }
        let page = ListParams::default().limit(1);
        eventually("its kinds are served", SERVED, async || {
            let served = self.api::<Listener>().list(&page).await.is_ok()
                && self.api::<PodListeners>().list(&page).await.is_ok();
            Ok(served.then_some(()))
        })
        .await
    }

    /// Creates the classes of its preset `ephemeral-nodes`, once the definitions are served.
    ///
    /// # Errors
    /// They are not served.
    pub(crate) async fn creates_classes(&self) -> Result<()> {
        for (name, service_type) in [
            ("cluster-internal", "ClusterIP"),
            ("external-unstable", "NodePort"),
            ("external-stable", "LoadBalancer"),
        ] {
            self.creates_class(name, service_type, false).await?;
        }
        Ok(())
    }

    /// Creates a class like its preset, with a null for each open field.
    ///
    /// # Errors
    /// Its kind is not served.
    pub(crate) async fn creates_class(
        &self,
        name: &str,
        service_type: &str,
        is_pinned: bool,
    ) -> Result<()> {
        let kind = ApiResource::erase::<ListenerClass>(&());
        let classes: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind);
        let class = json!({
            "apiVersion": VERSION, "kind": "ListenerClass", "metadata": { "name": name },
            "spec": { "serviceType": service_type, "loadBalancerClass": null, "pinnedNodePorts": is_pinned },
        });
        let class: DynamicObject = serde_json::from_value(class)?;
        let params = created(OF_PODS);
        eventually("its kinds are served", SERVED, async || {
            Ok(classes.create(&params, &class).await.ok())
        })
        .await
        .map(drop)
    }

    /// Makes a claim by class with more than 4 KiB of annotations. Makes its volume as
    /// csi-provisioner does from the answer of the replaced operator: every annotation is an
    /// attribute, and a pinned volume is tied to a node.
    ///
    /// # Errors
    /// The API server refuses one.
    pub(crate) async fn provisions(
        &self,
        claim: &str,
        class: &str,
        node: Option<&str>,
    ) -> Result<()> {
        let mut attributes = json!({ CLASS: class, "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(ANNOTATION) });
        let spec = json!({
            "accessModes": ["ReadWriteMany"], "storageClassName": DRIVER, "resources": { "requests": { "storage": "1" } },
        });
        let metadata =
            json!({ "name": claim, "labels": { "team": "a" }, "annotations": attributes });
        let claims = self.api::<PersistentVolumeClaim>();
        let object = json!({ "metadata": metadata, "spec": spec });
        let made = create(&claims, "kubectl-client-side-apply", object).await?;
        let uid = made.uid().context("a claim has a uid")?;
        let name = format!("pvc-{uid}");
        attributes["storage.kubernetes.io/csiProvisionerIdentity"] =
            json!("1700000000000-1234-listeners.stackable.tech");
        let mut spec = json!({
            "accessModes": ["ReadWriteMany"], "capacity": { "storage": "1" }, "storageClassName": DRIVER,
            "persistentVolumeReclaimPolicy": "Delete",
            "claimRef": {
                "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self.namespace, "name": claim, "uid": uid,
            },
            "csi": { "driver": DRIVER, "volumeHandle": name, "volumeAttributes": attributes },
        });
        if let Some(node) = node {
            let rule = json!({ "key": "listeners.stackable.tech/hostname", "operator": "In", "values": [node] });
            spec["nodeAffinity"] =
                json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [rule] }] } });
        }
        let volume = json!({ "metadata": { "name": name }, "spec": spec });
        create(&self.all::<PersistentVolume>(), "csi-provisioner", volume).await?;
        let bound = Patch::Merge(json!({ "spec": { "volumeName": name } }));
        claims
            .patch(claim, &merged("kube-controller-manager"), &bound)
            .await?;
        Ok(())
    }

    /// Writes the results of a mount of a claim by class, except for the entry of addresses: the
    /// Listener, the labels of the volume, the label of the Pod.
    ///
    /// # Errors
    /// Something is missing, or the API server refuses a write.
    pub(crate) async fn mounts(
        &self,
        pod: &str,
        claim: &str,
        release: Release,
    ) -> Result<Listener> {
        let (pods, volumes) = (self.api::<Pod>(), self.all::<PersistentVolume>());
        let pod = pods.get(pod).await?;
        let claim = self.api::<PersistentVolumeClaim>().get(claim).await?;
        let volume = claim.spec.as_ref().and_then(|s| s.volume_name.as_deref());
        let volume = volumes.get(volume.context("the claim is bound")?).await?;
        let name = claim.name_any();
        let listener = listener(self.namespace, &claim, &volume, &pod);
        let listener = self
            .api::<Listener>()
            .patch(&name, &applied(OF_VOLUMES), &Patch::Apply(&listener))
            .await?;
        if release == Release::Current {
            let labels = json!({ LISTENER_NAMESPACE: self.namespace, LISTENER_NAME: name });
            let labelled = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "labels": labels } });
            let params = applied(OF_VOLUMES);
            volumes
                .patch(&volume.name_any(), &params, &Patch::Apply(&labelled))
                .await?;
        }
        let label = json!({ "metadata": { "labels": { mount_label(&listener): name } } });
        let patch = Patch::Merge(&label);
        pods.patch(&pod.name_any(), &merged(OF_PODS), &patch)
            .await?;
        Ok(listener)
    }

    /// Writes the results of a reconcile of a Listener: its Service, and a status with these
    /// addresses.
    ///
    /// # Errors
    /// Something is missing, or the API server refuses a write.
    pub(crate) async fn reconciles(&self, name: &str, addresses: &[Address]) -> Result<Service> {
        let listeners = self.api::<Listener>();
        let listener = listeners.get(name).await?;
        let class = listener.spec.class_name.as_deref();
        let classes = self.all::<ListenerClass>();
        let class = classes.get(class.context("it names a class")?).await?;
        let wanted = service(self.namespace, &listener, &class);
        let service = self
            .api::<Service>()
            .patch(name, &applied(OF_SERVICES), &Patch::Apply(&wanted))
            .await?;
        let by_node = class.spec.service_type == ServiceType::NodePort;
        let ports = dialled(&service, by_node);
        let told = addresses.iter();
        let told = told.map(
            |(address, kind)| json!({ "address": address, "addressType": kind, "ports": ports }),
        );
        let mut status =
            json!({ "serviceName": name, "ingressAddresses": told.collect::<Vec<_>>() });
        if by_node {
            status["nodePorts"] = json!(ports);
        }
        let status = json!({ "apiVersion": VERSION, "kind": "Listener", "status": status });
        let patch = Patch::Apply(&status);
        listeners
            .patch_status(name, &applied(OF_STATUS), &patch)
            .await?;
        Ok(service)
    }

    /// Writes the entry of addresses for a volume of a Pod, once its Listener has them.
    ///
    /// # Errors
    /// Something is missing, or the API server refuses a write.
    pub(crate) async fn lists(&self, pod: &str, volume: &str, listener: &str) -> Result<()> {
        let pod = self.api::<Pod>().get(pod).await?;
        let status = self.api::<Listener>().get(listener).await?.status;
        let status = status.context("its Listener has a status")?;
        let scope = match status.node_ports {
            Some(_) => "Node",
            None => "Cluster",
        };
        let entry = json!({ "scope": scope, "ingressAddresses": status.ingress_addresses });
        let spec = json!({ "listeners": { volume: entry } });
        let uid = pod.uid().context("a Pod has a uid")?;
        let (lists, name) = (self.api::<PodListeners>(), format!("pod-{uid}"));
        if lists.get_opt(&name).await?.is_some() {
            let patch = Patch::Merge(json!({ "spec": spec }));
            lists.patch(&name, &merged(OF_PODS), &patch).await?;
            return Ok(());
        }
        let owner =
            json!({ "apiVersion": "v1", "kind": "Pod", "name": pod.name_any(), "uid": uid });
        let metadata = json!({ "name": name, "ownerReferences": [owner] });
        let list = json!({ "apiVersion": VERSION, "kind": "PodListeners", "metadata": metadata, "spec": spec });
        create(&lists, OF_PODS, list).await.map(drop)
    }
}

fn applied(manager: &str) -> PatchParams {
    PatchParams::apply(manager).force()
}

fn merged(manager: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    }
}

fn created(manager: &str) -> PostParams {
    PostParams {
        field_manager: Some(manager.to_owned()),
        ..PostParams::default()
    }
}

async fn create<K>(api: &Api<K>, manager: &str, object: Value) -> Result<K>
where
    K: Serialize + DeserializeOwned + Clone + Debug,
{
    let object: K = serde_json::from_value(object)?;
    Ok(api.create(&created(manager), &object).await?)
}

/// The label of Pods that mount a Listener.
pub(crate) fn mount_label(listener: &Listener) -> String {
    let uid = listener.uid().unwrap_or_default().replace('-', "");
    format!("listener.stackable.tech/mnt.{uid}")
}

/// The Listener of a claim, which its volume owns without controlling it.
fn listener(
    namespace: &str,
    claim: &PersistentVolumeClaim,
    volume: &PersistentVolume,
    pod: &Pod,
) -> Value {
    let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let ports = containers.flat_map(|container| container.ports.iter().flatten());
    let ports = ports.map(|port| {
        let name = port.name.clone();
        let name = name.unwrap_or_else(|| format!("port-{}", port.container_port));
        json!({ "name": name, "port": port.container_port, "protocol": port.protocol.as_deref().unwrap_or("TCP") })
    });
    json!({
        "apiVersion": VERSION, "kind": "Listener",
        "metadata": {
            "name": claim.name_any(), "namespace": namespace, "labels": claim.labels(),
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "PersistentVolume", "name": volume.name_any(), "uid": volume.uid(),
            }],
        },
        "spec": {
            "className": claim.annotations().get(CLASS), "publishNotReadyAddresses": true, "ports": ports.collect::<Vec<_>>(),
        },
    })
}

/// The Service of a Listener. It has annotations even if there are none, for the replaced operator applies an empty map.
fn service(namespace: &str, listener: &Listener, class: &ListenerClass) -> Value {
    let (name, class) = (listener.name_any(), &class.spec);
    let mut labels = listener.labels().clone();
    for (key, value) in [
        ("instance", name.as_str()),
        ("name", "listener"),
        ("managed-by", "listeners.stackable.tech_listener"),
    ] {
        labels.insert(format!("app.kubernetes.io/{key}"), value.to_owned());
    }
    let mut selector = listener.spec.extra_pod_selector_labels.clone();
    selector.insert(mount_label(listener), name.clone());
    let ports = listener.spec.ports.iter().flatten();
    let ports = ports.map(|port| {
        let protocol = port.protocol.as_deref().unwrap_or("TCP");
        json!({ "name": port.name, "protocol": protocol, "port": port.port })
    });
    let mut spec = json!({
        "type": class.service_type.as_str(), "ports": ports.collect::<Vec<_>>(), "selector": selector,
        "publishNotReadyAddresses": listener.spec.publishes_not_ready_addresses(),
    });
    let policy = class.service_external_traffic_policy;
    if let Some(policy) = policy.filter(|_| class.service_type != ServiceType::ClusterIP) {
        spec["externalTrafficPolicy"] = json!(policy.as_str());
    }
    if class.service_type == ServiceType::LoadBalancer {
        spec["allocateLoadBalancerNodePorts"] = json!(class.load_balancer_allocate_node_ports);
        if let Some(of) = &class.load_balancer_class {
            spec["loadBalancerClass"] = json!(of);
        }
    }
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": name, "namespace": namespace, "labels": labels, "annotations": class.service_annotations,
            "ownerReferences": [{
                "apiVersion": VERSION, "kind": "Listener", "name": name, "uid": listener.uid(),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": spec,
    })
}

/// Ports that a client dials, by name.
fn dialled(service: &Service, by_node: bool) -> BTreeMap<String, i32> {
    let spec = service.spec.as_ref();
    let ports = spec.and_then(|spec| spec.ports.as_ref());
    let number = |port: &k8s_openapi::api::core::v1::ServicePort| match by_node {
        true => port.node_port.unwrap_or_default(),
        false => port.port,
    };
    let named = ports.into_iter().flatten();
    named
        .map(|port| (port.name.clone().unwrap_or_default(), number(port)))
        .collect()
}
