//! Many Pods that mount at once: none waits for ever, no call is lost.

use anyhow::{Result, ensure};
use futures::future::try_join_all;
use kube::api::PostParams;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde_json::json;

use super::PATIENCE;
use super::site::{Site, parsed};

const MANY: usize = 200;

/// The class is made by the controller, which has only begun.
async fn site_with_classes() -> Result<Site> {
    let site = Site::start().await?;
    let probe = site.with_names("probe", "pvc-probe", "probe");
    let class = json!({ "listeners.stackable.tech/listener-class": "cluster-internal" });
    probe.claim(class).await?;
    eventually("the class is there", PATIENCE, async || {
        Ok(probe.provision().await.ok())
    })
    .await?;
    Ok(site)
}

pub(crate) async fn two_hundred_pods_mount_listeners_of_their_own_at_once() -> Result<()> {
    let site = site_with_classes().await?;
    let mounted = (0..MANY).map(async |n| {
        let claim = format!("web-{n}");
        let one = site.with_names(&claim, &format!("pvc-{n}"), &format!("{claim}-0"));
        let class = json!({ "listeners.stackable.tech/listener-class": "cluster-internal" });
        one.claim(class).await?;
        one.pod().await?;
        one.provision().await?;
        one.stage().await?;
        one.publish().await?;
        let address = one.read("default-address/address")?;
        ensure!(
            address == format!("{claim}.apps.svc.cluster.local"),
            "{address}"
        );
        one.unpublish().await?;
        ensure!(!one.target().exists(), "{claim} is mounted");
        anyhow::Ok(())
    });
    try_join_all(mounted).await?;
    let writes = site.sent.writes();
    ensure!(writes == 4 * MANY, "four writes each, not {writes} in all");
    Ok(())
}

pub(crate) async fn two_hundred_pods_mount_one_listener_at_once() -> Result<()> {
    let site = site_with_classes().await?;
    let shared: Listener = parsed(json!({
        "metadata": { "name": "shared" },
        "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }] },
    }))?;
    site.objects::<Listener>()
        .create(&PostParams::default(), &shared)
        .await?;
    site.claim(json!({ "listeners.stackable.tech/listener-name": "shared" }))
        .await?;
    site.provision().await?;
    site.stage().await?;
    let mounted = (0..MANY).map(async |n| {
        let one = site.with_names("web", super::VOLUME, &format!("web-{n}"));
        one.pod().await?;
        one.publish().await?;
        let address = one.read("default-address/address")?;
        ensure!(address == "shared.apps.svc.cluster.local", "{address}");
        anyhow::Ok(())
    });
    try_join_all(mounted).await?;
    let lists = site
        .objects::<PodListeners>()
        .list(&Default::default())
        .await?;
    ensure!(
        lists.items.len() == MANY,
        "{} Pods have a list",
        lists.items.len()
    );
    let writes = site.sent.writes();
    ensure!(
        writes == 1 + 2 * MANY,
        "one for the volume and two for each Pod, not {writes} in all"
    );
    Ok(())
}
