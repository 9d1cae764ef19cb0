//! Claims and Pods as users write them: the cost of a volume, inherited labels, owners of created
//! objects, and a Pod that listens on nothing.

use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{
    Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Service,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, PostParams};
use kube::{Api, Resource, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::eventually;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tonic::{Code, Request, Status};

use super::PATIENCE;
use super::site::{Site, VOLUME, parsed};
use crate::listeners::message;

const CLASS: &str = "listeners.stackable.tech/listener-class";

fn claim_spec() -> Value {
    json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1" } } })
}

/// A claim and a Pod as a user writes them, and a volume for the claim.
async fn provision_claim(site: &Site, claim: Value, pod: Value) -> Result<()> {
    let params = PostParams::default();
    let claim: PersistentVolumeClaim = parsed(claim)?;
    site.objects().create(&params, &claim).await?;
    let pod: Pod = parsed(pod)?;
    site.objects().create(&params, &pod).await?;
    site.provisioned().await
}

/// The price of a promise once the process watches the classes.
pub(crate) async fn f1_a_volume_of_a_class_costs_one_read_and_no_write() -> Result<()> {
    const AGAIN: usize = 10;
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    let sent = &site.sent_by_provisioner;
    let price = async |number: usize| {
        let before = sent.sent().len();
        let volume = format!("pvc-again-{number}");
        let site = site.with_names("web", &volume, &pod.name_any());
        site.provision().await?;
        // A watch that opens or is begun anew meanwhile is not its price.
        let sent = sent.sent().split_off(before).into_iter();
        let sent = sent.filter(|sent| !sent.what.ends_with("/listenerclasses"));
        anyhow::Ok(sent.map(|sent| sent.what).collect::<Vec<_>>())
    };
    let asked = AtomicUsize::new(AGAIN);
    eventually("the classes are watched", PATIENCE, async || {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        Ok((price(number).await?.len() <= 1).then_some(()))
    })
    .await?;
    for number in 0..AGAIN {
        let sent = price(number).await?;
        ensure!(
            sent == ["GET /api/v1/namespaces/apps/persistentvolumeclaims/web"],
            "{sent:?}"
        );
    }
    ensure!(sent.writes() == 0, "{:?}", sent.sent());
    Ok(())
}

/// Keys without a dot and empty values are as good as others; annotations of the claim stay with it.
pub(crate) async fn b32_labels_of_a_claim_of_any_form_reach_its_service() -> Result<()> {
    let site = Site::start().await?;
    let odd = json!({ "x": "", "k8s/foo": "bar" });
    let claim = json!({
        "metadata": { "name": "web", "labels": odd, "annotations": { CLASS: "cluster-internal", "x": "", "k8s/foo": "bar" } },
        "spec": claim_spec(),
    });
    let pod = json!({
        "metadata": { "name": "web-0" },
        "spec": {
            "nodeName": "node-1",
            "containers": [{ "name": "c", "image": "i", "ports": [{ "containerPort": 80 }] }],
            "volumes": [{ "name": "listener", "persistentVolumeClaim": { "claimName": "web" } }],
        },
    });
    provision_claim(&site, claim, pod).await?;
    site.stage().await?;
    site.publish().await?;
    let service = site.objects::<Service>().get("web").await?;
    for (key, value) in [("x", ""), ("k8s/foo", "bar")] {
        let found = service.labels().get(key);
        ensure!(
            found.map(String::as_str) == Some(value),
            "{key}: {:?}",
            service.labels()
        );
    }
    ensure!(
        service.annotations().is_empty(),
        "{:?}",
        service.annotations()
    );
    Ok(())
}

/// Tests the labels of an ephemeral volume: no user sets labels on its claim, so those of the Pod
/// count.
pub(crate) async fn b56_the_listener_of_an_ephemeral_volume_is_found_with_its_product() -> Result<()>
{
    let site = Site::start().await?;
    let site = site.with_names("web-0-listener", VOLUME, "web-0");
    let claim = json!({
        "metadata": { "name": "web-0-listener", "annotations": { CLASS: "cluster-internal" } },
        "spec": claim_spec(),
    });
    let pod = json!({
        "metadata": { "name": "web-0", "labels": {
            "app.kubernetes.io/instance": "shop", "app.kubernetes.io/name": "broker",
            "app.kubernetes.io/managed-by": "broker-operator",
        } },
        "spec": {
            "nodeName": "node-1",
            "containers": [{ "name": "c", "image": "i", "ports": [{ "containerPort": 80 }] }],
            "volumes": [{ "name": "listener", "ephemeral": { "volumeClaimTemplate": { "spec": claim_spec() } } }],
        },
    });
    provision_claim(&site, claim, pod).await?;
    site.stage().await?;
    site.publish().await?;
    let found = async |labels: &str| {
        let chosen = ListParams::default().labels(labels);
        let listeners = site.objects::<Listener>().list(&chosen).await?.items;
        let services = site.objects::<Service>().list(&chosen).await?.items;
        let listeners = listeners.iter().map(ResourceExt::name_any);
        let names = listeners.chain(services.iter().map(ResourceExt::name_any));
        anyhow::Ok(names.collect::<Vec<_>>())
    };
    let of_product = found("app.kubernetes.io/instance=shop").await?;
    ensure!(of_product == ["web-0-listener"], "{of_product:?}");
    // The operator of a product deletes an object with both labels that it has not just made, as a
    // leftover.
    let cleaned = "app.kubernetes.io/instance=shop,app.kubernetes.io/managed-by=broker-operator";
    let cleaned = found(cleaned).await?;
    ensure!(cleaned.is_empty(), "{cleaned:?}");
    Ok(())
}

/// The words of the condition are those of the call, which kubelet shows as an event of the Pod.
pub(crate) async fn b28_a_mount_of_a_pod_without_ports_says_what_its_listener_says() -> Result<()> {
    let site = Site::start().await?;
    let claim = json!({
        "metadata": { "name": "web", "annotations": { CLASS: "cluster-internal" } },
        "spec": claim_spec(),
    });
    let pod = json!({
        "metadata": { "name": "web-0" },
        "spec": {
            "nodeName": "node-1",
            "containers": [{ "name": "c", "image": "i" }],
            "volumes": [{ "name": "listener", "persistentVolumeClaim": { "claimName": "web" } }],
        },
    });
    provision_claim(&site, claim, pod).await?;
    site.stage().await?;
    let published = async || {
        let mut request = Request::new(site.request().await?);
        // It waits until five seconds before that.
        request.set_timeout(Duration::from_secs(8));
        let mut node = site.node.clone();
        let status: Status = match node.node_publish_volume(request).await {
            Ok(_) => anyhow::bail!("a Pod runs that nobody can reach"),
            Err(status) => status,
        };
        anyhow::Ok(status.message().to_owned())
    };
    let sentence = "there is no port to expose; set `spec.ports`, or for the Listener of a claim declare container ports in the template of its Pods";
    let said = eventually("the call says it", PATIENCE, async || {
        let said = published().await?;
        Ok(said.contains(sentence).then_some(said))
    })
    .await?;
    let listener = site.objects::<Listener>().get("web").await?;
    let condition = message(&listener, "Ready");
    ensure!(
        condition.contains(sentence) && said.contains(&condition),
        "{said}, and the Listener: {condition}"
    );
    ensure!(!site.target().exists(), "nothing is left at the target");
    Ok(())
}

/// Returns the number of objects of a kind, and checks that none has an owner.
async fn without_owners<K>(site: &Site) -> Result<usize>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let all: Api<K> = Api::all(site.admin.clone());
    let all = all.list(&ListParams::default()).await?.items;
    for one in &all {
        ensure!(one.owner_references().is_empty(), "{:?}", one.meta());
    }
    Ok(all.len())
}

/// Tests that no cluster-scoped object has a namespaced owner: garbage collection would delete it
/// at once, regardless of its owner.
pub(crate) async fn b16_nothing_without_a_namespace_is_owned_by_something_in_one() -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;
    let volume: PersistentVolume = Api::all(site.admin.clone()).get(VOLUME).await?;
    ensure!(!volume.labels().is_empty(), "it is one that we write");
    let counts = [
        without_owners::<PersistentVolume>(&site).await?,
        without_owners::<ListenerClass>(&site).await?,
        without_owners::<CustomResourceDefinition>(&site).await?,
        without_owners::<Node>(&site).await?,
        without_owners::<Namespace>(&site).await?,
    ];
    ensure!(!counts.contains(&0), "{counts:?}");
    Ok(())
}

/// Nothing is read for a volume that no Pod can have, however often kubelet tries.
pub(crate) async fn b42_an_inline_volume_is_refused_at_publish_without_a_request() -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    let mut request = site.request().await?;
    request.volume_id = "csi-c0ffee".to_owned();
    let inline = ("csi.storage.k8s.io/ephemeral", "true");
    let inline = (inline.0.to_owned(), inline.1.to_owned());
    request.volume_context.extend([inline]);
    let before = site.sent.sent().len();
    for _ in 0..3 {
        let mut node = site.node.clone();
        let answer = node.node_publish_volume(request.clone()).await;
        let status = answer.expect_err("it is inline");
        let words = "use `ephemeral` or `persistentVolumeClaim` instead of `csi`";
        ensure!(
            status.code() == Code::FailedPrecondition && status.message().contains(words),
            "{status:?}"
        );
    }
    // The permanent watches of the process do not belong to a call.
    let watched = ["/nodes", "/pods", "/listenerclasses", "/podlisteners"];
    let sent = site.sent.sent().split_off(before).into_iter();
    let sent = sent.map(|sent| sent.what);
    let sent = sent.filter(|what| !watched.iter().any(|kind| what.ends_with(kind)));
    let sent: Vec<String> = sent.collect();
    ensure!(sent.is_empty(), "{sent:?}");
    ensure!(!site.target().exists(), "nothing is left at the target");
    Ok(())
}
