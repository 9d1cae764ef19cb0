//! Counts of reconciliations, objects, writes and the queue.

use super::*;
use crate::counters::Counts;

const LITTLE: Duration = Duration::from_secs(10);

fn counts(sim: &Sim) -> Counts {
    sim.controller.settings.counters.read()
}

#[tokio::test(start_paused = true)]
async fn an_object_is_counted_where_it_rests_with_what_led_there() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.run(LITTLE).await;
    let counts = counts(&sim);
    let states = [(("Thing", "Making"), 0), (("Thing", "Ready"), 1)];
    assert_eq!(counts.states, states.into());
    let transitions = [(["Thing", "Making", "Ready"], 1)];
    assert_eq!(counts.transitions, transitions.into());
    let writes = [
        (["Thing", "apply_made", "done"], 1),
        (["Thing", "status", "done"], 1),
    ];
    assert_eq!(counts.writes, writes.into());
    let came_to = |outcome| counts.outcomes[&("Thing", outcome)];
    assert_eq!((came_to("effect"), came_to("report")), (1, 1));
    assert!(came_to("rest") >= 1, "{:?}", counts.outcomes);
    let outcomes: u64 = counts.outcomes.values().sum();
    assert_eq!(outcomes, counts.all_passes(), "each pass came to one thing");
    assert_eq!((counts.due, counts.leads), (0, Some(true)));
    let kinds: Vec<_> = counts.silence.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["ConfigMap", "Secret", "Thing"]);
}

#[tokio::test(start_paused = true)]
async fn who_does_not_lead_counts_no_object_and_no_time_that_it_waited() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    let (until, lease) = watch::channel(None);
    sim.controller.leading.lease = Some(lease);
    sim.run(HOUR).await;
    until.send_replace(Some(Instant::now() + LITTLE));
    sim.run(LITTLE / 2).await;
    let led = counts(&sim);
    assert_eq!(led.states[&("Thing", "Ready")], 1);
    assert!(led.latency.sum < LITTLE, "{:?}", led.latency);
    assert!(led.latency.counts.iter().sum::<u64>() >= led.all_passes());
    sim.run(HOUR).await;
    let later = counts(&sim);
    assert_eq!(later.states.into_values().sum::<u64>(), 0);
    assert_eq!(later.leads, Some(false));
}

#[tokio::test(start_paused = true)]
async fn an_object_is_overdue_until_it_is_gone() {
    let mut sim = Sim::with_thing(1, |_| Answer::Do);
    sim.run(LITTLE).await;
    let path = "/api/v1/namespaces/ns/configmaps/t";
    let mut leaving = sim.server.with_state(|s| s.objects[path].clone());
    leaving["metadata"]["deletionTimestamp"] = json!("2026-06-01T12:00:00Z");
    leaving["metadata"]["resourceVersion"] = json!("1000");
    sim.deliver(leaving);
    sim.run(LITTLE).await;
    assert_eq!(counts(&sim).overdue["Thing"], 0);
    sim.run(HOUR).await;
    assert_eq!(counts(&sim).overdue["Thing"], 1);
    let gone = thing(json!({ "className": "c" }), json!({}));
    let mut stores = sim.controller.stores.iter();
    let store = stores.position(|store| store.kind.kind == "Thing");
    let event = Event::Delete(Raw::new(gone));
    sim.controller.watched(store.expect("it is watched"), event);
    sim.run(LITTLE).await;
    let counts = counts(&sim);
    assert_eq!(counts.overdue["Thing"], 0);
    assert_eq!(counts.states.into_values().sum::<u64>(), 0);
}
