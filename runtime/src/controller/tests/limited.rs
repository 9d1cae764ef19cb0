//! Providers with limits: the time of each request, the waiting objects, and the messages to users.

use std::sync::atomic::{AtomicUsize, Ordering};

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::call::{CallError, Once, Outcome};
use crate::lifecycle::{Because, This};
use crate::provider::{Limit, Providers};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Vat", namespaced)]
pub(crate) struct VatSpec {}

#[derive(PartialEq)]
pub(crate) struct Wet(bool);

crate::lifecycle! {
    /// A vat that is filled with one call to a well that bears little.
    resource Vat;

    observe {
        gauge: poll Wet of well by meta.uid every 20s;
    }
    facts {
        level: { Empty, Full } from gauge given gauge else Empty;
    }
    states {
        Unread     when !gauge         => Pending;
        Empty      when level == Empty => Pending;
        goal Full  when level == Full  => Ready;
    }
    effects {
        fill: call gauge when gauge sets { level = Full } key meta.uid;
    }
    transitions {
        Unread -> Empty | Full;
        Empty -> Full;
    }
    status {
        condition Filled {
            Unknown "Unread" when !gauge;
            Unknown "Empty" when level == Empty;
            True otherwise;
        }
        ready from Filled;
    }
}

/// A well that takes a second for everything. It records the filled vats in order, and the time of
/// each query.
#[derive(Clone, Default)]
struct Well(Arc<Mutex<Drawn>>, Arc<AtomicUsize>);

#[derive(Default)]
struct Drawn {
    filled: Vec<String>,
    asked: Vec<Instant>,
    now_on: usize,
    most: usize,
}

impl Well {
    fn with_state<R>(&self, change: impl FnOnce(&mut Drawn) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes a second for any request. The well may report that it wants to be left alone for some
    /// time.
    async fn draw(&self) -> Result<(), CallError> {
        self.with_state(|drawn| {
            drawn.asked.push(Instant::now());
            drawn.now_on += 1;
            drawn.most = drawn.most.max(drawn.now_on);
        });
        sleep(Duration::from_secs(1)).await;
        self.with_state(|drawn| drawn.now_on -= 1);
        match self.1.swap(0, Ordering::SeqCst) {
            0 => Ok(()),
            alone => Err(CallError::Later {
                why: "too many requests".to_owned(),
                after: Duration::from_secs(alone as u64),
            }),
        }
    }
}

fn name(this: This<'_, Vat>) -> String {
    this.meta.name.clone().unwrap_or_default()
}

impl VatLogic for Well {
    async fn poll_gauge(&self, this: This<'_, Vat>) -> Result<Wet, CallError> {
        self.draw().await?;
        Ok(Wet(
            self.with_state(|drawn| drawn.filled.contains(&name(this)))
        ))
    }

    async fn fill(&self, at: Fill<'_>, once: Once<'_>) -> Outcome<FillResult> {
        let drawn = async {
            self.draw().await?;
            self.with_state(|drawn| drawn.filled.push(name(at.this)));
            Ok(FillResult::Full)
        };
        once.spend(drawn).await
    }

    fn level(&self, _: This<'_, Vat>, gauge: &Wet) -> Because<Level> {
        Because::plain(if gauge.0 { Level::Full } else { Level::Empty })
    }
}

/// Returns this many vats of a well with this limit.
fn vats(many: usize, limit: Limit) -> (Sim, Well, Providers) {
    let (well, providers) = (Well::default(), Providers::default());
    providers.limit("well", limit);
    let mut sim = Sim::limited(Arc::new(machine(well.clone())), 1, &providers);
    for number in 0..many {
        let vat = json!({
            "apiVersion": "tests/v1", "kind": "Vat", "spec": {},
            "metadata": { "name": format!("v{number:03}"), "namespace": "ns", "uid": format!("u{number:03}"), "resourceVersion": "7", "generation": 1 },
        });
        let path = format!("/apis/tests/v1/namespaces/ns/vats/v{number:03}");
        sim.server
            .with_state(|s| s.objects.insert(path, vat.clone()));
        sim.deliver(vat);
    }
    (sim, well, providers)
}

fn is_filled(sim: &Sim, number: usize) -> bool {
    let path = format!("/apis/tests/v1/namespaces/ns/vats/v{number:03}");
    let object = sim.server.with_state(|s| s.objects[&path].clone());
    object["status"]["conditions"][0]["status"] == "True"
}

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

#[tokio::test(start_paused = true)]
async fn polls_and_calls_together_are_never_more_at_once_than_the_limit_says() {
    let (mut sim, well, providers) = vats(12, Limit::new().in_flight(3));
    sim.run(SECONDS(120)).await;
    assert!((0..12).all(|number| is_filled(&sim, number)));
    well.with_state(|drawn| {
        assert_eq!(drawn.most, 3);
        let mut filled = drawn.filled.clone();
        filled.sort();
        filled.dedup();
        assert_eq!((filled.len(), drawn.filled.len()), (12, 12), "each once");
    });
    let counts = providers.counts()["well"].clone();
    assert_eq!((counts.calls, counts.most_in_flight), (12, 3));
    assert!(
        counts.polls >= 24 && counts.longest_wait >= SECONDS(1),
        "{counts:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn in_no_second_more_leave_than_the_limit_says() {
    let (mut sim, well, _) = vats(12, Limit::new().per_second(2));
    sim.run(SECONDS(120)).await;
    assert!((0..12).all(|number| is_filled(&sim, number)));
    let asked = well.with_state(|drawn| drawn.asked.clone());
    for from in &asked {
        let within = asked
            .iter()
            .filter(|at| *at >= from && **at < *from + SECONDS(1));
        assert!(within.count() <= 2);
    }
    assert!(
        asked.len() >= 12 * 6,
        "each is asked as often as it is to be: {}",
        asked.len()
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_comes_before_the_polls_that_wait() {
    let (mut sim, well, _) = vats(20, Limit::new().in_flight(1));
    sim.run(SECONDS(40)).await;
    let filled = well.with_state(|drawn| drawn.filled.len());
    // Calls get three of four turns. Each object is queried before it is filled, and again
    // afterwards.
    assert!((12..=20).contains(&filled), "{filled}");
}

#[tokio::test(start_paused = true)]
async fn who_asks_to_be_left_alone_is_by_all() {
    let (mut sim, well, providers) = vats(12, Limit::new().in_flight(3));
    sim.run(SECONDS(60)).await;
    well.1.store(100, Ordering::SeqCst);
    sim.run(SECONDS(30)).await;
    let held = well.with_state(|drawn| drawn.asked.len());
    sim.run(SECONDS(60)).await;
    assert_eq!(well.with_state(|drawn| drawn.asked.len()), held);
    sim.run(SECONDS(60)).await;
    assert!(well.with_state(|drawn| drawn.asked.len()) > held);
    assert_eq!(providers.counts()["well"].held, 1);
    sim.run(SECONDS(60)).await;
    assert!((0..12).all(|number| is_filled(&sim, number)));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_long_is_told_of_once() {
    let (mut sim, well, _) = vats(3, Limit::new().in_flight(1));
    sim.run(SECONDS(1)).await;
    well.1.store(1_000, Ordering::SeqCst);
    sim.run(SECONDS(300)).await;
    let busy = sim.server.count("/events");
    let filled = well.with_state(|drawn| drawn.filled.len());
    // A waiting query is reported in conditions, a waiting call in an Event.
    assert_eq!((busy, filled), (1, 0));
    assert_eq!(sim.server.count("vats/v002/status"), 1);
    let object = sim
        .server
        .with_state(|s| s.objects["/apis/tests/v1/namespaces/ns/vats/v002"].clone());
    let message = object["status"]["conditions"][0]["message"].as_str();
    assert_eq!(message, Some("it waits for its turn at provider `well`"));
}

#[tokio::test(start_paused = true)]
async fn without_a_number_there_is_no_limit() {
    let (mut sim, well, _) = vats(12, Limit::new());
    sim.run(SECONDS(5)).await;
    assert!((0..12).all(|number| is_filled(&sim, number)));
    assert!(well.with_state(|drawn| drawn.most) > 10);
}

#[tokio::test(start_paused = true)]
async fn who_is_stopped_or_leads_no_more_keeps_nobody_waiting() {
    let (mut sim, _, providers) = vats(12, Limit::new().in_flight(2));
    sim.run(SECONDS(2)).await;
    let counts = providers.counts()["well"].clone();
    assert!(counts.in_flight == 2 && counts.waiting > 0, "{counts:?}");
    drop(sim);
    let counts = providers.counts()["well"].clone();
    assert_eq!((counts.in_flight, counts.waiting), (0, 0));
}
