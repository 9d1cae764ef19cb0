//! Hosts that are taken, Services of others, namespaces without a Site or with two. No router runs.

use crate::place::{SOON, TestNamespace, has_report, report};
use anyhow::{Result, ensure};
use futures::future::try_join;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::ResourceExt;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, eventually};
use serde_json::{Value, json};

use super::support::{listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("s11_a_taken_host_names_its_holder", taken),
        shared("s12_a_host_that_becomes_free_is_given", freed),
        shared("s13_an_edit_into_a_conflict", edited),
        shared("s14_a_foreign_service_stays_as_it_is", foreign),
        shared("s15_a_foreign_service_goes", foreign_gone),
        shared("s21_without_a_site", homeless),
        shared("s22_a_site_comes_later", late),
        shared("a_listener_names_what_is_in_the_way_of_its_site", blocked),
        shared("s24_the_site_is_deleted", deserted),
        shared("s25_a_second_site", second),
        shared("s25_two_sites_made_at_once", at_once),
        shared(
            "a_namespace_of_another_controller_is_left_alone",
            kept_by_another,
        ),
    ]
}

async fn site(place: &TestNamespace, name: &str) -> Result<Site> {
    place.make(name, json!({ "spec": {} })).await
}

async fn until_says(
    place: &TestNamespace,
    name: &str,
    status: &str,
    message: &str,
) -> Result<Listener> {
    let what = format!("Listener {name} says {status}: {message}");
    place
        .until(name, &what, |l: &Listener| has_report(l, status, message))
        .await
}

/// Waits until the Listener has its allocation. The report that no router answers comes later.
async fn until_served(place: &TestNamespace, host: &str, label: &str) -> Result<Service> {
    let what = format!("Service {host} for {label}");
    let is = |service: &Service| {
        let ports = service
            .spec
            .iter()
            .flat_map(|spec| spec.ports.iter().flatten());
        let mut names = ports.filter_map(|port| port.name.clone());
        names.any(|name| name == label)
    };
    place.until(host, &what, is).await
}

const TAKEN: &str = "Listener first with host db and port 80 already exists in namespace";

async fn two(place: &TestNamespace) -> Result<()> {
    site(place, "west").await?;
    listen(place, "first", json!({ "host": "db", "port": 80 })).await?;
    until_served(place, "db", "first").await?;
    listen(place, "second", json!({ "host": "db", "port": 80 })).await?;
    until_says(place, "second", "Error", TAKEN).await.map(drop)
}

async fn taken(place: TestNamespace) -> Result<()> {
    two(&place).await?;
    let service = until_served(&place, "db", "first").await?;
    let ports = service.spec.and_then(|spec| spec.ports).unwrap_or_default();
    ensure!(ports.len() == 1, "{ports:?}");
    Ok(())
}

async fn freed(place: TestNamespace) -> Result<()> {
    two(&place).await?;
    place.delete::<Listener>("first").await?;
    until_served(&place, "db", "second").await.map(drop)
}

/// The endpoint goes, and the Listener is never Ready after that.
async fn edited(place: TestNamespace) -> Result<()> {
    site(&place, "west").await?;
    listen(&place, "first", json!({ "host": "db", "port": 80 })).await?;
    listen(&place, "second", json!({ "host": "other", "port": 80 })).await?;
    until_served(&place, "db", "first").await?;
    until_served(&place, "other", "second").await?;
    place
        .patch::<Listener>("second", json!({ "spec": { "host": "db" } }))
        .await?;
    until_says(&place, "second", "Error", TAKEN).await?;
    place.gone::<Service>("other").await?;
    until_served(&place, "db", "first").await.map(drop)
}

const FOREIGN: &str = "Service db already exists in namespace";

async fn make_foreign(place: &TestNamespace) -> Result<Service> {
    site(place, "west").await?;
    let spec: Value = json!({ "spec": { "ports": [{ "port": 1, "protocol": "TCP" }], "selector": { "app": "mine" } } });
    let made: Service = place.make("db", spec).await?;
    listen(place, "first", json!({ "host": "db", "port": 80 })).await?;
    until_says(place, "first", "Error", FOREIGN).await?;
    Ok(made)
}

async fn foreign(place: TestNamespace) -> Result<()> {
    let made = make_foreign(&place).await?;
    let now = place.api::<Service>().get("db").await?;
    ensure!(now == made, "it has changed: {now:?}");
    Ok(())
}

async fn foreign_gone(place: TestNamespace) -> Result<()> {
    make_foreign(&place).await?;
    place.delete::<Service>("db").await?;
    until_served(&place, "db", "first").await.map(drop)
}

const HOMELESS: &str = "No active site in namespace";

async fn homeless(place: TestNamespace) -> Result<()> {
    listen(&place, "backend", json!({})).await?;
    until_says(&place, "backend", "Error", HOMELESS)
        .await
        .map(drop)
}

async fn late(place: TestNamespace) -> Result<()> {
    listen(&place, "backend", json!({})).await?;
    until_says(&place, "backend", "Error", HOMELESS).await?;
    site(&place, "west").await?;
    until_served(&place, "backend", "backend").await.map(drop)
}

/// Checks that the Listener reports the error of its Site, and not an error of the objects that
/// make up the Site.
async fn blocked(place: TestNamespace) -> Result<()> {
    let theirs = json!({ "data": { "mine": "yes" } });
    place.make::<ConfigMap>("skupper-router", theirs).await?;
    site(&place, "west").await?;
    listen(&place, "backend", json!({})).await?;
    let told = |l: &Listener| {
        let (status, message, _) = report(l);
        status == "Error" && message.starts_with(&format!("{HOMELESS}: Site west: ConfigMap "))
    };
    let what = "the Listener names its Site's error";
    place.until("backend", what, told).await?;
    place.delete::<ConfigMap>("skupper-router").await?;
    until_served(&place, "backend", "backend").await.map(drop)
}

async fn deserted(place: TestNamespace) -> Result<()> {
    site(&place, "west").await?;
    listen(&place, "backend", json!({})).await?;
    until_served(&place, "backend", "backend").await?;
    place.delete::<Site>("west").await?;
    until_says(&place, "backend", "Error", HOMELESS).await?;
    place.gone::<Service>("backend").await
}

const ACTIVE: &str = "An active site already exists in the namespace";

async fn second(place: TestNamespace) -> Result<()> {
    let first = site(&place, "one").await?;
    listen(&place, "backend", json!({})).await?;
    let service = until_served(&place, "backend", "backend").await?;
    site(&place, "two").await?;
    let said = &format!("{ACTIVE} (one)");
    let what = "the second Site names the first";
    place
        .until("two", what, |site: &Site| has_report(site, "Error", said))
        .await?;
    let now = place.api::<Service>().get("backend").await?;
    ensure!(now.metadata.uid == service.metadata.uid);
    ensure!(now.owner_references()[0].uid == first.metadata.uid.unwrap_or_default());
    Ok(())
}

/// Times of creation are whole seconds, so either may look older: one of them has the namespace, the other names it, and follows when it goes.
async fn at_once(place: TestNamespace) -> Result<()> {
    let sites = place.api::<Site>();
    for round in 0..2 {
        let [one, two] = ["one", "two"].map(|name| format!("{name}-{round}"));
        try_join(site(&place, &one), site(&place, &two)).await?;
        let first = eventually("one Site has the namespace", SOON, async || {
            let (a, b) = try_join(sites.get(&one), sites.get(&two)).await?;
            let has = |site: &Site, other: &Site| {
                let starts = has_report(site, "Pending", "No router pod is ready");
                starts && has_report(other, "Error", &format!("{ACTIVE} ({})", site.name_any()))
            };
            let first = [(&a, &b), (&b, &a)].into_iter().find(|(a, b)| has(a, b));
            Ok(first.map(|(first, _)| first.clone()))
        });
        let first = first.await?;
        let owners = place.table().await?.owner_references().to_vec();
        ensure!(owners.len() == 1 && Some(&owners[0].uid) == first.metadata.uid.as_ref());
        let first = first.name_any();
        let second = if first == one { two } else { one };
        place.delete::<Site>(&first).await?;
        let starts = |site: &Site| has_report(site, "Pending", "No router pod is ready");
        place.until(&second, "the other has it now", starts).await?;
        place.delete::<Site>(&second).await?;
        place.gone::<Deployment>("skupper-router").await?;
    }
    Ok(())
}

/// Tests that nothing is written there, not even a status. The namespace is managed again when the
/// ConfigMap is removed.
async fn kept_by_another(place: TestNamespace) -> Result<()> {
    let other = json!({ "data": { "controller": "somewhere/another" } });
    place.make::<ConfigMap>("skupper", other).await?;
    site(&place, "west").await?;
    listen(&place, "backend", json!({})).await?;
    ensure!(place.wait_until_idle().await?.is_empty());
    place.delete::<ConfigMap>("skupper").await?;
    until_served(&place, "backend", "backend").await.map(drop)
}
