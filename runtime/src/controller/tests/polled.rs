//! Tests that an unanswered question is reported only if it stays unanswered for long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::{Because, CallError, This};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Gauge", namespaced)]
pub(crate) struct GaugeSpec {}

#[derive(PartialEq)]
pub(crate) struct Level(u64);

crate::lifecycle! {
    /// Gauge that shows the level of a meter.
    resource Gauge;

    observe {
        meter: poll Level by meta.uid every 2s;
    }
    facts {
        level: { Low, High } from meter given meter else Low;
    }
    states {
        Unread     when !meter        => Pending;
        Low        when level == Low  => Pending wakes meter;
        goal Full  when level == High => Ready;
    }
    transitions {
        Unread -> Low | Full;
    }
    status {
        condition Read {
            True when meter;
            Unknown "Unread" otherwise;
        }
        condition Filled {
            True when level == High;
            Unknown "Low" otherwise;
        }
        ready from Read, Filled;
    }
}

/// Meter that is readable, absent, or requests a pause of some seconds, with a count of its
/// queries.
#[derive(Clone, Default)]
struct Meter(Arc<AtomicBool>, Arc<AtomicU64>, Arc<AtomicU64>);

impl Meter {
    fn is_there(&self, there: bool) {
        self.0.store(there, Ordering::SeqCst);
    }
}

impl GaugeLogic for Meter {
    async fn poll_meter(&self, this: This<'_, Gauge>) -> Result<Level, CallError> {
        if this.meta.name.as_deref().is_some_and(|name| name != "g") {
            return std::future::pending().await;
        }
        self.2.fetch_add(1, Ordering::SeqCst);
        let alone = self.1.load(Ordering::SeqCst);
        if alone > 0 {
            return Err(CallError::Later {
                why: "too many questions".to_owned(),
                after: Duration::from_secs(alone),
            });
        }
        match self.0.load(Ordering::SeqCst) {
            true => Ok(Level(9)),
            false => Err(CallError::Failed("no meter".to_owned())),
        }
    }

    fn level(&self, _: This<'_, Gauge>, meter: &Level) -> Because<LevelValue> {
        Because::plain(if meter.0 > 5 {
            LevelValue::High
        } else {
            LevelValue::Low
        })
    }
}

const GAUGE: &str = "/apis/tests/v1/namespaces/ns/gauges/g";

/// A gauge without a status, and its meter.
fn gauge(there: bool) -> (Sim, Meter) {
    let meter = Meter::default();
    meter.is_there(there);
    let of = Arc::new(machine(meter.clone()));
    let mut sim = Sim::for_machine(of, 1, |_| Answer::Do);
    let gauge = json!({
        "apiVersion": "tests/v1", "kind": "Gauge", "spec": {},
        "metadata": { "name": "g", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 1 },
    });
    sim.server
        .with_state(|s| s.objects.insert(GAUGE.to_owned(), gauge.clone()));
    sim.deliver(gauge);
    (sim, meter)
}

/// Adds a gauge whose meter never answers. It is queried before that of the first gauge.
fn mute(sim: &mut Sim, name: &str) {
    let gauge = json!({
        "apiVersion": "tests/v1", "kind": "Gauge", "spec": {},
        "metadata": { "name": name, "namespace": "ns", "uid": format!("a-{name}"), "resourceVersion": "7", "generation": 1 },
    });
    let path = GAUGE.replace("gauges/g", &format!("gauges/{name}"));
    sim.server
        .with_state(|s| s.objects.insert(path, gauge.clone()));
    sim.deliver(gauge);
}

fn ready(sim: &Sim) -> Value {
    let object = sim.server.with_state(|s| s.objects[GAUGE].clone());
    object["status"]["conditions"][2]["status"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_process_that_starts_says_nothing_before_it_knows() {
    let (mut sim, meter) = gauge(false);
    sim.run(Duration::from_millis(7_500)).await;
    assert_eq!(sim.server.count("/status"), 0);
    meter.is_there(true);
    sim.run(Duration::from_secs(60)).await;
    assert_eq!(
        (sim.server.count("/status"), ready(&sim)),
        (1, json!("True"))
    );
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_for_long_is_said_once() {
    let (mut sim, _meter) = gauge(false);
    sim.run(Duration::from_millis(9_900)).await;
    assert_eq!(sim.server.count("/status"), 0);
    // This takes a second longer, because a provider has promised to answer.
    sim.run(Duration::from_millis(1_300)).await;
    assert_eq!(
        (sim.server.count("/status"), ready(&sim)),
        (1, json!("Unknown"))
    );
    sim.run(Duration::from_secs(500)).await;
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn lost_answers_are_no_news_and_a_long_silence_is() {
    let (mut sim, meter) = gauge(true);
    sim.run(Duration::from_secs(60)).await;
    assert_eq!(
        (sim.server.count("/status"), ready(&sim)),
        (1, json!("True"))
    );
    for silence in [3, 15] {
        meter.is_there(false);
        sim.run(Duration::from_secs(silence)).await;
        meter.is_there(true);
        sim.run(Duration::from_secs(60)).await;
        assert_eq!(sim.server.count("/status"), 1, "{silence} s");
    }
    meter.is_there(false);
    sim.run(Duration::from_secs(30)).await;
    assert_eq!(
        (sim.server.count("/status"), ready(&sim)),
        (2, json!("Unknown"))
    );
}

#[tokio::test(start_paused = true)]
async fn who_never_answers_keeps_nobody_else_from_being_asked() {
    let (mut sim, meter) = gauge(true);
    meter.is_there(false);
    for number in 0..60 {
        mute(&mut sim, &format!("mute-{number}"));
    }
    sim.run(Duration::from_secs(5)).await;
    meter.is_there(true);
    sim.run(Duration::from_secs(5)).await;
    assert_eq!(ready(&sim), json!("True"));
}

/// The interval is two seconds, and the meter gets no query in the half minute for which it
/// requests a pause.
#[tokio::test(start_paused = true)]
async fn a_provider_is_left_alone_for_as_long_as_it_asks() {
    let (mut sim, meter) = gauge(true);
    sim.run(Duration::from_secs(10)).await;
    assert!(meter.2.load(Ordering::SeqCst) >= 4);
    meter.1.store(30, Ordering::SeqCst);
    sim.run(Duration::from_secs(4)).await;
    let asked = meter.2.load(Ordering::SeqCst);
    sim.run(Duration::from_secs(24)).await;
    assert_eq!(meter.2.load(Ordering::SeqCst), asked);
    meter.1.store(0, Ordering::SeqCst);
    sim.run(Duration::from_secs(10)).await;
    assert!(meter.2.load(Ordering::SeqCst) > asked);
    assert_eq!(ready(&sim), "True");
}

/// Tests that a provider that reports "in a year" is queried after an hour.
#[tokio::test(start_paused = true)]
async fn no_provider_is_left_alone_for_ever() {
    let (mut sim, meter) = gauge(true);
    meter.1.store(31_536_000, Ordering::SeqCst);
    sim.run(Duration::from_secs(3_500)).await;
    assert_eq!(meter.2.load(Ordering::SeqCst), 1);
    meter.1.store(0, Ordering::SeqCst);
    sim.run(Duration::from_secs(200)).await;
    assert_eq!(ready(&sim), "True");
}

/// The interval is two seconds. A wake in between triggers a query at once, but at most once a
/// second.
#[tokio::test(start_paused = true)]
async fn what_changed_outside_is_asked_about_now() {
    let (mut sim, meter) = gauge(true);
    let waker = sim.controller.settings.wakes.waker("meter");
    let asked = || meter.2.load(Ordering::SeqCst);
    sim.run(Duration::from_millis(5_500)).await;
    let before = asked();
    waker.changed("another");
    sim.run(Duration::from_millis(100)).await;
    assert_eq!(asked(), before);
    waker.changed("u");
    sim.run(Duration::from_millis(100)).await;
    assert_eq!(asked(), before + 1);
    for _ in 0..30 {
        waker.all_changed();
        sim.run(Duration::from_millis(100)).await;
    }
    assert!((before + 3..=before + 4).contains(&asked()), "{}", asked());
}

/// A wake does not override the pause that a provider requests.
#[tokio::test(start_paused = true)]
async fn who_wants_to_be_left_alone_is_not_woken() {
    let (mut sim, meter) = gauge(true);
    let waker = sim.controller.settings.wakes.waker("meter");
    meter.1.store(30, Ordering::SeqCst);
    sim.run(Duration::from_secs(4)).await;
    let asked = meter.2.load(Ordering::SeqCst);
    waker.changed("u");
    sim.run(Duration::from_secs(20)).await;
    assert_eq!(meter.2.load(Ordering::SeqCst), asked);
}
