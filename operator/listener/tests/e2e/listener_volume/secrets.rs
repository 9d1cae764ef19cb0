//! The look-ups by which another operator issues a certificate for a Listener volume, in its order
//! and according to the contract.

use std::net::IpAddr;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Node, PersistentVolumeClaim, Pod};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::PATIENCE;
use super::site::{Site, parsed};

const CLASS: &str = "listeners.stackable.tech/listener-class";
const NAME: &str = "listeners.stackable.tech/listener-name";

/// The subject of a certificate for a volume.
#[derive(Debug, PartialEq, Eq)]
struct Certified {
    /// The Pod has to stay on its node.
    is_of_node: bool,
    addresses: Vec<String>,
}

/// Answers before the Pod runs, by the annotations of the claim, the class that they lead to, and the type of its Service.
async fn is_of_node(site: &Site, claim: &str) -> Result<bool> {
    let claim = site.objects::<PersistentVolumeClaim>().get(claim).await?;
    let annotations = claim.annotations();
    let class = match (annotations.get(CLASS), annotations.get(NAME)) {
        (Some(class), _) => class.clone(),
        (None, name) => {
            let name = name.context("the claim has neither annotation")?;
            let listener = site.objects::<Listener>().get(name).await?;
            let class = listener.spec.class_name;
            class.context("the Listener has no class")?
        }
    };
    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    let class = serde_json::to_value(classes.get(&class).await?)?;
    Ok(class["spec"]["serviceType"] == "NodePort")
}

/// Looks up a Pod by its uid and the name of its volume. It fails while the entry or its list is missing.
async fn certified(site: &Site, pod: &Pod, volume: &str) -> Result<Certified> {
    let volumes = pod
        .spec
        .iter()
        .flat_map(|spec| spec.volumes.iter().flatten());
    let found = volumes.into_iter().find(|one| one.name == volume);
    let source = found.and_then(|one| one.persistent_volume_claim.as_ref());
    let claim = source.context("the volume has no claim")?;
    let is_of_node = is_of_node(site, &claim.claim_name).await?;
    let name = format!("pod-{}", pod.uid().context("no uid")?);
    let listed = site.objects::<PodListeners>().get(&name).await?;
    let listed = serde_json::to_value(listed)?;
    let entry = &listed["spec"]["listeners"][volume]["ingressAddresses"];
    let entry = entry.as_array().context("the entry has no list")?;
    let address = |one: &Value| -> Result<String> {
        let address = one["address"].as_str().context("no address")?;
        if one["addressType"] == "IP" {
            address.parse::<IpAddr>()?;
        }
        Ok(address.to_owned())
    };
    let addresses = entry.iter().map(address).collect::<Result<_>>()?;
    Ok(Certified {
        is_of_node,
        addresses,
    })
}

pub(super) async fn m30_the_secret_operator_finds_the_addresses_and_the_scope_of_a_volume()
-> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    ensure!(
        certified(&site, &pod, "listener").await.is_err(),
        "nothing is listed before the volume is mounted"
    );
    site.stage().await?;
    site.publish().await?;
    let expected = Certified {
        is_of_node: false,
        addresses: vec!["web.apps.svc.cluster.local".to_owned()],
    };
    let found = certified(&site, &pod, "listener").await?;
    ensure!(found == expected, "{found:?}");
    by_name(&site).await
}

/// A claim that names a Listener with node ports, on a node of two families.
async fn by_name(site: &Site) -> Result<()> {
    let nodes: Api<Node> = Api::all(site.admin.clone());
    let addresses = json!([{ "type": "InternalIP", "address": "fd00::1" }]);
    let addressed = json!({ "status": { "addresses": addresses } });
    let params = PatchParams::default();
    nodes
        .patch_status("node-1", &params, &Patch::Merge(&addressed))
        .await?;
    let shared: Listener = parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "shared" },
        "spec": { "className": "external-unstable", "ports": [{ "name": "http", "port": 80 }] },
    }))?;
    let listeners = site.objects::<Listener>();
    listeners.create(&PostParams::default(), &shared).await?;
    let site = site.with_names("named", "pvc-named", "named-0");
    site.claim(json!({ NAME: "shared" })).await?;
    let pod = site.pod().await?;
    eventually("it can be promised", PATIENCE, async || {
        Ok(site.provision().await.ok())
    })
    .await?;
    site.stage().await?;
    eventually("the node is known", PATIENCE, async || {
        Ok(site.publish().await.ok())
    })
    .await?;
    let expected = Certified {
        is_of_node: true,
        addresses: vec!["fd00::1".to_owned()],
    };
    let found = certified(&site, &pod, "listener").await?;
    ensure!(found == expected, "{found:?}");
    Ok(())
}
