//! Durations in objects: the interval of polls, alone and shared, the overdue time of a state, and
//! messages about invalid ones.

use std::sync::atomic::{AtomicU64, Ordering};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::{Because, CallError, This};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Mirror", namespaced)]
pub(crate) struct MirrorSpec {
    url: String,
    interval: Option<String>,
    timeout: Option<i64>,
}

#[derive(PartialEq)]
pub(crate) struct Copied(bool);

crate::lifecycle! {
    /// Copy of a remote object.
    resource Mirror;

    observe {
        origin: poll Copied by spec.url every spec.interval else 30s min 5s;
    }
    facts {
        copy: { Behind, Done } from origin given origin else Behind;
    }
    states {
        Unread      when !origin        => Pending;
        Copying     when copy == Behind => Pending overdue spec.timeout else 10min min 1min;
        goal Copied when copy == Done   => Ready;
    }
    promises {
        copies: copy == Behind && origin sets { copy = Done };
    }
    status {
        condition Same {
            Unknown "Unread"  when !origin;
            Unknown "Copying" when copy == Behind;
            True otherwise;
        }
        ready from Same;
    }
}

/// Number of queries. Nothing is ever copied.
#[derive(Clone, Default)]
struct Origin(Arc<AtomicU64>);

impl Origin {
    fn request_count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the number of queries in the next ten minutes.
    async fn asked_in_ten_minutes(&self, sim: &mut Sim) -> u64 {
        let before = self.request_count();
        sim.run(Duration::from_secs(600)).await;
        self.request_count() - before
    }
}

impl MirrorLogic for Origin {
    async fn poll_origin(&self, _: This<'_, Mirror>) -> Result<Copied, CallError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Copied(false))
    }

    fn copy(&self, _: This<'_, Mirror>, origin: &Copied) -> Because<Copy> {
        Because::plain(if origin.0 { Copy::Done } else { Copy::Behind })
    }
}

fn origin() -> (Sim, Origin) {
    let origin = Origin::default();
    let sim = Sim::for_machine(Arc::new(machine(origin.clone())), 1, |_| Answer::Do);
    (sim, origin)
}

fn path(name: &str) -> String {
    format!("/apis/tests/v1/namespaces/ns/mirrors/{name}")
}

/// Applies an object as a user would, now.
fn wants(sim: &mut Sim, name: &str, spec: Value) {
    let version = sim.server.with_state(|s| {
        s.version += 1;
        s.version.to_string()
    });
    let mut spec = spec;
    spec["url"] = json!("https://one");
    let mirror = json!({
        "apiVersion": "tests/v1", "kind": "Mirror", "spec": spec,
        "metadata": { "name": name, "namespace": "ns", "uid": name, "resourceVersion": version, "generation": 1 },
    });
    sim.server
        .with_state(|s| s.objects.insert(path(name), mirror.clone()));
    sim.deliver(mirror);
}

async fn rate(spec: Value) -> u64 {
    let (mut sim, origin) = origin();
    wants(&mut sim, "m", spec);
    sim.run(Duration::from_secs(60)).await;
    origin.asked_in_ten_minutes(&mut sim).await
}

#[tokio::test(start_paused = true)]
async fn a_poll_is_asked_as_often_as_the_object_says() {
    let table = [
        (json!({ "interval": "1m" }), 10),
        (json!({ "interval": "1m30s" }), 6),
        (json!({ "interval": "20s" }), 30),
        (json!({}), 20),
        (json!({ "interval": "" }), 20),
        (json!({ "interval": "soon" }), 20),
        (json!({ "interval": "10" }), 20),
        (json!({ "interval": "1s" }), 120),
        (json!({ "interval": "-1h" }), 120),
    ];
    for (spec, expected) in table {
        let asked = rate(spec.clone()).await;
        assert!(asked.abs_diff(expected) <= 1, "{spec}: {asked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_that_several_share_is_asked_as_the_most_eager_wants_it_while_it_is_there() {
    let (mut sim, origin) = origin();
    wants(&mut sim, "slow", json!({ "interval": "5m" }));
    sim.run(Duration::from_secs(1)).await;
    assert_eq!(origin.asked_in_ten_minutes(&mut sim).await, 2);
    wants(&mut sim, "quick", json!({ "interval": "10s" }));
    let asked = origin.asked_in_ten_minutes(&mut sim).await;
    assert!(asked.abs_diff(60) <= 1, "{asked}");
    // After a user changes the interval, the old one no longer applies.
    wants(&mut sim, "quick", json!({ "interval": "1m" }));
    let asked = origin.asked_in_ten_minutes(&mut sim).await;
    assert!(asked.abs_diff(10) <= 1, "{asked}");
    // Its answers stay valid for their interval.
    wants(&mut sim, "quick", json!({ "interval": "1h" }));
    let asked = origin.asked_in_ten_minutes(&mut sim).await;
    assert!(asked.abs_diff(2) <= 1, "{asked}");
    let reason = sim
        .server
        .with_state(|s| s.objects[&path("slow")]["status"]["conditions"][0]["reason"].clone());
    assert_eq!(reason, "Copying");
}

/// An object with an interval of an hour that changes it to ten seconds does not wait for the hour.
#[tokio::test(start_paused = true)]
async fn a_shorter_interval_counts_at_once() {
    let (mut sim, origin) = origin();
    wants(&mut sim, "m", json!({ "interval": "1h" }));
    sim.run(Duration::from_secs(60)).await;
    assert_eq!(origin.request_count(), 1);
    wants(&mut sim, "m", json!({ "interval": "10s" }));
    sim.run(Duration::from_millis(500)).await;
    assert_eq!(origin.request_count(), 2);
}

fn ready(sim: &Sim) -> String {
    sim.server.with_state(|s| {
        let ready = &s.objects[&path("m")]["status"]["conditions"][1]["message"];
        ready.as_str().unwrap_or_default().to_owned()
    })
}

#[tokio::test(start_paused = true)]
async fn a_state_is_overdue_when_the_object_says_and_not_before_its_least() {
    let table = [
        (json!({ "timeout": 300 }), 290, 310, "more than 5 min"),
        (json!({ "timeout": 1 }), 55, 70, "more than 1 min"),
        (json!({}), 590, 610, "more than 10 min"),
    ];
    for (spec, before, after, said) in table {
        let (mut sim, _) = origin();
        wants(&mut sim, "m", spec.clone());
        sim.run(Duration::from_secs(before)).await;
        assert!(
            !ready(&sim).contains("more than"),
            "{spec}: {}",
            ready(&sim)
        );
        sim.run(Duration::from_secs(after - before)).await;
        assert!(ready(&sim).contains(said), "{spec}: {}", ready(&sim));
    }
}

#[tokio::test(start_paused = true)]
async fn what_does_not_count_is_told_once_and_again_when_it_is_another() {
    let (mut sim, _) = origin();
    let told = |sim: &Sim| sim.server.count("/events");
    wants(&mut sim, "m", json!({ "interval": "1m" }));
    sim.run(Duration::from_secs(600)).await;
    assert_eq!(told(&sim), 0);
    for (times, interval) in [(1, "soon"), (2, "1s"), (2, "1m"), (3, "1s")] {
        wants(&mut sim, "m", json!({ "interval": interval }));
        sim.run(Duration::from_secs(600)).await;
        assert_eq!(told(&sim), times, "{interval}");
    }
}
