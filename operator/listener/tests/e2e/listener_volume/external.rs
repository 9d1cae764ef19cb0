//! External names on the way into a Pod.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};

use super::PATIENCE;
use super::site::Site;

const INSIDE: &str = "web.apps.svc.cluster.local";
const OUTSIDE: &str = "web.example.org";

/// The addresses in the entry of the Pod, in its order.
async fn listed(site: &Site, pod: &Pod) -> Result<Vec<Value>> {
    let entries = format!("pod-{}", pod.uid().unwrap_or_default());
    let entries = site.objects::<PodListeners>().get(&entries).await?;
    let entry = serde_json::to_value(&entries.spec.listeners["listener"])?;
    Ok(entry["ingressAddresses"]
        .as_array()
        .cloned()
        .unwrap_or_default())
}

pub(super) async fn b54_an_external_name_joins_the_files_and_the_entry_of_a_pod_behind_its_default_address()
-> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;
    let params = PatchParams::default();
    let allowing = json!({ "spec": { "allowedExternalNameSuffixes": ["example.org"] } });
    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    let allowing = Patch::Merge(&allowing);
    classes
        .patch("cluster-internal", &params, &allowing)
        .await?;
    let named = json!({ "spec": { "externalNames": [OUTSIDE, "web.example.net"] } });
    let listeners = site.objects::<Listener>();
    listeners
        .patch("web", &params, &Patch::Merge(&named))
        .await?;

    let file = format!("addresses/{OUTSIDE}/address");
    eventually("the files follow", PATIENCE, async || {
        site.publish().await?;
        Ok(site.read(&file).ok())
    })
    .await?;
    ensure!(site.read(&file)? == OUTSIDE);
    ensure!(site.read(&format!("addresses/{OUTSIDE}/ports/http"))? == "80");
    ensure!(site.read("default-address/address")? == INSIDE);
    let folders = std::fs::read_dir(site.target().join("addresses"))?;
    ensure!(folders.count() == 2, "the other name is not allowed");
    let address = |address: &str| json!({ "address": address, "addressType": "Hostname", "ports": { "http": 80 } });
    let entry = listed(&site, &pod).await?;
    ensure!(entry == [address(INSIDE), address(OUTSIDE)], "{entry:?}");

    // A name that the class no longer allows is removed from the Pod, and a new mount does not get
    // it.
    let closed = json!({ "spec": { "allowedExternalNameSuffixes": null } });
    let closed = Patch::Merge(&closed);
    classes.patch("cluster-internal", &params, &closed).await?;
    eventually("the files follow", PATIENCE, async || {
        site.publish().await?;
        Ok(site.read(&file).is_err().then_some(()))
    })
    .await?;
    let entry = listed(&site, &pod).await?;
    ensure!(entry == [address(INSIDE)], "{entry:?}");
    Ok(())
}
