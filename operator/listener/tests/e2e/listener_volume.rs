//! Listener volume all the way: over sockets, with the controller beside it, on the simulated API
//! server. The tests do the work of kubelet and external-provisioner by hand, and change no reply.

mod claims;
mod external;
pub(super) mod full_disk;
mod many;
mod owners;
mod registered;
mod repeated;
mod secrets;
pub(crate) mod site;
mod takeover;

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{PersistentVolume, Pod, Service};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::harness::{Case, Need, case, eventually};
use serde_json::json;
use tonic::Code;

use site::{Site, VOLUME, parsed};

pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

macro_rules! cases {
    ($($name:ident $(in $module:ident)?),* $(,)?) => {
        vec![$(case(stringify!($name), &[], $($module::)?$name)),*]
    };
}

pub(crate) fn cases() -> Vec<Case> {
    let mut all: Vec<Case> = cases![
        m24_m25_m29_b51_f2_f3_a_pod_gets_its_own_listener_its_label_its_entry_and_its_files,
        m21_m23_a_pod_mounts_a_listener_that_somebody_made,
        what_the_replaced_operator_wrote_for_a_pod_is_taken_over,
        m28_b43_f4_a_mount_waits_for_an_address_and_is_woken_by_it,
        b37_b45_a_mount_that_is_repeated_follows_the_class_and_the_address,
        b54_an_external_name_joins_the_files_and_the_entry_of_a_pod_behind_its_default_address in external,
        a_mount_that_is_repeated_leaves_the_files_where_nothing_better_is_known,
        b41_b46_b49_b53_what_cannot_be_mounted_gets_a_code_and_a_sentence,
        the_listener_of_the_replaced_operator_is_accepted_and_kept in owners,
        the_listener_of_a_claim_is_owned_as_the_replaced_operator_did_it in owners,
        b46_a_listener_that_another_object_controls_is_not_ours in owners,
        f1_a_volume_of_a_class_costs_one_read_and_no_write in claims,
        b42_an_inline_volume_is_refused_at_publish_without_a_request in claims,
        m30_the_secret_operator_finds_the_addresses_and_the_scope_of_a_volume in secrets,
        b32_labels_of_a_claim_of_any_form_reach_its_service in claims,
        b56_the_listener_of_an_ephemeral_volume_is_found_with_its_product in claims,
        b28_a_mount_of_a_pod_without_ports_says_what_its_listener_says in claims,
        b16_nothing_without_a_namespace_is_owned_by_something_in_one in claims,
        b17_a_driver_that_its_csi_node_does_not_list_is_registered_anew in registered,
        b48_a_node_names_no_limit_of_volumes in registered,
        a_call_answers_for_the_pod_that_it_names_where_the_watch_lags in repeated,
        a_repeated_publish_mends_label_entry_and_reservation in repeated,
        b51_f3_a_repeated_publish_of_an_unchanged_volume_costs_one_read in repeated,
        a_claim_of_the_replaced_operator_with_200_kb_of_annotations_is_mounted in takeover,
        what_the_replaced_operator_left_at_a_target_is_refreshed_and_removed in takeover,
        the_csi_driver_of_the_replaced_operator_takes_our_manifest in takeover,
        two_hundred_pods_mount_listeners_of_their_own_at_once in many,
        two_hundred_pods_mount_one_listener_at_once in many,
    ];
    all.push(case(
        "a_full_disk_is_said_and_harms_no_files",
        &[Need::Root],
        full_disk::on_a_small_disk,
    ));
    all
}

async fn m24_m25_m29_b51_f2_f3_a_pod_gets_its_own_listener_its_label_its_entry_and_its_files()
-> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;

    let address = "web.apps.svc.cluster.local";
    assert_eq!(site.read("default-address/address")?, address);
    assert_eq!(site.read("default-address/ports/http")?, "80");
    let listener = site.objects::<Listener>().get("web").await?;
    assert_eq!(listener.labels()["team"], "a");
    assert_eq!(listener.owner_references()[0].kind, "PersistentVolume");
    let label = format!(
        "listener.stackable.tech/mnt.{}",
        listener.uid().unwrap_or_default().replace('-', "")
    );
    let labelled = site.objects::<Pod>().get("web-0").await?;
    assert_eq!(
        labelled.labels().get(&label).map(String::as_str),
        Some("web")
    );
    let volume: PersistentVolume = Api::all(site.admin.clone()).get(VOLUME).await?;
    assert_eq!(
        volume.labels()["listeners.stackable.tech/listener-name"],
        "web"
    );
    assert_eq!(
        volume.labels()["listeners.stackable.tech/listener-namespace"],
        "apps"
    );
    let list = format!("pod-{}", pod.uid().unwrap_or_default());
    let entries = site.objects::<PodListeners>().get(&list).await?;
    let entry = serde_json::to_value(&entries.spec.listeners["listener"])?;
    assert_eq!(entry["scope"], "Cluster");
    assert_eq!(entry["ingressAddresses"][0]["address"], address);
    assert_eq!(entries.owner_references()[0].kind, "Pod");

    let writes = site.sent.writes();
    assert_eq!(
        writes, 4,
        "the Listener, the PersistentVolume, the Pod, the PodListeners"
    );
    site.publish().await?;
    assert_eq!(
        site.sent.writes(),
        writes,
        "a repeated publish writes nothing"
    );
    for _ in 0..2 {
        site.unpublish().await?;
        ensure!(!site.target().exists());
    }
    site.publish().await?;
    assert_eq!(site.sent.writes(), writes, "all is there but the files");
    assert_eq!(site.read("default-address/address")?, address);
    Ok(())
}

/// Tests that a volume that names a Listener is staged before any Pod is known, and that the
/// Listener does not become ours.
async fn m21_m23_a_pod_mounts_a_listener_that_somebody_made() -> Result<()> {
    let site = Site::start().await?;
    let shared: Listener = parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "shared" },
        "spec": { "className": "cluster-internal", "ports": [{ "name": "http", "port": 80 }] },
    }))?;
    site.claim(json!({ "listeners.stackable.tech/listener-name": "shared" }))
        .await?;
    site.pod().await?;
    // The kind and the class are made by the controller, which has only begun.
    let listeners: Api<Listener> = site.objects();
    eventually("the Listener is made", PATIENCE, async || {
        Ok(listeners.create(&PostParams::default(), &shared).await.ok())
    })
    .await?;
    eventually("it can be promised", PATIENCE, async || {
        Ok(site.provision().await.ok())
    })
    .await?;
    site.stage().await?;
    assert_eq!(site.sent.writes(), 1, "the PersistentVolume is labelled");
    site.publish().await?;
    assert_eq!(
        site.read("default-address/address")?,
        "shared.apps.svc.cluster.local"
    );
    assert_eq!(site.sent.writes(), 3, "and the Pod, and its entry");
    let listener = listeners.get("shared").await?;
    ensure!(listener.owner_references().is_empty(), "it is not ours");
    Ok(())
}

/// As the operator that is replaced left a Pod: label and entry are merge patches under its own name, and the entry is out of date.
async fn what_the_replaced_operator_wrote_for_a_pod_is_taken_over() -> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    // The Listener and its Service are there.
    site.publish().await?;
    site.unpublish().await?;
    let uid = site.objects::<Listener>().get("web").await?.uid();
    let label = format!(
        "listener.stackable.tech/mnt.{}",
        uid.unwrap_or_default().replace('-', "")
    );
    let old = PatchParams {
        field_manager: Some("listeners.stackable.tech".to_owned()),
        ..PatchParams::default()
    };
    let labelled = json!({ "metadata": { "labels": { label.as_str(): "old" } } });
    site.objects::<Pod>()
        .patch("web-0", &old, &Patch::Merge(&labelled))
        .await?;
    let list = format!("pod-{}", pod.uid().unwrap_or_default());
    let lists = site.objects::<PodListeners>();
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": pod.uid() });
    let stale = json!({ "address": "192.0.2.1", "addressType": "IP", "ports": { "gone": 1 } });
    lists.delete(&list, &DeleteParams::default()).await?;
    let created: PodListeners = parsed(json!({
        "metadata": { "name": list, "ownerReferences": [owner] },
        "spec": { "listeners": { "listener": { "scope": "Node", "ingressAddresses": [stale, stale] } } },
    }))?;
    let by_old = PostParams {
        field_manager: old.field_manager.clone(),
        ..PostParams::default()
    };
    lists.create(&by_old, &created).await?;

    site.publish().await?;
    let labelled = site.objects::<Pod>().get("web-0").await?;
    assert_eq!(labelled.labels()[&label], "web");
    let listed = serde_json::to_value(lists.get(&list).await?.spec)?;
    let address = "web.apps.svc.cluster.local";
    assert_eq!(
        listed,
        json!({ "listeners": { "listener": { "scope": "Cluster", "ingressAddresses": [
            { "address": address, "addressType": "Hostname", "ports": { "http": 80 } },
        ] } } })
    );
    let writes = site.sent.writes();
    site.publish().await?;
    assert_eq!(site.sent.writes(), writes, "all is as it should be");
    Ok(())
}

/// Tests that publish waits inside the call, and continues as soon as an address exists.
async fn m28_b43_f4_a_mount_waits_for_an_address_and_is_woken_by_it() -> Result<()> {
    let (site, _) = Site::with_pod("external-stable").await?;
    site.stage().await?;
    let (published, balanced) = tokio::join!(site.publish(), balance(&site, "192.0.2.7"));
    balanced?;
    published?;
    assert_eq!(site.read("default-address/address")?, "192.0.2.7");
    Ok(())
}

/// Sets the answer of a load balancer.
pub(crate) async fn balance(site: &Site, ip: &str) -> Result<()> {
    let services: Api<Service> = site.objects();
    eventually("the Service is there", PATIENCE, async || {
        let service = services.get_opt("web").await?;
        let balanced = |service: &Service| {
            let spec = service.spec.as_ref();
            spec.and_then(|spec| spec.type_.as_deref()) == Some("LoadBalancer")
        };
        Ok(service.filter(balanced))
    })
    .await?;
    let answer = json!({ "status": { "loadBalancer": { "ingress": [{ "ip": ip }] } } });
    services
        .patch_status("web", &Default::default(), &Patch::Merge(&answer))
        .await?;
    Ok(())
}

/// Tests that a running Pod gets changes: the type of its address by a class, and the address
/// itself.
async fn b37_b45_a_mount_that_is_repeated_follows_the_class_and_the_address() -> Result<()> {
    let (site, pod) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    site.publish().await?;

    // A new mount at once after the edit, before the controller can have seen it: never the old kind of address.
    site.unpublish().await?;
    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    let balanced = json!({ "spec": { "serviceType": "LoadBalancer" } });
    let params = PatchParams::default();
    classes
        .patch("cluster-internal", &params, &Patch::Merge(&balanced))
        .await?;
    let (published, balanced) = tokio::join!(site.publish(), balance(&site, "192.0.2.7"));
    balanced?;
    published?;
    assert_eq!(site.read("default-address/address")?, "192.0.2.7");

    balance(&site, "192.0.2.8").await?;
    eventually("the files follow", PATIENCE, async || {
        site.publish().await?;
        Ok((site.read("default-address/address")? == "192.0.2.8").then_some(()))
    })
    .await?;
    let folders = std::fs::read_dir(site.target().join("addresses"))?;
    assert_eq!(folders.count(), 1, "stale addresses are gone");
    let entries = format!("pod-{}", pod.uid().unwrap_or_default());
    let entries = site.objects::<PodListeners>().get(&entries).await?;
    let entry = serde_json::to_value(&entries.spec.listeners["listener"])?;
    assert_eq!(entry["ingressAddresses"][0]["address"], "192.0.2.8");
    Ok(())
}

/// Tests that a running Pod keeps its files, regardless of the objects that are missing by then.
async fn a_mount_that_is_repeated_leaves_the_files_where_nothing_better_is_known() -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    // The replaced operator never staged.
    site.publish().await?;
    let address = site.read("default-address/address")?;
    let (writes, request) = (site.sent.writes(), site.request().await?);
    let again = async || {
        let mut node = site.node.clone();
        node.node_publish_volume(request.clone()).await
    };

    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    let now = DeleteParams::default();
    classes.delete("cluster-internal", &now).await?;
    again().await?;
    site.unclaim().await?;
    again().await?;
    let volumes: Api<PersistentVolume> = Api::all(site.admin.clone());
    let freed = json!({ "metadata": { "finalizers": null } });
    let params = PatchParams::default();
    volumes
        .patch(VOLUME, &params, &Patch::Merge(&freed))
        .await?;
    volumes.delete(VOLUME, &now).await?;
    let status = again().await.expect_err("there is no volume any more");
    assert_eq!(status.code(), Code::NotFound, "{status:?}");
    assert_eq!(site.read("default-address/address")?, address);
    assert_eq!(site.sent.writes(), writes, "nothing was written");
    site.unpublish().await?;
    ensure!(!site.target().exists());
    Ok(())
}

async fn b41_b46_b49_b53_what_cannot_be_mounted_gets_a_code_and_a_sentence() -> Result<()> {
    let site = Site::start().await?;
    let refused = |answer: Result<(), tonic::Status>, code: Code, words: &str| {
        let status = answer.expect_err(words);
        assert_eq!(status.code(), code, "{status:?}");
        assert!(
            status.message().contains(words) && status.message().len() <= 200,
            "{status:?}"
        );
    };
    refused(
        site.provision().await,
        Code::Unavailable,
        "PersistentVolumeClaim",
    );
    site.claim(json!({})).await?;
    refused(
        site.provision().await,
        Code::InvalidArgument,
        "neither annotation",
    );
    site.unclaim().await?;
    site.claim(json!({ "listeners.stackable.tech/listener-class": "nowhere" }))
        .await?;
    refused(site.provision().await, Code::Unavailable, "ListenerClass");
    let elsewhere: ListenerClass = parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "ListenerClass",
        "metadata": { "name": "nowhere" },
        "spec": { "serviceType": "ClusterIP", "allowedNamespaces": ["team-*"] },
    }))?;
    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    classes.create(&PostParams::default(), &elsewhere).await?;
    eventually("the class is seen", PATIENCE, async || {
        let status = site.provision().await.expect_err("it is for others");
        Ok((status.code() != Code::Unavailable).then_some(()))
    })
    .await?;
    refused(
        site.provision().await,
        Code::InvalidArgument,
        "ListenerClass `nowhere` does not allow namespace `apps`",
    );
    site.unclaim().await?;
    site.claim(json!({ "listeners.stackable.tech/listener-class": "cluster-internal" }))
        .await?;
    eventually("the class is there", PATIENCE, async || {
        Ok(site.provision().await.ok())
    })
    .await?;
    refused(site.publish().await, Code::FailedPrecondition, "Pod");
    site.pod().await?;
    // A Listener of the claim's name that belongs to another user is never touched.
    let foreign: Listener = parsed(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "web" }, "spec": { "className": "cluster-internal" },
    }))?;
    let listeners: Api<Listener> = site.objects();
    listeners.create(&PostParams::default(), &foreign).await?;
    refused(
        site.publish().await,
        Code::FailedPrecondition,
        "Listener `web` exists and is not of this claim",
    );
    assert_eq!(site.sent.writes(), 0, "nothing was written");
    ensure!(!site.target().exists(), "nothing is left at the target");
    listeners.delete("web", &DeleteParams::default()).await?;
    site.publish().await?;
    let pod = site.objects::<Pod>().get("web-0").await?;
    ensure!(!pod.labels().is_empty(), "{pod:?}");
    Ok(())
}
