//! Repeated publish calls: for the named Pod and no other of its name, with the objects that a user
//! removed, and their cost.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{PersistentVolume, Pod};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::{Api, ResourceExt};
use lifecycle_proto::csi::NodePublishVolumeRequest;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::eventually;
use serde_json::{Value, json};
use tonic::{Code, Status};

use super::PATIENCE;
use super::site::{Site, VOLUME};

async fn publish_volume(site: &Site, request: &NodePublishVolumeRequest) -> Result<(), Status> {
    let mut node = site.node.clone();
    let answer = node.node_publish_volume(request.clone()).await;
    answer.map(drop)
}

/// Returns the label by which the Service of the Listener selects Pods.
async fn label(site: &Site) -> Result<String> {
    let uid = site.objects::<Listener>().get("web").await?.uid();
    let digits = uid.unwrap_or_default().replace('-', "");
    Ok(format!("listener.stackable.tech/mnt.{digits}"))
}

fn list_of(pod: &Pod) -> String {
    format!("pod-{}", pod.uid().unwrap_or_default())
}

/// A Pod that is deleted by force and made anew while the node hears nothing of Pods: its call is for the new one, a late call for the old one is refused.
pub(crate) async fn a_call_answers_for_the_pod_that_it_names_where_the_watch_lags() -> Result<()> {
    let (site, old) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;
    let of_old = site.request().await?;
    let label = label(&site).await?;
    let pods = site.objects::<Pod>();
    eventually("the node knows of the Pod", PATIENCE, async || {
        let before = site.sent.sent().len();
        site.publish().await?;
        Ok((site.sent.sent().len() <= before + 1).then_some(()))
    })
    .await?;

    let next = site.sent.sent().iter().map(|sent| sent.request).max();
    let lag = format!("r{}:delay=pods/3600s", next.unwrap_or_default() + 1);
    site.sent.add(lag.parse()?);
    // Its one read is the request that begins the lag.
    site.publish().await?;
    pods.delete("web-0", &DeleteParams::default().grace_period(0))
        .await?;
    let new = site.pod().await?;
    ensure!(new.uid() != old.uid());
    let mut of_new = site.request().await?;
    of_new.target_path.push_str("-new");
    publish_volume(&site, &of_new).await?;
    let labelled = pods.get("web-0").await?;
    ensure!(
        labelled.labels().get(&label).map(String::as_str) == Some("web"),
        "the new Pod gets no traffic: {:?}",
        labelled.labels()
    );
    let lists = site.objects::<PodListeners>();
    let entries = lists.get(&list_of(&new)).await?;
    ensure!(entries.owner_references()[0].uid == new.uid().unwrap_or_default());

    let writes = site.sent.writes();
    for request in [of_old.clone(), {
        let mut elsewhere = of_old;
        elsewhere.target_path.push_str("-late");
        elsewhere
    }] {
        let refused = publish_volume(&site, &request)
            .await
            .expect_err("the Pod is gone");
        ensure!(refused.code() == Code::FailedPrecondition, "{refused:?}");
        ensure!(refused.message().contains("the Pod is gone"), "{refused:?}");
    }
    ensure!(site.sent.writes() == writes, "nothing is written for it");
    publish_volume(&site, &of_new).await?;
    ensure!(site.sent.writes() == writes, "and all is there for the new");
    Ok(())
}

/// Tests that each of them is restored by the next repeated publish, after a user removed it, as
/// with `kubectl`.
pub(crate) async fn a_repeated_publish_mends_label_entry_and_reservation() -> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;
    let (label, list) = (label(&site).await?, list_of(&pod));
    let params = PatchParams::default();
    let without = |label: &str| Patch::Merge(json!({ "metadata": { "labels": { label: null } } }));
    let (pods, lists) = (site.objects::<Pod>(), site.objects::<PodListeners>());
    let entry: Value = serde_json::to_value(&lists.get(&list).await?.spec)?;

    pods.patch("web-0", &params, &without(&label)).await?;
    eventually("the label is there again", PATIENCE, async || {
        site.publish().await?;
        let pod = pods.get("web-0").await?;
        Ok(pod.labels().contains_key(&label).then_some(()))
    })
    .await?;
    lists.delete(&list, &DeleteParams::default()).await?;
    eventually("the entry is there again", PATIENCE, async || {
        site.publish().await?;
        Ok(lists.get_opt(&list).await?)
    })
    .await?;
    let emptied = Patch::Merge(json!({ "spec": { "listeners": { "listener": null } } }));
    lists.patch(&list, &params, &emptied).await?;
    eventually("the entry says it again", PATIENCE, async || {
        site.publish().await?;
        let found = serde_json::to_value(&lists.get(&list).await?.spec)?;
        Ok((found == entry).then_some(()))
    })
    .await?;
    // The volume is not watched: it is read after any other change.
    let volumes: Api<PersistentVolume> = Api::all(site.admin.clone());
    let reserved = "listeners.stackable.tech/listener-name";
    volumes.patch(VOLUME, &params, &without(reserved)).await?;
    lists.delete(&list, &DeleteParams::default()).await?;
    eventually("the node is reserved again", PATIENCE, async || {
        site.publish().await?;
        let volume = volumes.get(VOLUME).await?;
        Ok(volume.labels().contains_key(reserved).then_some(()))
    })
    .await
}

/// As kubelet does for ever: a thousand volumes make a thousand reads in a minute or so, and nothing else.
pub(crate) async fn b51_f3_a_repeated_publish_of_an_unchanged_volume_costs_one_read() -> Result<()>
{
    const AGAIN: usize = 10;
    let (site, _) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;
    let price = async || {
        let before = site.sent.sent().len();
        site.publish().await?;
        let sent = site.sent.sent().split_off(before);
        // The kinds were not served yet when the process began to watch them, each by itself: a watch that opens while it publishes is not its price.
        let opens =
            |what: &str| what.ends_with("/listenerclasses") || what.ends_with("/podlisteners");
        let sent = sent.into_iter().map(|sent| sent.what);
        anyhow::Ok(sent.filter(|what| !opens(what)).collect::<Vec<_>>())
    };
    eventually("the node watches", PATIENCE, async || {
        Ok((price().await?.len() <= 1).then_some(()))
    })
    .await?;
    let opened = site.sent.sent().len();
    for _ in 0..AGAIN {
        let sent = price().await?;
        ensure!(
            sent.len() == 1 && sent[0].starts_with("GET ") && sent[0].ends_with("/listeners/web"),
            "{sent:?}"
        );
    }
    let late = site.sent.sent().len() - opened - AGAIN;
    ensure!(late <= 2, "{late} watches were opened, of two kinds");
    // A different request is a different publish.
    site.unpublish().await?;
    ensure!(price().await?.len() > 1, "what was taken back is read anew");
    Ok(())
}
