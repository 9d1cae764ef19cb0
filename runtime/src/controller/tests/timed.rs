//! Tests of decisions that depend on the time: an object reconciles when an answer expires, once in
//! time, and never again and again.

use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::*;
use crate::lifecycle::{Because, This, Timed};

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Egg", namespaced)]
pub(crate) struct EggSpec {}

crate::lifecycle! {
    /// Egg that is done when its time has come.
    resource Egg;

    observe {
        now: clock;
    }
    facts {
        done: { No, Yes } from self, now;
    }
    states {
        Boiling   when done == No  => Pending wakes now;
        goal Done when done == Yes => Ready;
    }
    status {
        condition Cooked {
            Unknown "Boiling" when done == No;
            True otherwise;
        }
        ready from Cooked;
    }
}

/// Adjustable hands of a clock, which follow tokio's time.
#[derive(Clone)]
struct Hands(Arc<Mutex<SignedDuration>>, Instant);

impl Hands {
    fn move_by(&self, by: SignedDuration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        let gone = SignedDuration::try_from(self.1.elapsed()).unwrap();
        Noon.now() + gone + *self.0.lock().unwrap()
    }
}

/// Time at which an egg is done, or a value that always expires at once.
enum Boiled {
    At(Timestamp),
    Expired,
}

impl EggLogic for Boiled {
    fn done(&self, _: This<'_, Egg>, now: &Timestamp) -> Timed<Done> {
        match self {
            Self::Expired => Because::plain(Done::No).until(*now),
            Self::At(end) if now < end => Because::plain(Done::No).until(*end),
            Self::At(_) => Because::plain(Done::Yes).for_good(),
        }
    }
}

const EGG: &str = "/apis/tests/v1/namespaces/ns/eggs/e";

fn egg(boiled: Boiled) -> (Sim, Hands) {
    let mut sim = Sim::for_machine(Arc::new(machine(boiled)), 1, |_| Answer::Do);
    let hands = Hands(Arc::default(), Instant::now());
    sim.controller.settings.clock = Arc::new(hands.clone());
    let egg = json!({
        "apiVersion": "tests/v1", "kind": "Egg", "spec": {},
        "metadata": { "name": "e", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 1 },
    });
    sim.server
        .with_state(|s| s.objects.insert(EGG.to_owned(), egg.clone()));
    sim.deliver(egg);
    (sim, hands)
}

fn is_done(sim: &Sim) -> bool {
    let object = sim.server.with_state(|s| s.objects[EGG].clone());
    object.pointer("/status/conditions/0/status") == Some(&json!("True"))
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn an_object_is_looked_at_when_its_time_has_come() {
    let end = Noon.now() + SignedDuration::from_mins(90);
    let (mut sim, _) = egg(Boiled::At(end));
    sim.run(2 * HOUR - HOUR / 2 - SECOND).await;
    assert!(!is_done(&sim));
    sim.run(2 * SECOND).await;
    assert!(is_done(&sim));
    assert_eq!(sim.server.count("/status"), 2);
    sim.run(24 * HOUR).await;
    let counts = sim.controller.settings.counters.read();
    assert_eq!(sim.server.count("/status"), 2);
    assert_eq!(counts.expired_answers, 0);
    assert!(counts.all_passes() < 40, "{} passes", counts.all_passes());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_expired_costs_a_pass_a_second() {
    let (mut sim, _) = egg(Boiled::Expired);
    sim.run(60 * SECOND).await;
    let counts = sim.controller.settings.counters.read();
    let (passes, expired) = (counts.all_passes(), counts.expired_answers);
    assert!((55..=65).contains(&passes), "{passes} passes");
    assert_eq!(expired, passes);
    assert_eq!(sim.server.count("/status"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_put_forward_is_noticed_within_about_an_hour() {
    let end = Noon.now() + SignedDuration::from_hours(300);
    let (mut sim, hands) = egg(Boiled::At(end));
    sim.run(HOUR / 60).await;
    hands.move_by(SignedDuration::from_hours(300));
    sim.run(HOUR / 60).await;
    assert!(!is_done(&sim));
    sim.run(HOUR + HOUR / 5).await;
    assert!(is_done(&sim));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_put_back_is_believed() {
    let end = Noon.now() + SignedDuration::from_hours(3);
    let (mut sim, hands) = egg(Boiled::At(end));
    sim.run(4 * HOUR).await;
    assert!(is_done(&sim));
    hands.move_by(SignedDuration::from_hours(-2));
    // Every object is reconciled about once an hour.
    sim.run(HOUR / 5).await;
    assert!(!is_done(&sim));
    sim.run(HOUR).await;
    assert!(is_done(&sim));
    assert_eq!(sim.server.count("/status"), 4);
}
