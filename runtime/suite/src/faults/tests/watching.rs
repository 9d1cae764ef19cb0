//! Faults of watches, on the simulated server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::faults;
use lifecycle_simulator::{Server, User};

type Log = Arc<Mutex<Vec<String>>>;

/// Watches all objects of a kind in `default`, and logs each event and its time.
async fn listen<K>(client: Client, log: Log, began: Instant)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let kind = K::kind(&());
    let api: Api<K> = Api::namespaced(client, "default");
    let mut events = watcher::watcher(api, watcher::Config::default()).boxed();
    while let Some(event) = events.next().await {
        let heard = match event {
            Ok(Event::Init) => "lists".to_owned(),
            Ok(Event::InitApply(o)) => format!("has {}", o.name_any()),
            Ok(Event::InitDone) => continue,
            Ok(Event::Apply(o)) => format!("sees {} {}", o.name_any(), o.labels().len()),
            Ok(Event::Delete(o)) => format!("misses {}", o.name_any()),
            Err(_) => "breaks".to_owned(),
        };
        let line = format!("{}s {kind} {heard}", began.elapsed().as_secs());
        log.lock().expect("nobody panics").push(line);
    }
}

async fn apply_labelled<K>(client: &Client, name: &str, labels: usize)
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + DeserializeOwned,
{
    let labels: serde_json::Map<_, _> =
        (0..labels).map(|n| (format!("l{n}"), json!("1"))).collect();
    let object = json!({
        "apiVersion": K::api_version(&()), "kind": K::kind(&()),
        "metadata": { "name": name, "labels": labels },
    });
    let api: Api<K> = Api::namespaced(client.clone(), "default");
    let params = PatchParams::apply("test").force();
    let made = api.patch(name, &params, &Patch::Apply(object)).await;
    made.expect("it is written");
}

/// Returns the events that a process receives. The process writes the Secret `own` after a second,
/// while another user writes a ConfigMap twice in the second after.
async fn heard(plan: &str) -> Vec<String> {
    let server = Server::new(1).client(&User::admin());
    let faults = faults(plan);
    let (client, began, log) = (
        faults.line(true).client(&server),
        Instant::now(),
        Log::default(),
    );
    let secrets = tokio::spawn(listen::<Secret>(client.clone(), Arc::clone(&log), began));
    let maps = tokio::spawn(listen::<ConfigMap>(client.clone(), Arc::clone(&log), began));
    sleep(Duration::from_secs(1)).await;
    apply_labelled::<Secret>(&client, "own", 0).await;
    sleep(Duration::from_millis(200)).await;
    apply_labelled::<ConfigMap>(&server, "theirs", 1).await;
    sleep(Duration::from_millis(200)).await;
    apply_labelled::<ConfigMap>(&server, "theirs", 2).await;
    sleep(Duration::from_secs(30)).await;
    secrets.abort();
    maps.abort();
    assert!(faults.left().0.is_empty(), "{plan}");
    let log = log.lock().expect("nobody panics");
    let lists = |line: &&String| !line.starts_with("0s ");
    log.iter().filter(lists).cloned().collect()
}

async fn check(plan: &str, expected: &[&str]) {
    assert_eq!(heard(plan).await, expected, "{plan}");
}

#[tokio::test(start_paused = true)]
async fn events_come_later_thinned_out_or_in_another_order() {
    let (secret, one, two) = (
        "1s Secret sees own 0",
        "1s ConfigMap sees theirs 1",
        "1s ConfigMap sees theirs 2",
    );
    check("none", &[secret, one, two]).await;
    check(
        "w1:delay=configmaps/5s",
        &[
            secret,
            "6s ConfigMap sees theirs 1",
            "6s ConfigMap sees theirs 2",
        ],
    )
    .await;
    check(
        "w1:coalesce=configmaps/5s",
        &[secret, "6s ConfigMap sees theirs 2"],
    )
    .await;
    check("w1:lag/5s", &[one, two, "6s Secret sees own 0"]).await;
    check(
        "w1:reorder/6s",
        &[
            "3s Secret sees own 0",
            "5s ConfigMap sees theirs 1",
            "5s ConfigMap sees theirs 2",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn watches_end_and_nothing_is_missed() {
    for (plan, says) in [
        ("w1:end=configmaps", None),
        ("w1:break=configmaps", Some("1s ConfigMap breaks")),
        ("w1:relist=configmaps", Some("1s ConfigMap breaks")),
    ] {
        let log = heard(plan).await;
        if let Some(says) = says {
            assert!(log.iter().any(|line| line == says), "{plan}: {log:?}");
        }
        let last = log.iter().rfind(|line| line.contains("theirs"));
        let last = last.map(String::as_str).unwrap_or_default();
        assert!(
            last.ends_with("sees theirs 2") || last.ends_with("has theirs"),
            "{plan}: {log:?}"
        );
        let relists = log.iter().any(|line| line.ends_with("ConfigMap lists"));
        assert_eq!(relists, plan.contains("relist"), "{plan}: {log:?}");
    }
}
